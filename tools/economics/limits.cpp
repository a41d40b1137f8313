// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/limits.hpp>

#include <utility>

#include <contracts/params/gas.hpp>
#include <contracts/state/params.hpp>
#include <contracts/transaction/transaction.hpp>

namespace assay::economics {
namespace {

constexpr double kMicrosOfSecond = 1e6;
constexpr double kMicrosOfHour = 3.6e9;
constexpr std::size_t kSubmissionBytes = 512;  // about the least

/// The chain's parameters with what of `p` decides the gas of draws and deadlines.
contracts::Params for_gas(const Parameters& p) {
    contracts::Params out;
    out.segments_checked_max = p.segments_checked_max;
    out.verifiers_per_segment_max = p.verifiers_per_segment_max;
    out.watchers_per_verdict = p.watchers_per_verdict;
    out.redraws_max = p.redraws_max;
    out.committee_seats = p.committee_seats;
    return out;
}

/// GAS-10: a round that makes one draw of each queue, with so many accounts in each role.
double gas_of_round(const contracts::Params& params, std::uint32_t stakers) {
    using contracts::Queue;
    std::uint64_t gas = 3 * contracts::pool_gas(stakers);
    for (const Queue queue : contracts::kQueues) {
        // TRM-3: a solver's draw looks at the verifiers too.
        const std::size_t candidates = queue == Queue::kSolver ? 2 * std::size_t{stakers} : stakers;
        gas += contracts::kGasPerEntry + contracts::draw_gas(queue, candidates, params);
    }
    return static_cast<double>(gas);
}

/// GAS-10: to end the tasks of a block that is full of submissions, when all of them expire at once.
double gas_of_expiries(const contracts::Params& params, std::uint32_t block_gas_max) {
    const contracts::Tx tx{{"", {}, 0, {}, contracts::SubmitTask{}}, {}};
    const std::uint64_t submissions = block_gas_max / contracts::gas_of(tx, kSubmissionBytes, params);
    return static_cast<double>(submissions * (contracts::kGasPerEntry + contracts::deadline_gas(params)));
}

std::vector<Constraint> memory_constraints(const Parameters& p, const Costs& costs) {
    return {
        {.name = "memory.programs",
         .role = "submitter",
         .parameter = "memory_default",
         .have = static_cast<double>(p.memory_default),
         .need = static_cast<double>(costs.program_memory),
         .unit = "bytes",
         .meaning = "verifiers that register nothing consent to the usual programs",
         .help = "a higher memory_default"},
        {.name = "memory.machines",
         .role = "verifier",
         .parameter = "memory_default",
         .have = static_cast<double>(costs.machine_memory) / 2.0,
         .need = static_cast<double>(p.memory_default),
         .unit = "bytes",
         .meaning =
             "what a machine of the least class consents to without a registration takes half of its memory at most",
         .help = "a lower memory_default"}};
}

}  // namespace

std::vector<Constraint> limit_constraints(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    std::vector<Constraint> out;
    const auto add = [&](Constraint constraint) {
        constraint.task = task.name;
        out.push_back(std::move(constraint));
    };
    const contracts::Params params = for_gas(p);
    const double half = p.end_block_gas_max / 2.0;
    const double all = costs.block_seconds * kMicrosOfSecond / costs.gas_micros;
    add(
        {.name = "gas.pays",
         .role = "validator",
         .parameter = "gas_price_min",
         .have = static_cast<double>(p.gas_price_min),
         .need = costs.compute_price / kMicrosOfHour * costs.gas_micros * costs.validators,
         .unit = "grains",
         .meaning = "the least price of a unit of gas is what it costs all validators to execute",
         .help = "a higher gas_price_min, or fewer validators"}
    );
    add(
        {.name = "block.time",
         .role = "validator",
         .parameter = "block_gas_max",
         .have = all - p.end_block_gas_max,
         .need = static_cast<double>(p.block_gas_max),
         .unit = "gas",
         .meaning = "one core executes a full block, and the most that its end can take, in the time of a block",
         .help = "a lower block_gas_max or end_block_gas_max"}
    );
    add(
        {.name = "end.time",
         .role = "validator",
         .parameter = "end_block_gas_max",
         .have = all - p.block_gas_max,
         .need = static_cast<double>(p.end_block_gas_max),
         .unit = "gas",
         .meaning = "one core executes the most that a block's end can take, and a full block, in the time of a block",
         .help = "a lower end_block_gas_max or block_gas_max"}
    );
    add(
        {.name = "end.draws",
         .role = "solver",
         .parameter = "end_block_gas_max",
         .have = half,
         .need = gas_of_round(params, costs.stakers),
         .unit = "gas",
         .meaning = "a round has gas for a draw of each queue, so that the last of them does not wait for the others",
         .help = "a higher end_block_gas_max, or less that a task can have drawn"}
    );
    add(
        {.name = "end.deadlines",
         .role = "solver",
         .parameter = "end_block_gas_max",
         .have = half * costs.response_blocks,
         .need = gas_of_expiries(params, p.block_gas_max),
         .unit = "gas",
         .meaning =
             "a block full of submissions delays the deadlines behind its own by no more than an honest answer takes",
         .help = "a higher end_block_gas_max, or a lower block_gas_max"}
    );
    for (Constraint& constraint : memory_constraints(p, costs)) {
        add(std::move(constraint));
    }
    return out;
}

}  // namespace assay::economics
