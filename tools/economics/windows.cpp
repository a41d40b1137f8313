// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/windows.hpp>

#include <algorithm>
#include <utility>

namespace assay::economics {

std::vector<Constraint> window_constraints(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    std::vector<Constraint> out;
    const auto add = [&](Constraint constraint) {
        constraint.task = task.name;
        constraint.unit = constraint.unit.empty() ? "blocks" : constraint.unit;
        out.push_back(std::move(constraint));
    };
    const double answer = blocks_to_answer(costs, 1);
    const double move = blocks_to_answer(costs, costs.dispute_moves);
    const double replay = replay_blocks_needed(costs, task);
    const double fetch = costs.fetch_share * task.segment_seconds / costs.block_seconds;
    // WRK-5: a span has so many replays on top of its parameter.
    const auto beyond = [&](double blocks, double replays) { return std::max(0.0, blocks - replays * replay); };
    add(
        {.name = "clock.last_second",
         .role = "solver",
         .parameter = "dispute_extension_blocks",
         .have = static_cast<double>(p.dispute_extension_blocks),
         .need = move,
         .meaning = "a move in the last block leaves time for an answer",
         .help = "a longer extension per move"}
    );
    add(
        {.name = "clock.game",
         .role = "solver",
         .parameter = "dispute_clock_blocks",
         .have = static_cast<double>(p.dispute_clock_blocks),
         .need = beyond(costs.dispute_moves * move + costs.dispute_replays * replay, 2.0),
         .meaning = "a party's clock is enough for all its moves and for the replays that they need",
         .help = "a higher dispute_clock_blocks"}
    );
    add(
        {.name = "window.accept",
         .role = "solver",
         .parameter = "accept_blocks",
         .have = static_cast<double>(p.accept_blocks),
         .need = answer,
         .meaning = "a solver that is drawn has accepted or declined, and been included, in time",
         .help = "a higher accept_blocks"}
    );
    add(
        {.name = "window.contribute",
         .role = "contributor",
         .parameter = "contribute_blocks",
         .have = static_cast<double>(p.contribute_blocks),
         .need = answer,
         .meaning = "a contributor's secret is included before the round closes",
         .help = "a higher contribute_blocks"}
    );
    add(
        {.name = "window.commit",
         .role = "verifier",
         .parameter = "commit_blocks",
         .have = static_cast<double>(p.commit_blocks),
         .need = beyond(fetch + 2.0 * replay + answer, 3.0),
         .meaning =
             "a verifier that is drawn, and busy with another segment, has fetched, replayed and committed in time",
         .help = "a higher commit_blocks"}
    );
    add(
        {.name = "window.publish",
         .role = "verifier",
         .parameter = "publish_blocks",
         .have = static_cast<double>(p.publish_blocks),
         .need = answer,
         .meaning = "a verifier that has committed has published in time",
         .help = "a higher publish_blocks"}
    );
    // DSP-42: a challenged verdict stays secret for half of the window.
    add(
        {.name = "window.challenge",
         .role = "whistleblower",
         .parameter = "challenge_blocks",
         .have = static_cast<double>(p.challenge_blocks),
         .need = 2.0 * beyond(fetch + kMeanProbe * replay + answer, 1.0),
         .meaning =
             "a watcher has fetched, replayed to a mean probe and challenged before a challenged verdict is disclosed",
         .help = "a higher challenge_blocks"}
    );
    add(
        {.name = "window.disclose",
         .role = "verifier",
         .parameter = "disclose_blocks",
         .have = static_cast<double>(p.disclose_blocks),
         .need = answer,
         .meaning = "a verifier that has published has disclosed in time",
         .help = "a higher disclose_blocks"}
    );
    add(
        {.name = "forced.delay",
         .role = "solver",
         .parameter = "forced_error_bps",
         .have = 10'000.0 * costs.most_forced,
         .need = static_cast<double>(p.forced_error_bps),
         .unit = "bps",
         .meaning = "few verdicts are forced, since each of them delays its task by a second challenge window",
         .help = "a lower forced_error_bps"}
    );
    return out;
}

}  // namespace assay::economics
