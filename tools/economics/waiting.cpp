// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/waiting.hpp>

#include <cmath>
#include <utility>

namespace assay::economics {
namespace {

constexpr double kUnwilling = 0.25;  // of the stake that is drawn
constexpr double kInVain = 1e-3;     // of tasks, or segments
constexpr double kMilliseconds = 1'000.0;
constexpr double kSecondsOfMonth = 30.0 * 86'400.0;
constexpr double kBytesOfGigabyte = 1e9;
constexpr double kBlocksOfPrice = 1'000.0;  // TASK-17

/// So many draws of `places` each that a quarter of the stake fills all places of all draws once in a thousand.
double draws_needed(std::uint32_t places) { return std::ceil(std::log(kInVain) / (places * std::log(kUnwilling))); }

}  // namespace

std::vector<Constraint> waiting_constraints(
    const Setting& setting, const Parameters& p, const Costs& costs, const TaskCosts& task
) {
    std::vector<Constraint> out;
    const auto add = [&](Constraint constraint) {
        constraint.task = task.name;
        out.push_back(std::move(constraint));
    };
    add(
        {.name = "deadline.costs",
         .role = "solver",
         .parameter = "deadline_slash_bps",
         .have = static_cast<double>(p.deadline_slash_bps) / 10'000.0 * to_asy(setting.solver_bond),
         .need = costs.safety * costs.capital_price * to_asy(setting.value()),
         .unit = "ASY",
         .meaning = "what a solver loses that misses its deadline is more than the wait costs the submitter",
         .help = "a higher deadline_slash_bps or solver bond"}
    );
    add(
        {.name = "draws.solver",
         .role = "submitter",
         .parameter = "draws_max",
         .have = static_cast<double>(p.draws_max),
         .need = draws_needed(1),
         .unit = "",
         .meaning = "where solvers with a quarter of the stake do not accept, no solver is found less than once in a thousand",
         .help = "more draws_max"}
    );
    add(
        {.name = "draws.verifiers",
         .role = "solver",
         .parameter = "redraws_max",
         .have = static_cast<double>(p.redraws_max),
         .need = draws_needed(setting.per_segment) - 1.0,  // there is a first one besides
         .unit = "",
         .meaning = "where a quarter of those who attest are silent, a segment has no verdict less than once in a thousand",
         .help = "more redraws_max, or more verifiers per segment"}
    );
    add(
        {.name = "room.pays",
         .role = "submitter",
         .parameter = "room_price",
         .have = static_cast<double>(p.room_price),
         .need = costs.disk_price / kBytesOfGigabyte * kBlocksOfPrice * costs.block_seconds / kSecondsOfMonth *
                 costs.bytes_stored * costs.validators,
         .unit = "grains",
         .meaning = "a task that waits pays for the disks of all validators",
         .help = "a higher room_price"}
    );
    // A verifier fetches before it replays; a member of a committee only fetches.
    const double fetch = costs.fetch_share * task.segment_seconds / costs.block_seconds;
    add(
        {.name = "committee.time",
         .role = "verifier",
         .parameter = "attest_blocks",
         .have = p.attest_blocks + replay_blocks_needed(costs, task),
         .need = costs.safety * fetch + costs.response_blocks,
         .unit = "blocks",
         .meaning = "a committee's members have fetched a checkpoint, and been included, before its time is over",
         .help = "a higher attest_blocks"}
    );
    add(
        {.name = "work.blocks",
         .role = "verifier",
         .parameter = "block_ms",
         .have = kMilliseconds * costs.block_seconds,
         .need = static_cast<double>(p.block_ms),
         .unit = "ms",
         .meaning = "blocks last as long as windows that follow work take them to last",
         .help = "a lower block_ms, or slower blocks"}
    );
    return out;
}

}  // namespace assay::economics
