// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/world.hpp>

#include <algorithm>
#include <utility>

/// The accounts of world.hpp and their money.
namespace assay::economics {

const char* to_string(Role role) noexcept {
    constexpr const char* kNames[] = {"submitter", "solver", "verifier", "whistleblower", "sybil"};
    return kNames[static_cast<std::size_t>(role) - 1];
}

const char* to_string(Strategy strategy) noexcept {
    constexpr const char* kNames[] = {"honest", "skipping", "faking",    "lazy",      "copying", "rejecting",
                                      "idle",   "blind",    "following", "coalition", "flooding"};
    return kNames[static_cast<std::size_t>(strategy) - 1];
}

void Ledger::add(Role role, Strategy strategy, Grains balance) {
    agents.push_back({role, strategy, balance, balance});
    supply += balance;
}

void Ledger::add(Role role, Strategy strategy, Grains balance, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        add(role, strategy, balance);
    }
}

void Ledger::endow(Grains treasury_start) {
    treasury += treasury_start;
    supply += treasury_start;
}

std::vector<std::uint32_t> Ledger::pick(
    Random& random, Role role, Grains least, std::uint32_t count, std::uint32_t except
) const {
    std::vector<std::uint32_t> able;
    for (std::uint32_t id = 0; id < agents.size(); ++id) {
        if (agents[id].role == role && agents[id].balance >= least && id != except) {
            able.push_back(id);
        }
    }
    count = std::min(count, static_cast<std::uint32_t>(able.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
        std::swap(able[i], able[i + random.below(static_cast<std::uint32_t>(able.size()) - i)]);
    }
    able.resize(count);
    return able;
}

Grains Ledger::total() const {
    Grains out = treasury + escrow + burned + spent;
    for (const Agent& agent : agents) {
        out += agent.balance;
    }
    return out;
}

SolverWork usual_work(Strategy strategy, const Setting& setting, const Costs& costs) {
    SolverWork out;
    switch (strategy) {
        case Strategy::kSkipping:
        case Strategy::kCoalition:
            out.wrong = std::max(1U, setting.segments / 5);
            out.detection = detection_of(costs, "skipped_segments");
            break;
        case Strategy::kFaking:
            out.wrong = setting.segments;
            out.detection = detection_of(costs, "interpolation");
            break;
        default:
            break;
    }
    out.cost = setting.segment_cost * (setting.segments - out.wrong);
    return out;
}

}  // namespace assay::economics
