// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/judge.hpp>

#include <algorithm>
#include <iostream>

#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>
#include <core/codec/borsh.hpp>
#include <tests/simulation/replica.hpp>

namespace assay::liability {
namespace {

using simulation::Broken;

constexpr const char* kPassed = "vote: passed ";
constexpr const char* kHalted = "vote: passed a halt";

/// What a transaction takes from its sender at once, but for a task's deposit.
std::uint64_t taken_by(const contracts::TxBody& body) {
    std::uint64_t sum = body.fee.grains;
    if (const auto* transfer = std::get_if<contracts::Transfer>(&body.action)) {
        sum += transfer->amount.grains;
    } else if (const auto* bond = std::get_if<contracts::Bond>(&body.action)) {
        sum += bond->amount.grains;
    } else if (const auto* submit = std::get_if<contracts::SubmitTask>(&body.action)) {
        sum += submit->spec.reward.grains + submit->spec.verification_fee.grains;
    }
    return sum;
}

/// Of the set's power, what others than `honest` have, and all of it.
std::pair<std::uint64_t, std::uint64_t> powers_of(const model::World& world, const std::set<AccountId>& honest) {
    std::uint64_t theirs = 0;
    std::uint64_t all = 0;
    for (const auto& [account, validator] : world.validators) {
        all += validator.power;
        theirs += honest.contains(account) ? 0 : validator.power;
    }
    return {theirs, all};
}

}  // namespace

Judge::Judge(const contracts::Genesis& genesis) : genesis_(genesis) {
    const auto start = contracts::make_genesis(genesis).value();
    view_.apply(start);
    mirror_.apply(start);
    majorities_.push_back(false);  // there is no block 0
}

contracts::BlockOutcome Judge::execute(const consensus::FinalizeRequest& request) {
    contracts::BlockContext context;
    context.height = request.height;
    height_ = request.height.value;
    context.time_ms = request.time_ms;
    context.block_hash = request.block_hash;
    context.proposer = request.proposer;
    params_before_ = contracts::get_params(view_);
    plans_before_ = mirror_.world.plans;
    const auto [theirs, all] = powers_of(mirror_.world, ledger.honest);
    majorities_.push_back(3 * theirs > 2 * all);
    auto outcome = contracts::apply_block(view_, genesis_.chain_id, context, request.txs);
    for (std::size_t i = 0; i < request.txs.size(); ++i) {
        const contracts::Receipt& receipt = outcome.receipts[i];
        const auto tx = codec::decode<contracts::Tx>(request.txs[i]);
        // DTY-3: an answer that another transaction of the block has forestalled leaves no trace, and was paid for
        // beforehand.
        if (!receipt.is_charged && !(tx && contracts::is_answer(tx->body))) {
            throw Broken(
                "law 3: a block has a transaction that did not pay, a " + receipt.action + " by " +
                name_of(receipt.sender)
            );
        }
    }
    view_.apply(outcome.changes);
    mirror_.apply(outcome.changes);
    ledger.note_block(outcome, request.txs, mirror_.world);
    return outcome;
}

void Judge::judge_block(const contracts::BlockOutcome& outcome) const {
    if (model::count_money(mirror_.world) != mirror_.world.supply) {
        throw Broken("the supply changed");
    }
    judge_gas(outcome);
    judge_lane();
    judge_slashes();
    judge_beacon();
    judge_votes();
}

void Judge::judge_lane() const {
    // DTY-5: the lane never promises more than it holds.
    const contracts::Lane lane = contracts::get_lane(view_);
    const std::uint64_t half = contracts::lane_half(genesis_.params);
    if (lane.tasks > half || lane.disputes > half) {
        throw Broken("law 1: the lane of duties has promised more than it holds");
    }
}

void Judge::judge_gas(const contracts::BlockOutcome& outcome) const {
    std::uint64_t gas = 0;
    for (const contracts::Receipt& receipt : outcome.receipts) {
        gas += receipt.gas;
    }
    if (gas > params_before_.block_gas_max) {
        throw Broken("law 3: a block of " + std::to_string(gas) + " gas");
    }
    if (outcome.end_gas > genesis_.params.end_block_gas_max) {
        throw Broken("law 3: the end of a block takes " + std::to_string(outcome.end_gas) + " gas");
    }
}

/// Law 1, as it shows: whoever follows the roles with a latency of some blocks is slashed for nothing.
void Judge::judge_slashes() const {
    for (const Slash& slash : ledger.fresh()) {
        if (ledger.honest.contains(slash.from) && !ledger.is_shared(slash) && !ledger.is_excused(slash)) {
            throw Broken(
                "law 1: " + name_of(slash.from) + " " + to_hex(slash.from.view()).substr(0, 8) + " slashed for " +
                to_string(slash.reason) + " at height " + std::to_string(slash.height)
            );
        }
    }
}

void Judge::judge_beacon() const {
    for (const AccountId& account : mirror_.world.beacon.withheld) {
        if (ledger.honest.contains(account)) {
            throw Broken("law 1: " + name_of(account) + " lost its seat for a secret that it owed");
        }
    }
}

bool Judge::had_majority(std::uint64_t height) const { return height < majorities_.size() && majorities_[height]; }

/// GOV-2, GOV-6, GOV-7: no honest account votes for anything here, so that what takes effect the attackers have passed.
void Judge::judge_votes() const {
    const contracts::Params now = contracts::get_params(view_);
    contracts::Params allowed = now;
    std::vector<contracts::ParamChange> back;
    for (unsigned number = 1; number <= contracts::kVotableParams; ++number) {
        const auto param = static_cast<contracts::VotableParam>(number);
        back.push_back({param, contracts::value_of(params_before_, param)});
    }
    allowed = contracts::with_changes(allowed, back).value();
    const auto planned = plans_before_.find(height_);
    allowed.protocol_version = params_before_.protocol_version;
    if (allowed != params_before_) {
        throw Broken("law 1: a vote changed a parameter that what is under way depends on");
    }
    if (now.protocol_version != (planned == plans_before_.end() ? params_before_.protocol_version : planned->second)) {
        throw Broken("law 1: the protocol's version changed without a plan");
    }
    const std::string passed = what_passed();
    const std::uint64_t delay = params_before_.vote_delay_blocks;
    const bool is_immediate = passed == kHalted;
    if (passed.starts_with(kPassed) &&
        !(had_majority(height_) && (is_immediate || (height_ > delay && had_majority(height_ - delay))))) {
        throw Broken("law 2: " + passed + " without more than two thirds of the power, or without the delay");
    }
}

std::string Judge::what_passed() const {
    contracts::Params now = contracts::get_params(view_);
    now.protocol_version = params_before_.protocol_version;
    if (now != params_before_) {
        return std::string(kPassed) + "parameters";
    }
    for (const auto& [height, version] : mirror_.world.plans) {
        if (!plans_before_.contains(height)) {
            return version == params_before_.protocol_version ? kHalted : std::string(kPassed) + "an upgrade";
        }
    }
    const auto [theirs, all] = powers_of(mirror_.world, ledger.honest);
    for (const auto& [id, motion] : mirror_.world.motions) {
        std::uint64_t in_favour = 0;
        for (const AccountId& account : motion.votes) {
            const auto validator = mirror_.world.validators.find(account);
            in_favour += validator == mirror_.world.validators.end() ? 0 : validator->second.power;
        }
        if (all != 0 && 3 * in_favour == 2 * all && motion.ends == height_ + 1) {
            return "vote: dropped with two thirds";
        }
    }
    return {};
}

void Judge::judge_waiting(const std::vector<Bytes>& waiting, const contracts::StateView& state) const {
    std::map<AccountId, std::uint64_t> taken;
    for (const Bytes& bytes : waiting) {
        const auto tx = codec::decode<contracts::Tx>(bytes).value();
        taken[tx.body.sender] += taken_by(tx.body);
    }
    for (const auto& [sender, sum] : taken) {
        if (sum > contracts::get_account(state, sender).balance.grains) {
            throw Broken("law 3: what waits in the mempool takes more than " + name_of(sender) + " has");
        }
    }
}

Balance Judge::judge_rest(model::Workshop& shop) const {
    const Balance balance = ledger.balance(genesis_, mirror_.world, shop);
    if (balance.harm > std::max<std::int64_t>(balance.paid, 0)) {
        throw Broken(
            "law 2: honest accounts lost " + std::to_string(balance.harm) + " grains, the attackers paid " +
            std::to_string(balance.paid)
        );
    }
    std::map<AccountId, std::uint64_t> parked;
    for (const auto& [id, task] : mirror_.world.tasks) {
        if (is_parked(task)) {
            parked[*task.solver] += task.solver_bond;
            for (const auto& [account, bond] : task.team ? task.team->bonds : std::map<AccountId, std::uint64_t>{}) {
                parked[account] += bond;
            }
        }
    }
    for (const auto& [key, stake] : mirror_.world.stakes) {
        const auto seat = mirror_.world.beacon.seats.find(key.second);
        const bool has_seat = key.first == contracts::Role::kVerifier && seat != mirror_.world.beacon.seats.end();
        const std::uint64_t in_tasks = key.first == contracts::Role::kSolver ? parked[key.second] : 0;
        if (stake.locked != in_tasks + (has_seat ? seat->second.bond : 0)) {
            throw Broken("law 3: stake of " + name_of(key.second) + " is locked for ever");
        }
    }
    return balance;
}

std::string Judge::name_of(const AccountId& account) const {
    const auto name = names.find(account);
    return name == names.end() ? "the attacker" : name->second;
}

std::string Judge::describe(const contracts::HistoryRecord& entry) const {
    if (const auto* changed = std::get_if<contracts::history::StateChanged>(&entry.event)) {
        return to_string(changed->state);
    }
    if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
        return name_of(slashed->from) + " slashed for " + to_string(slashed->reason);
    }
    if (const auto* drawn = std::get_if<contracts::history::VerifierDrawn>(&entry.event)) {
        return name_of(drawn->verifier) + " drawn for segment " + std::to_string(drawn->segment);
    }
    if (const auto* paid = std::get_if<contracts::history::Paid>(&entry.event)) {
        return name_of(paid->to) + " paid " + std::to_string(paid->amount.grains) + " for " + to_string(paid->reason);
    }
    return {};
}

std::string Judge::end_of(const model::Task& task) {
    const std::string convicted = task.team ? std::to_string(task.team->convicted.size()) : "";
    return to_string(task.state) +
           (task.team ? ", of a group, cut for " + convicted + " of its members" : std::string{});
}

bool Judge::is_parked(const model::Task& task) const {
    return task.state == contracts::TaskState::kTraining && !ledger.honest.contains(task.submitter) &&
           !ledger.honest.contains(*task.solver) && task.deadline > height_ + kFarBlocks;
}

std::string Judge::describe_open() const {
    for (const auto& [id, task] : mirror_.world.tasks) {
        if (!contracts::is_terminal(task.state) && !is_parked(task)) {
            return "a task of " + name_of(task.submitter) + " is " + to_string(task.state);
        }
    }
    return {};
}

void Judge::tell(Height height, const contracts::BlockOutcome& outcome) const {
    std::cout << "block " << height.value << "\n";
    for (const contracts::Receipt& receipt : outcome.receipts) {
        std::cout << "  " << receipt.action << " by " << name_of(receipt.sender) << " "
                  << (receipt.code == 0 ? "" : to_string(static_cast<contracts::TxError>(receipt.code))) << "\n";
    }
    for (const contracts::HistoryRecord& entry : outcome.history) {
        const std::string what = describe(entry);
        if (!what.empty()) {
            std::cout << "  task " << to_hex(entry.task.view()).substr(0, 6) << ": " << what << "\n";
        }
    }
}

}  // namespace assay::liability
