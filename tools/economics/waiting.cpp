// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/waiting.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::economics {
namespace {

constexpr double kUnwilling = 0.25;  // of the stake that is drawn
constexpr double kInVain = 1e-3;     // of tasks, or segments
constexpr double kMilliseconds = 1'000.0;
constexpr double kSecondsOfMonth = 30.0 * 86'400.0;
constexpr double kBytesOfGigabyte = 1e9;
constexpr double kBytesOfGibibyte = 1U << 30U;
constexpr double kBlocksOfPrice = 1'000.0;  // TASK-17

constexpr std::uint32_t kMostDoublings = 8;  // TASK-18

/// TASK-18: how long so many pauses last, with the block that a draw takes after each.
double pauses(std::uint32_t redraw_blocks, double count) {
    double out = 0.0;
    for (std::uint32_t i = 0; i < count; ++i) {
        out += std::ldexp(redraw_blocks, static_cast<int>(std::min(i, kMostDoublings))) + 1.0;
    }
    return out;
}

/// So many draws of `places` each that a quarter of the stake fills all places of all draws once in a thousand.
double draws_needed(std::uint32_t places) { return std::ceil(std::log(kInVain) / (places * std::log(kUnwilling))); }

}  // namespace

double decline_blocks_needed(const Parameters& p) { return pauses(p.redraw_blocks, draws_needed(1)); }

double draw_blocks_needed(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    // VER-3, BCN-5, VER-4, then two windows with the disclosure between them (VER-13, VER-15); WRK-5.
    const double spans = p.commit_blocks + 2.0 * p.contribute_blocks + 1.0 + p.publish_blocks +
                         2.0 * p.challenge_blocks + p.disclose_blocks;
    constexpr double kReplays = 3.0 + 2.0 * 2.0;
    return costs.safety * (spans + kReplays * replay_blocks_needed(costs, task));
}

double redraw_blocks_needed(const Parameters& p) {
    return std::ceil(p.draw_blocks / std::max(1.0, pauses(1, p.draws_max - 1.0) - p.draws_max + 1.0));
}

namespace {

/// Draws that find nobody, and deadlines that are missed.
std::vector<Constraint> failure_constraints(const Setting& setting, const Parameters& p, const Costs& costs) {
    return {
        {.name = "deadline.costs",
         .role = "solver",
         .parameter = "deadline_slash_bps",
         .have = static_cast<double>(p.deadline_slash_bps) / 10'000.0 * to_asy(setting.solver_bond),
         .need = costs.safety * costs.capital_price * to_asy(setting.value()),
         .unit = "ASY",
         .meaning = "what a solver loses that misses its deadline is more than the wait costs the submitter",
         .help = "a higher deadline_slash_bps or solver bond"},
        {.name = "draws.solver",
         .role = "submitter",
         .parameter = "draws_max",
         .have = static_cast<double>(p.draws_max),
         .need = draws_needed(1),
         .unit = "",
         .meaning =
             "where solvers with a quarter of the stake do not accept, no solver is found less than once in a thousand",
         .help = "more draws_max"},
        {.name = "draws.verifiers",
         .role = "solver",
         .parameter = "redraws_max",
         .have = static_cast<double>(p.redraws_max),
         .need = draws_needed(setting.per_segment) - 1.0,  // there is a first one besides
         .unit = "",
         .meaning =
             "where a quarter of those who attest are silent, a segment has no verdict less than once in a thousand",
         .help = "more redraws_max, or more verifiers per segment"}};
}

std::vector<Constraint> decline_constraints(const Parameters& p, const Costs& costs) {
    return {// TASK-15: who has declined once leaves so many draws to others as find somebody who accepts.
            {.name = "decline.others",
             .role = "submitter",
             .parameter = "decline_blocks",
             .have = static_cast<double>(p.decline_blocks),
             .need = decline_blocks_needed(p),
             .unit = "blocks",
             .meaning = "a solver that has declined is not drawn again before as many draws as find another solver",
             .help = "a higher decline_blocks, or a lower redraw_blocks"},
            {.name = "decline.back",
             .role = "solver",
             .parameter = "decline_blocks",
             .have = static_cast<double>(p.draw_blocks),
             .need = costs.safety * p.decline_blocks,
             .unit = "blocks",
             .meaning = "a solver that declined because it was busy can be drawn again while the task still waits",
             .help = "a lower decline_blocks, or a higher draw_blocks"}};
}

/// How long draws take.
std::vector<Constraint> draw_constraints(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    const double round = 2.0 * p.contribute_blocks + 1.0;  // BCN-5
    const double draws = draws_needed(1);
    const double replay = is_admitted(p, costs, task) ? replay_blocks_needed(costs, task) : 0.0;  // WRK-5
    std::vector<Constraint> out{
        {.name = "draws.time",
         .role = "submitter",
         .parameter = "draw_blocks",
         .have = static_cast<double>(p.draw_blocks),
         .need = pauses(p.redraw_blocks, draws - 1.0) + draws * (round + p.accept_blocks + replay),
         .unit = "blocks",
         .meaning = "a task waits for as many draws as find a solver, where all drawn before let their time pass",
         .help = "a higher draw_blocks, or a lower redraw_blocks"}};
    if (is_admitted(p, costs, task)) {
        out.push_back(
            {.name = "draws.busy",
             .role = "solver",
             .parameter = "draw_blocks",
             .have = static_cast<double>(p.draw_blocks),
             .need = draw_blocks_needed(p, costs, task),
             .unit = "blocks",
             .meaning =
                 "verifiers that are busy with such a task are free again before another one has waited for too long",
             .help = "a higher draw_blocks, or shorter segments"}
        );
    }
    out.push_back(
        {.name = "draws.last",
         .role = "submitter",
         .parameter = "redraw_blocks",
         .have = pauses(p.redraw_blocks, p.draws_max - 1.0),
         .need = static_cast<double>(p.draw_blocks),
         .unit = "blocks",
         .meaning = "a task all of whose draws fail has one left for as long as it may wait",
         .help = "a higher redraw_blocks, or more draws_max"}
    );
    return out;
}

/// What a task that waits costs, and how long what it waits for takes.
std::vector<Constraint> wait_constraints(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    // A verifier fetches before it replays; a member of a committee only fetches.
    const double fetch = costs.fetch_share * task.segment_seconds / costs.block_seconds;
    return {
        {.name = "room.pays",
         .role = "submitter",
         .parameter = "room_price",
         .have = static_cast<double>(p.room_price),
         .need = costs.disk_price / kBytesOfGigabyte * kBlocksOfPrice * costs.block_seconds / kSecondsOfMonth *
                 costs.bytes_stored * costs.validators,
         .unit = "grains",
         .meaning = "a task that waits pays for the disks of all validators",
         .help = "a higher room_price"},
        {.name = "retention.pays",
         .role = "solver",
         .parameter = "retention_price",
         .have = static_cast<double>(p.retention_price),
         .need = costs.disk_price * kBytesOfGibibyte / kBytesOfGigabyte * kBlocksOfPrice * costs.block_seconds /
                 kSecondsOfMonth,
         .unit = "grains",
         .meaning = "a solver that keeps a result is paid for the disk",
         .help = "a higher retention_price"},
        {.name = "committee.time",
         .role = "verifier",
         .parameter = "attest_blocks",
         .have = p.attest_blocks + replay_blocks_needed(costs, task),
         .need = costs.safety * fetch + costs.response_blocks,
         .unit = "blocks",
         .meaning = "a committee's members have fetched a checkpoint, and been included, before its time is over",
         .help = "a higher attest_blocks"},
        {.name = "work.blocks",
         .role = "verifier",
         .parameter = "block_ms",
         .have = kMilliseconds * costs.block_seconds,
         .need = static_cast<double>(p.block_ms),
         .unit = "ms",
         .meaning = "blocks last as long as windows that follow work take them to last",
         .help = "a lower block_ms, or slower blocks"}};
}

}  // namespace

std::vector<Constraint> waiting_constraints(
    const Setting& setting, const Parameters& p, const Costs& costs, const TaskCosts& task
) {
    std::vector<Constraint> out;
    for (auto& each :
         {failure_constraints(setting, p, costs), decline_constraints(p, costs), draw_constraints(p, costs, task),
          wait_constraints(p, costs, task)}) {
        out.insert(out.end(), each.begin(), each.end());
    }
    for (Constraint& constraint : out) {
        constraint.task = task.name;
    }
    return out;
}

}  // namespace assay::economics
