// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <utility>

#include <contracts/params/gas.hpp>
#include <contracts/validators/validators.hpp>
#include <core/dispute/evaluation.hpp>

namespace assay::model {

using contracts::DueKind;
using contracts::TaskState;
using contracts::VerdictStatus;

bool is_over(TaskState state) {
    return state == TaskState::kSettled || state == TaskState::kConvicted || state == TaskState::kCancelled ||
           state == TaskState::kExpired || state == TaskState::kRefused;
}

std::uint32_t first_of(const contracts::TaskSpec& spec) { return spec.parent ? 1 : 0; }

std::uint32_t last_of(const Task& task) {
    if (task.team && task.team->last) {
        return *task.team->last;
    }
    if (task.diverged_at) {
        return static_cast<std::uint32_t>(task.checkpoints.size()) - 1;
    }
    return static_cast<std::uint32_t>((task.spec.steps - 1) / task.spec.checkpoint_interval + 1);
}

bool is_evaluation(const Task& task, std::uint32_t segment) { return task.evaluation && segment == last_of(task) + 1; }

Hash256 claimed_after(const Task& task, std::uint32_t segment) {
    return is_evaluation(task, segment) ? dispute::score_root(task.evaluation->score) : task.checkpoints.at(segment);
}

std::uint64_t steps_before(const contracts::TaskSpec& spec, std::uint32_t segment) {
    return segment == 0 ? 0 : std::uint64_t{segment - 1} * spec.checkpoint_interval;
}

std::uint32_t steps_in(const Task& task, std::uint32_t segment) {
    const std::uint64_t before = steps_before(task.spec, segment);
    if (task.diverged_at && segment == last_of(task)) {
        return static_cast<std::uint32_t>(*task.diverged_at - before + 1);
    }
    if (segment == 0 || is_evaluation(task, segment)) {
        return 1;
    }
    const std::uint64_t end = std::min<std::uint64_t>(task.spec.steps, before + task.spec.checkpoint_interval);
    return static_cast<std::uint32_t>(end - before);
}

bool is_exact(const Task& task, std::uint32_t segment) {
    return task.spec.mode == contracts::Mode::kExact || segment == 0 || is_evaluation(task, segment) ||
           (task.diverged_at && segment == last_of(task));
}

std::vector<std::uint32_t> marks_in(const Task& task, const Duty& duty) {
    std::vector<std::uint32_t> marks;
    const std::uint64_t steps = steps_in(task, duty.segment);
    for (std::uint32_t step = 1; duty.segment != 0 && step < steps; ++step) {
        bool is_mark = step == steps - 1;
        for (std::uint64_t part = 0; part < 8; ++part) {
            is_mark = is_mark || step == part * steps / 8 + duty.offset;
        }
        if (is_mark) {
            marks.push_back(step);
        }
    }
    return marks;
}

contracts::Verdict published_of(
    const Task& task, const Duty& duty, const contracts::VerdictOpening& opening, bool forced
) {
    contracts::Verdict out = opening.verdict;
    out.probe_root.reset();
    const auto marks = marks_in(task, duty);
    for (std::size_t i = 0; i < marks.size() && opening.marks.size() == marks.size(); ++i) {
        if (marks[i] == duty.probe) {
            out.probe_root = forced ? opening.decoy_root : opening.marks[i];
        }
    }
    return out;
}

bool is_published(const Duty& duty) {
    return duty.status == VerdictStatus::kAccepted || duty.status == VerdictStatus::kRejected;
}

bool is_secret(const Duty& duty) { return is_published(duty) && !duty.forced; }

std::uint64_t part_of(std::uint64_t amount, std::uint64_t numerator, std::uint64_t denominator) {
    __extension__ using Wide = unsigned __int128;
    const Wide part = Wide{amount} * numerator / denominator;
    return part > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(part);
}

Model::Model(const contracts::Params& params, const contracts::Genesis& genesis, Flaw flaw)
    : params_(params), next_params_(params), flaw_(flaw) {
    for (const auto& [account, balance] : genesis.balances) {
        world_.people[account].balance = balance.grains;
        world_.supply += balance.grains;
    }
    for (const contracts::GenesisValidator& validator : genesis.validators) {
        world_.validators[validator.account].key = validator.key;
        world_.listed.push_back(validator.account);
        world_.validators[validator.account].power = validator.stake.grains / 1'000'000'000;
        world_.stakes[{Role::kValidator, validator.account}].free = validator.stake.grains;
        world_.supply += validator.stake.grains;
    }
}

void Model::fail(const std::string& what) {
    if (fault_.empty()) {
        fault_ = what;
    }
}

const Task* Model::find(const TaskId& id) const {
    const auto found = world_.tasks.find(id);
    return found == world_.tasks.end() ? nullptr : &found->second;
}

const Duty* Model::find_duty(const Task& task, std::uint32_t segment, const AccountId& verifier) const {
    for (const Duty& duty : task.duties) {
        if (duty.segment == segment && duty.verifier == verifier) {
            return &duty;
        }
    }
    return nullptr;
}

Duty* Model::find_duty(Task& task, std::uint32_t segment, const AccountId& verifier) const {
    for (Duty& duty : task.duties) {
        if (duty.segment == segment && duty.verifier == verifier) {
            return &duty;
        }
    }
    return nullptr;
}

std::uint64_t Model::bond_of(Role role, const Task& task) const {
    // PAR-2
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    switch (role) {
        case Role::kSolver:
            return std::max(params_.solver_bond.grains, part_of(value, params_.solver_bond_bps, 10'000));
        case Role::kVerifier:
            return std::max(params_.verifier_bond.grains, part_of(value, params_.verifier_bond_bps, 10'000));
        default:
            return std::max(params_.challenger_bond.grains, part_of(value, params_.challenger_bond_bps, 10'000));
    }
}

void Model::set_deadline(const Due& due, std::uint64_t& field, std::uint64_t height) {
    if (field != height && height != 0) {
        calendar_[height].push_back(due);
    }
    field = height;
}

void Model::set_task_deadline(const TaskId& id, std::uint64_t height) {
    set_deadline({DueKind::kTask, Hash256{id.data}, {}}, at(id).deadline, height);
}

std::string Model::run_block(
    const contracts::BlockContext& block, const std::vector<Sent>& txs, const contracts::BlockOutcome& chain,
    const Mirror& after
) {
    height_ = block.height.value;
    time_ms_ = block.time_ms;
    block_hash_ = block.block_hash;
    chain_ = &after;
    begin_planned();
    next_params_ = params_;
    money_.clear();
    gas_ = 0;
    bytes_ = 0;
    answered_.clear();
    std::vector<Why> unpaid(txs.size());
    for (std::size_t i = 0; i < txs.size(); ++i) {
        unpaid[i] = is_answer(txs[i]) ? admit(txs[i]) : Why{};
    }
    for (std::size_t i = 0; i < txs.size(); ++i) {
        unpaid[i] = is_answer(txs[i]) ? unpaid[i] : charge(txs[i]);
    }
    for (std::size_t i = 0; i < txs.size() && fault_.empty(); ++i) {
        if (auto fault = check_receipt(txs[i], unpaid[i], chain.receipts.at(i)); !fault.empty()) {
            return fault;
        }
    }
    if (fault_.empty()) {
        end_block(block);
        move_base_fee();
        params_ = next_params_;
    }
    if (!fault_.empty()) {
        return fault_;
    }
    std::erase_if(world_.stakes, [](const auto& entry) {
        return entry.second.free == 0 && entry.second.locked == 0 && entry.second.parts.empty();
    });
    for (auto& [id, task] : world_.tasks) {
        task.lane = weight_of(params_, task);
        if (!is_over(task.state) && owed_in(params_, world_, task) > task.lane) {
            return std::string("a task in the state ") + to_string(task.state) +
                   " owes more than it holds of the lane: " + std::to_string(owed_in(params_, world_, task)) + " of " +
                   std::to_string(task.lane);
        }
    }
    world_.lane = {held_by_tasks(), held_by_disputes()};
    std::vector<Money> moved;
    for (const contracts::HistoryRecord& entry : chain.history) {
        if (const auto* paid = std::get_if<contracts::history::Paid>(&entry.event)) {
            moved.push_back({entry.task, false, paid->to, paid->amount.grains, 0, paid->reason});
        } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
            moved.push_back(
                {entry.task, true, slashed->from, slashed->amount.grains, slashed->burned.grains, slashed->reason}
            );
        }
    }
    std::sort(moved.begin(), moved.end());
    std::sort(money_.begin(), money_.end());
    if (auto fault = find_difference(world_, after.world); !fault.empty()) {
        return fault;
    }
    return moved == money_ ? std::string{} : "the payments and slashes of the history";
}

// --- validators ----------------------------------------------------------------------------------------------

void Model::burn_stake(const AccountId& account, Validator& validator) {
    // VAL-5
    const auto found = world_.stakes.find({Role::kValidator, account});
    if (found != world_.stakes.end()) {
        Stake& stake = found->second;
        std::uint64_t whole = stake.free;
        for (const auto& part : stake.parts) {
            whole += part.amount;
        }
        std::uint64_t left = part_of(whole, params_.double_sign_slash_bps, 10'000);
        world_.burned += left;
        validator.slashed += left;
        const auto take = [&](std::uint64_t& from) {
            const std::uint64_t taken = std::min(from, left);
            from -= taken;
            left -= taken;
        };
        take(stake.free);
        for (auto part = stake.parts.rbegin(); part != stake.parts.rend(); ++part) {
            take(part->amount);
        }
    }
}

void Model::run_validators(const contracts::BlockContext& block) {
    for (const contracts::Misbehaviour& found : block.misbehaviour) {
        for (auto& [account, validator] : world_.validators) {
            if (contracts::address_of(validator.key) == found.validator && !validator.banned) {
                burn_stake(account, validator);
                validator.banned = true;
                validator.jailed_until = height_;
            }
        }
    }
    std::vector<std::pair<std::uint64_t, AccountId>> able;  // VAL-3
    for (const AccountId& account : world_.listed) {
        Validator& validator = world_.validators.at(account);
        // VAL-7
        const bool absent = std::find(block.absent.begin(), block.absent.end(), contracts::address_of(validator.key)) !=
                            block.absent.end();
        validator.missed = absent && validator.power != 0 ? validator.missed + 1 : 0;
        if (validator.missed >= params_.downtime_blocks) {
            validator.missed = 0;
            validator.jailed_until = height_ + params_.jail_blocks;
        }
        const auto stake = world_.stakes.find({Role::kValidator, account});
        const std::uint64_t free = stake == world_.stakes.end() ? 0 : stake->second.free;
        if (!validator.banned && validator.jailed_until == 0 && free >= params_.validator_stake_min.grains &&
            free >= 1'000'000'000) {
            able.emplace_back(free / 1'000'000'000, account);
        }
    }
    std::sort(able.begin(), able.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    able.resize(std::min<std::size_t>(able.size(), params_.validators_max));
    if (able.empty()) {
        return;  // VAL-4
    }
    for (auto& [account, validator] : world_.validators) {
        validator.power = 0;
    }
    for (const auto& [power, account] : able) {
        world_.validators.at(account).power = power;
    }
    // VAL-5
    for (const auto& [account, validator] : world_.validators) {
        if (validator.banned && std::erase(world_.listed, account) != 0) {
            world_.banned.push_back(account);
        }
    }
    std::sort(world_.banned.begin(), world_.banned.end());
}

}  // namespace assay::model
