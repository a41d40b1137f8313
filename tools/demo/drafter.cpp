// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/drafter.hpp>

#include <algorithm>
#include <stdexcept>

#include <tools/demo/network.hpp>
#include <core/crypto/hash.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kDrafterName = "drafter";
constexpr Amount kDrafterFunds{1'000'000'000};
constexpr std::uint64_t kDrafterDrafts = 6;

}  // namespace

Drafter::Drafter(Network& network) : Outsider(network, {{kDrafterName, kDrafterFunds}}) {}

void Drafter::make_spec(const Packer& pack) {
    static const crypto::TaggedHash kHash("assay/demo-draft");
    spec_ = pack(contracts::Mode::kTolerance);
    spec_.title = "draft";
    spec_.reward = Amount{};
    spec_.verification_fee = least_fee(spec_);
    // Of no bytes that anybody has, or the cache of the demo's own program would do.
    spec_.program_artifact.sha256 = kHash(spec_.program_artifact.sha256.view());
    spec_.program_artifact.location = kDeadAddress;
}

void Drafter::draft(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        ++spec_.seed;
        if (!submit_task(kDrafterName, spec_)) {
            throw std::runtime_error("a task of the drafter was refused");
        }
    }
}

void Drafter::prepare(const Packer& pack) {
    make_spec(pack);
    draft(kDrafterDrafts);
}

void Drafter::act(const contracts::Task& /*own*/) {}

bool Drafter::is_over() {
    return std::all_of(tasks().begin(), tasks().end(), [this](const contracts::TaskId& id) {
        const auto task = network_.rpc().task(id);
        return task && is_terminal(task->state);
    });
}

json Drafter::report() { return tally(); }

std::vector<std::string> Drafter::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("slashed") != 0) {
        complaints.emplace_back("profilers lost stake for a task whose program nobody can fetch");
    }
    if (report.at("submitted") == 0 || report.at("drawn") == 0) {
        complaints.emplace_back("no profiler was drawn, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
