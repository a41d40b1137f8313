// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/windows.hpp>

#include <algorithm>
#include <utility>

namespace assay::economics {

namespace {

/// In blocks.
struct Spans {
    double answer = 0.0;  ///< for one transaction
    double move = 0.0;    ///< for one of a dispute's
    double replay = 0.0;
    double fetch = 0.0;

    /// WRK-5: a span has so many replays on top of its parameter.
    double beyond(double blocks, double replays) const { return std::max(0.0, blocks - replays * replay); }
};

std::vector<Constraint> clock_constraints(const Parameters& p, const Costs& costs, const Spans& spans) {
    return {
        {.name = "clock.last_second",
         .role = "solver",
         .parameter = "dispute_extension_blocks",
         .have = static_cast<double>(p.dispute_extension_blocks),
         .need = spans.move,
         .meaning = "a move in the last block leaves time for an answer",
         .help = "a longer extension per move"},
        {.name = "clock.game",
         .role = "solver",
         .parameter = "dispute_clock_blocks",
         .have = static_cast<double>(p.dispute_clock_blocks),
         .need = spans.beyond(costs.dispute_moves * spans.move + costs.dispute_replays * spans.replay, 2.0),
         .meaning = "a party's clock is enough for all its moves and for the replays that they need",
         .help = "a higher dispute_clock_blocks"}};
}

std::vector<Constraint> answer_constraints(const Parameters& p, const Spans& spans) {
    return {
        {.name = "window.accept",
         .role = "solver",
         .parameter = "accept_blocks",
         .have = static_cast<double>(p.accept_blocks),
         .need = spans.answer,
         .meaning = "a solver that is drawn has accepted or declined, and been included, in time",
         .help = "a higher accept_blocks"},
        {.name = "window.contribute",
         .role = "contributor",
         .parameter = "contribute_blocks",
         .have = static_cast<double>(p.contribute_blocks),
         .need = spans.answer,
         .meaning = "a contributor's secret is included before the round closes",
         .help = "a higher contribute_blocks"}};
}

std::vector<Constraint> verdict_constraints(const Parameters& p, const Costs& costs, const Spans& spans) {
    return {
        {.name = "window.commit",
         .role = "verifier",
         .parameter = "commit_blocks",
         .have = static_cast<double>(p.commit_blocks),
         .need = spans.beyond(spans.fetch + 2.0 * spans.replay + spans.answer, 3.0),
         .meaning =
             "a verifier that is drawn, and busy with another segment, has fetched, replayed and committed in time",
         .help = "a higher commit_blocks"},
        {.name = "window.publish",
         .role = "verifier",
         .parameter = "publish_blocks",
         .have = static_cast<double>(p.publish_blocks),
         .need = spans.answer,
         .meaning = "a verifier that has committed has published in time",
         .help = "a higher publish_blocks"},
        // DSP-42: a challenged verdict stays secret for half of the window.
        {.name = "window.challenge",
         .role = "whistleblower",
         .parameter = "challenge_blocks",
         .have = static_cast<double>(p.challenge_blocks),
         .need = 2.0 * spans.beyond(spans.fetch + kMeanProbe * spans.replay + spans.answer, 1.0),
         .meaning =
             "a watcher has fetched, replayed to a mean probe and challenged before a challenged verdict is disclosed",
         .help = "a higher challenge_blocks"},
        {.name = "window.disclose",
         .role = "verifier",
         .parameter = "disclose_blocks",
         .have = static_cast<double>(p.disclose_blocks),
         .need = spans.answer,
         .meaning = "a verifier that has published has disclosed in time",
         .help = "a higher disclose_blocks"},
        {.name = "forced.delay",
         .role = "solver",
         .parameter = "forced_error_bps",
         .have = 10'000.0 * costs.most_forced,
         .need = static_cast<double>(p.forced_error_bps),
         .unit = "bps",
         .meaning = "few verdicts are forced, since each of them delays its task by a second challenge window",
         .help = "a lower forced_error_bps"}};
}

}  // namespace

std::vector<Constraint> window_constraints(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    const Spans spans{
        .answer = blocks_to_answer(costs, 1),
        .move = blocks_to_answer(costs, costs.dispute_moves),
        .replay = replay_blocks_needed(costs, task),
        .fetch = costs.fetch_share * task.segment_seconds / costs.block_seconds};
    std::vector<Constraint> out;
    for (auto& each :
         {clock_constraints(p, costs, spans), answer_constraints(p, spans), verdict_constraints(p, costs, spans)}) {
        out.insert(out.end(), each.begin(), each.end());
    }
    for (Constraint& constraint : out) {
        constraint.task = task.name;
        constraint.unit = constraint.unit.empty() ? "blocks" : constraint.unit;
    }
    return out;
}

}  // namespace assay::economics
