// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/link_desk.hpp>

#include <string_view>

#include <contracts/state/slots.hpp>

namespace assay::worker {
namespace {

constexpr std::string_view kPrefix = "/links/";

}  // namespace

std::string links_path(const contracts::TaskId& task) { return std::string(kPrefix) + to_hex(task.view()); }

std::shared_ptr<cell::Meeting> LinkDesk::meeting(
    const contracts::TaskId& task, const std::vector<AccountId>& partners
) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<cell::Meeting>& out = meetings_[task];
    if (out == nullptr) {
        std::vector<std::string> names;
        names.reserve(partners.size());
        for (const AccountId& partner : partners) {
            names.push_back(to_hex(partner.view()));
        }
        out = std::make_shared<cell::Meeting>(names, cell::of_accounts(partners, retag<Hash256>(task)));
    }
    return out;
}

void LinkDesk::forget(const contracts::TaskId& task) {
    const std::scoped_lock lock(mutex_);
    meetings_.erase(task);
}

std::optional<http::HttpResponse> LinkDesk::answer(const http::HttpRequest& request) const {
    const std::string_view target = request.target;
    if (!target.starts_with(kPrefix)) {
        return std::nullopt;
    }
    const std::string_view name = target.substr(kPrefix.size());
    const std::size_t slash = name.find('/');
    const auto task = fixed_from_hex<contracts::TaskId>(name.substr(0, slash));
    std::shared_ptr<cell::Meeting> meeting;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = task ? meetings_.find(*task) : meetings_.end();
        meeting = found == meetings_.end() ? nullptr : found->second;
    }
    if (meeting == nullptr && task && slash != std::string_view::npos && name.substr(slash) == "/seat") {
        // A member may ask before its lead has begun: there is no session for it yet.
        return http::HttpResponse{.status = 200, .content_type = "application/json", .body = R"({"session":0})"};
    }
    if (meeting == nullptr || slash == std::string_view::npos) {
        return http::HttpResponse{
            .status = 404, .content_type = "text/plain", .body = "no group meets here for such a task\n"};
    }
    return meeting->answer(std::string(name.substr(slash)), request);
}

}  // namespace assay::worker
