// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/curves_progress.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <tools/bench/bench.hpp>
#include <verifier/artifacts/state_io.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

// A process that is killed leaves the old file or the new one.
void replace_file(const std::string& path, const std::string& head, ByteView rest) {
    const std::string beside = path + ".new";
    {
        std::ofstream file(beside, std::ios::binary | std::ios::trunc);
        file << head << '\n';
        file.write(reinterpret_cast<const char*>(rest.data()), static_cast<std::streamsize>(rest.size()));
        if (!file.flush()) {
            throw std::runtime_error("cannot write " + beside);
        }
    }
    std::filesystem::rename(beside, path);
}

bool is_same(const json& a, const json& b) {
    const auto key = [](const json& run) {
        return std::tuple(run.at("executor"), run.value("profile", ""), run.value("moments", ""), run.at("seed"));
    };
    return key(a) == key(b);
}

}  // namespace

CurvesProgress::CurvesProgress(std::string path, json result) : path_(std::move(path)), result_(std::move(result)) {
    if (path_.empty() || !std::filesystem::exists(path_)) {
        return;
    }
    json found = json::parse(read_file(path_));
    json runs = std::exchange(found["runs"], result_.at("runs"));
    if (found != result_) {
        throw std::runtime_error(path_ + " has the curves of another model, device, dataset or number of steps");
    }
    result_["runs"] = std::move(runs);
}

bool CurvesProgress::has(const json& run) const {
    const json& runs = result_.at("runs");
    return std::any_of(runs.begin(), runs.end(), [&](const json& known) { return is_same(known, run); });
}

void CurvesProgress::add(json run) {
    result_["runs"].push_back(std::move(run));
    if (!path_.empty()) {
        replace_file(path_, result_.dump(2), {});
        std::filesystem::remove(path_ + ".part");
    }
}

void CurvesProgress::save(const json& run, const program::Program& program, const std::vector<canonical::Tensor>& state)
    const {
    if (!path_.empty()) {
        replace_file(path_ + ".part", run.dump(), artifacts::encode_state(program, state));
    }
}

std::optional<std::vector<canonical::Tensor>> CurvesProgress::saved(json& run, const program::Program& program) const {
    if (path_.empty() || !std::filesystem::exists(path_ + ".part")) {
        return std::nullopt;
    }
    const std::string text = read_file(path_ + ".part");
    const std::size_t end = text.find('\n');
    json found = json::parse(text.substr(0, end));
    if (!is_same(found, run)) {
        return std::nullopt;
    }
    const auto* rest = reinterpret_cast<const std::uint8_t*>(text.data() + end + 1);
    auto state = artifacts::decode_state(program, ByteView(rest, text.size() - end - 1));
    if (!state) {
        throw std::runtime_error(path_ + ".part: " + artifacts::to_string(state.error()));
    }
    run = std::move(found);
    return *std::move(state);
}

}  // namespace assay::bench
