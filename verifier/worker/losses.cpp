// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/losses.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::worker {
namespace {

constexpr std::string_view kLossesPrefix = "/losses/";

http::HttpResponse refuse_losses(unsigned status, std::string why) {
    return {.status = status, .content_type = "text/plain", .body = std::move(why) + "\n"};
}

}  // namespace

Losses::Losses(std::filesystem::path directory, const crypto::SecretKey& key, bool is_operator)
    : directory_(std::move(directory)), key_(key), is_operator_(is_operator) {}

std::filesystem::path Losses::file_of(const contracts::TaskId& task) const {
    return directory_ / (to_hex(task.view()) + ".json");
}

std::vector<artifacts::ClaimedLoss>& Losses::of(const contracts::TaskId& task) {
    const auto known = losses_.find(task);
    if (known != losses_.end()) {
        return known->second;
    }
    std::ifstream in(file_of(task), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    auto kept = artifacts::decode_losses(text);
    const bool is_ours = kept && (is_operator_ || kept->account == key_.account()) && kept->task == task;
    return losses_.emplace(task, is_ours ? std::move(kept->losses) : std::vector<artifacts::ClaimedLoss>{})
        .first->second;
}

void Losses::note(const contracts::TaskId& task, const artifacts::ClaimedLoss& loss) {
    const std::lock_guard lock(mutex_);
    auto& losses = of(task);
    std::erase_if(losses, [&](const artifacts::ClaimedLoss& each) { return each.segment >= loss.segment; });
    losses.push_back(loss);
    std::error_code ignored;
    std::filesystem::create_directories(directory_, ignored);
    const std::filesystem::path temporary = file_of(task).string() + ".new";
    std::ofstream out(temporary, std::ios::binary);
    out << artifacts::to_json(artifacts::sign_losses(key_, task, losses));
    out.close();
    if (out) {
        std::filesystem::rename(temporary, file_of(task), ignored);
    }
}

std::optional<http::HttpResponse> Losses::answer(const http::HttpRequest& request) {
    const std::string_view target = request.target;
    if (!target.starts_with(kLossesPrefix)) {
        return std::nullopt;
    }
    if (request.method != "GET") {
        return refuse_losses(405, "only GET");
    }
    const auto task = fixed_from_hex<contracts::TaskId>(target.substr(kLossesPrefix.size()));
    if (!task) {
        return refuse_losses(400, "a task is named by 64 hex digits");
    }
    const std::lock_guard lock(mutex_);
    // Not of(): whoever asks for any task would fill the memory.
    const auto known = losses_.find(*task);
    if (known == losses_.end() && !std::filesystem::exists(file_of(*task))) {
        return refuse_losses(404, "no losses of this task are known here");
    }
    const auto& losses = of(*task);
    return http::HttpResponse{
        .status = 200,
        .content_type = "application/json",
        .body = artifacts::to_json(artifacts::sign_losses(key_, *task, losses))};
}

void Losses::forget(const contracts::TaskId& task) {
    const std::lock_guard lock(mutex_);
    losses_.erase(task);
    std::error_code ignored;
    std::filesystem::remove(file_of(task), ignored);
}

}  // namespace assay::worker
