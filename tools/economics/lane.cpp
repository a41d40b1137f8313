// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/lane.hpp>

#include <cmath>
#include <utility>

#include <contracts/duties/lane.hpp>
#include <contracts/state/params.hpp>
#include <tools/economics/setting.hpp>

namespace assay::economics {
namespace {

/// In blocks: until a message has reached whoever proposes next, late messages included.
constexpr double kLatencyBlocks = 4.0;

contracts::Params chain_params(const Parameters& p) {
    contracts::Params out;
    out.segments_checked = p.segments_checked;
    out.segments_checked_max = p.segments_checked_max;
    out.verifiers_per_segment = p.verifiers_per_segment;
    out.verifiers_per_segment_max = p.verifiers_per_segment_max;
    out.watchers_per_verdict = p.watchers_per_verdict;
    out.redraws_max = p.redraws_max;
    out.committee_seats = p.committee_seats;
    out.block_gas_max = p.block_gas_max;
    out.duty_gas_max = p.duty_gas_max;
    out.duty_wait_blocks = p.duty_wait_blocks;
    return out;
}

/// DTY-5: what a task holds from the draw of its verifiers on.
double weight_of(const contracts::Params& params, const TaskCosts& task) {
    contracts::Task judged;
    judged.state = contracts::TaskState::kVerifying;
    judged.spec.steps = task.segments;
    judged.spec.checkpoint_interval = 1;
    return static_cast<double>(contracts::task_weight(params, judged));
}

}  // namespace

std::vector<Constraint> lane_constraints(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    std::vector<Constraint> out;
    const auto add = [&](Constraint constraint) {
        constraint.task = task.name;
        out.push_back(std::move(constraint));
    };
    const contracts::Params params = chain_params(p);
    const double half = static_cast<double>(contracts::lane_half(params));
    const Setting setting = make_setting(p, costs, task);
    const double disputes = std::floor(half / static_cast<double>(contracts::dispute_weight(params)));
    // A party that is in no hurry has its whole clock.
    const double games =
        std::ceil(static_cast<double>(p.challenge_blocks + p.standstill_blocks) / p.dispute_clock_blocks);
    add(
        {.name = "lane.tasks",
         .role = "solver",
         .parameter = "duty_gas_max",
         .have = std::floor(half / weight_of(params, task)),
         .need = static_cast<double>(costs.tasks_at_once),
         .unit = "tasks",
         .meaning = "as many such tasks can be judged at the same time as there are",
         .help = "a higher duty_gas_max or duty_wait_blocks"}
    );
    add(
        {.name = "lane.others",
         .role = "submitter",
         .parameter = "duty_gas_max",
         .have = p.block_gas_max / 2.0,
         .need = static_cast<double>(p.duty_gas_max),
         .unit = "gas",
         .meaning = "what is no answer has at least half of every block",
         .help = "a lower duty_gas_max"}
    );
    add(
        {.name = "lane.wait",
         .role = "contributor",
         .parameter = "duty_wait_blocks",
         .have = static_cast<double>(p.contribute_blocks),
         .need = p.duty_wait_blocks + kLatencyBlocks,
         .unit = "blocks",
         .meaning = "the shortest time that anybody has for an answer is the longest that one waits, and what it takes "
                    "to arrive",
         .help = "a lower duty_wait_blocks, or a higher contribute_blocks"}
    );
    add(
        {.name = "lane.squat",
         .role = "whistleblower",
         .parameter = "standstill_blocks",
         .have = disputes * games * to_asy(setting.challenger_bond),
         .need = costs.tasks_at_once * to_asy(setting.value()),
         .unit = "ASY",
         .meaning = "who keeps the room for disputes full until windows end loses more in bonds than all such tasks "
                    "are worth that "
                    "are judged meanwhile",
         .help = "a higher standstill_blocks, duty_gas_max or challenger_bond"}
    );
    return out;
}

}  // namespace assay::economics
