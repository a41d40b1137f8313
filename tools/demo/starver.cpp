// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/starver.hpp>

#include <cstdint>

#include <tools/demo/network.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

// More than the stakes of four verifiers have room for, so that some of them find no profilers.
constexpr std::uint64_t kStarverDrafts = 12;
constexpr std::size_t kLeastStarved = 2;

}  // namespace

void Starver::prepare(const Packer& pack) { make_spec(pack); }

void Starver::act(const contracts::Task& own) {
    if (!has_begun_ && own.state != contracts::TaskState::kVerifying) {
        return;
    }
    if (!has_begun_) {
        has_begun_ = true;
        draft(kStarverDrafts);
    }
    look_at_stakes();
}

void Starver::look_at_stakes() {
    const contracts::Params params = network_.rpc().params();
    for (const auto& [name, unused] : network_.actors()) {
        if (!name.starts_with("verifier-")) {
            continue;
        }
        const json stake = network_.rpc().call("stake_get", {{"account", to_hex(network_.key(name).account().view())}});
        if (grains(stake.at("roles").at("verifier").at("free")) < params.challenger_bond.grains) {
            starved_.insert(name);
        }
    }
}

json Starver::report() {
    json report = Drafter::report();
    report["starved"] = starved_;
    return report;
}

std::vector<std::string> Starver::judge(const json& report) const {
    auto complaints = Drafter::judge(report);
    if (report.at("starved").size() < kLeastStarved) {
        complaints.emplace_back("verifiers had free stake all the time, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
