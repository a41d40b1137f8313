// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/ledger.hpp>

#include <contracts/tasks/tasks.hpp>
#include <core/codec/borsh.hpp>

namespace assay::liability {
namespace {

using contracts::Reason;
using contracts::TaskState;

std::int64_t to_signed(std::uint64_t grains) { return static_cast<std::int64_t>(grains); }

/// Whether each checkpoint that counts is what the program gives from the one before. By distance nobody can say so of
/// a native state by its root; an honest solver's states are.
bool is_trained(const model::Task& task, model::Workshop& shop) {
    if (task.checkpoints.empty() || task.checkpoints.front() != shop.start(model::Way::kTruth)) {
        return false;
    }
    const auto posted = static_cast<std::uint32_t>(task.checkpoints.size() - 1);
    const std::uint32_t last = task.team ? task.team->last.value_or(posted) : posted;  // GRP-6, GRP-7
    for (std::uint32_t i = 1; i <= last; ++i) {
        const Hash256 true_end = shop.after(
            model::Way::kTruth, task.checkpoints[i - 1], contracts::first_step(task.spec, i),
            contracts::step_count(task.spec, i)
        );
        if (task.checkpoints[i] != true_end) {
            return false;
        }
    }
    return true;
}

bool is_from_escrow(Reason reason) {
    return reason == Reason::kReward || reason == Reason::kVerificationFee || reason == Reason::kRefund ||
           reason == Reason::kTax || reason == Reason::kProfilingFee;
}

/// Whether the submitter got what it paid for: nothing, where the task settled for a stranger's invention.
bool is_invented(const model::Task& task, const std::set<AccountId>& honest, model::Workshop& shop) {
    const bool is_exact = task.spec.mode == contracts::Mode::kExact;
    return task.state == TaskState::kSettled && task.solver && !honest.contains(*task.solver) && is_exact &&
           !task.spec.parent && !is_trained(task, shop);
}

/// AVL-4: whether others than the honest had half of the seats of its last committee. A task that was cut has none left
/// (GRP-7), and its attackers' segments were found withheld.
bool has_outvoted(const model::Task& task, const std::set<AccountId>& honest) {
    if (!task.committee) {
        return false;
    }
    std::uint64_t seats = 0;
    std::uint64_t others = 0;
    for (const auto& member : task.committee->members) {
        seats += member.seats;
        others += honest.contains(member.account) ? 0 : member.seats;
    }
    return 2 * others >= seats;
}

/// Whether accomplices of its solver have accepted what no honest verifier did: a solver that serves only them is paid
/// when one of them is drawn at once for each such segment (AVL-1).
bool is_by_accomplices(const model::Task& task, const std::set<AccountId>& honest) {
    std::set<std::uint32_t> drawn;
    std::set<std::uint32_t> accepted;
    bool has_accomplices = false;
    for (const model::Duty& duty : task.duties) {
        drawn.insert(duty.segment);
        if (duty.status == contracts::VerdictStatus::kAccepted) {
            accepted.insert(duty.segment);
            has_accomplices = has_accomplices || !honest.contains(duty.verifier);
        }
    }
    return has_accomplices && accepted == drawn;
}

}  // namespace

std::uint64_t wealth(const model::World& world, const AccountId& account) {
    const auto person = world.people.find(account);
    std::uint64_t sum = person == world.people.end() ? 0 : person->second.balance;
    for (const auto& [key, stake] : world.stakes) {
        if (key.second == account) {
            sum += stake.free + stake.locked;
            for (const auto& part : stake.parts) {
                sum += part.amount;
            }
        }
    }
    return sum;
}

void Ledger::note_payment(const contracts::HistoryRecord& entry, const contracts::history::Paid& paid) {
    Payment payment{entry.task, paid.to, paid.amount.grains, paid.reason, std::nullopt};
    const bool is_won = paid.reason == Reason::kWonDispute || paid.reason == Reason::kAttestation;
    if (is_won && !fresh_.empty()) {
        payment.slash = fresh_.back();
    }
    payments_.push_back(payment);
}

void Ledger::note_block(
    const contracts::BlockOutcome& outcome, const std::vector<Bytes>& txs, const model::World& world
) {
    for (std::size_t i = 0; i < txs.size(); ++i) {
        const auto tx = codec::decode<contracts::Tx>(txs[i]);
        const contracts::Receipt& receipt = outcome.receipts[i];
        if (!tx || !receipt.is_charged) {
            continue;
        }
        if (honest.contains(receipt.sender)) {
            fees_ += to_signed(tx->body.fee.grains);
            continue;
        }
        const auto* transfer = std::get_if<contracts::Transfer>(&tx->body.action);
        if (transfer != nullptr && receipt.code == 0 && honest.contains(transfer->to)) {
            presents_ += to_signed(transfer->amount.grains);
        }
    }
    fresh_.clear();
    for (const contracts::HistoryRecord& entry : outcome.history) {
        if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
            fresh_.push_back(
                {entry.task, entry.height.value, slashed->from, slashed->amount.grains, slashed->reason,
                 !entry.tx.is_zero()}
            );
            if (slashed->reason == Reason::kUnserved) {
                shared_.insert({entry.task, entry.height.value});
            } else if (slashed->reason == Reason::kUnavailable && has_outvoted(world.tasks.at(entry.task), honest)) {
                outvoted_.insert(entry.task);
            }
        } else if (const auto* paid = std::get_if<contracts::history::Paid>(&entry.event)) {
            note_payment(entry, *paid);
        }
    }
    slashes_.insert(slashes_.end(), fresh_.begin(), fresh_.end());
    for (const auto& [key, stake] : world.stakes) {
        capital_ += honest.contains(key.second) ? stake.locked : 0;
    }
    for (const auto& [account, seat] : world.beacon.seats) {
        capital_ -= honest.contains(account) ? seat.bond : 0;  // a seat is kept for as long as one likes
    }
    for (const auto& [id, task] : world.tasks) {
        capital_ += honest.contains(task.submitter) ? task.escrow + task.room : 0;
    }
}

bool Ledger::is_shared(const Slash& slash) const {
    return slash.reason == Reason::kUnserved || (slash.reason == Reason::kRoom && slash.is_sent) ||
           (slash.reason == Reason::kMissedVerdict && shared_.contains({slash.task, slash.height}));
}

bool Ledger::is_for_honest(const Slash& slash, const model::World& world) const {
    return slash.reason == Reason::kRoom && honest.contains(world.tasks.at(slash.task).submitter);
}

Ledger::Flows Ledger::flows(const model::World& world, model::Workshop& shop) const {
    Flows sums;
    for (const Payment& payment : payments_) {
        const model::Task& task = world.tasks.at(payment.task);
        const bool from_honest = honest.contains(task.submitter);
        const bool to_honest = honest.contains(payment.to);
        const std::int64_t amount = to_signed(payment.amount);
        switch (payment.reason) {
            case Reason::kReward:
            case Reason::kVerificationFee:
            case Reason::kProfilingFee: {
                const bool is_invention = is_invented(task, honest, shop) && !is_by_accomplices(task, honest);
                const bool is_worth_it = !is_invention && task.state != TaskState::kRefused;
                sums.earned += from_honest && !to_honest && is_worth_it ? amount : 0;
                sums.bought += !from_honest && to_honest ? amount : 0;
                break;
            }
            case Reason::kJackpot:
                (to_honest ? sums.lucky : sums.jackpots) += amount;
                break;
            case Reason::kTax:
                sums.spent += from_honest ? amount : 0;
                break;
            case Reason::kRoom:
                sums.spent += from_honest && payment.to.is_zero() ? amount : 0;
                break;
            default:
                break;
        }
        if (payment.slash) {
            const bool of_honest = honest.contains(payment.slash->from);
            sums.won += to_honest && (!of_honest || is_excused(*payment.slash)) ? amount : 0;
            const bool was_missed = payment.slash->reason == Reason::kMissedDeadline;
            if (!to_honest && of_honest && is_excused(*payment.slash)) {
                (was_missed ? sums.away_gain : sums.open_gain) += amount;
            }
        }
    }
    return sums;
}

std::int64_t Ledger::dust(const model::World& world) const {
    std::int64_t sum = 0;
    for (const auto& [id, task] : world.tasks) {
        sum += honest.contains(task.submitter) && contracts::is_terminal(task.state)
                   ? to_signed(contracts::task_value(task.spec).grains)
                   : 0;
    }
    for (const Payment& payment : payments_) {
        const bool is_theirs = honest.contains(world.tasks.at(payment.task).submitter);
        sum -= is_theirs && is_from_escrow(payment.reason) ? to_signed(payment.amount) : 0;
    }
    return sum;
}

Balance Ledger::balance(const contracts::Genesis& genesis, const model::World& world, model::Workshop& shop) const {
    const Flows sums = flows(world, shop);
    Balance out;
    std::int64_t excused = 0;
    std::int64_t wasted = 0;  // draws for honest submitters that attackers declined: nobody's own choice
    for (const Slash& slash : slashes_) {
        const std::int64_t amount = to_signed(slash.amount);
        const bool is_in_house = is_for_honest(slash, world);
        if (honest.contains(slash.from)) {
            (is_excused(slash) ? excused : out.harm) += is_in_house ? 0 : amount;
            out.chance += is_outvoted(slash) ? amount : 0;
        } else if (is_in_house) {
            const std::int64_t draw = to_signed(genesis.params.draw_price.grains);
            out.harm += draw - amount;
            wasted += draw;
        }
    }
    for (const auto& [id, task] : world.tasks) {
        const bool ended_unpaid = task.state == TaskState::kConvicted || task.state == TaskState::kExpired;
        const bool all_posted = task.checkpoints.size() == contracts::segment_count(task.spec) + std::size_t{1};
        if (task.solver && honest.contains(*task.solver) && !away.contains(*task.solver) && ended_unpaid &&
            all_posted) {
            (outvoted_.contains(id) ? out.chance : out.unpaid) += to_signed(task.spec.reward.grains);
        }
        if (honest.contains(task.submitter) && is_invented(task, honest, shop)) {
            (is_by_accomplices(task, honest) ? out.chance : out.harm) +=
                to_signed(contracts::task_value(task.spec).grains);
        }
    }
    out.harm += out.unpaid + sums.away_gain;
    std::int64_t honest_wealth = 0;
    for (const auto& [account, balance] : genesis.balances) {
        const std::int64_t left = to_signed(wealth(world, account));
        if (honest.contains(account)) {
            honest_wealth += left;
        } else {
            out.paid += to_signed(balance.grains) - left;
        }
    }
    for (const auto& [id, task] : world.tasks) {
        // Nothing once it is over; an attacker's may be left that waits for its own solver's deadline.
        out.paid -= honest.contains(task.submitter) ? 0 : to_signed(task.escrow + task.room);
    }
    for (const auto& [account, person] : world.people) {
        // Given to somebody who was not there: makes up for nothing.
        out.paid -= genesis.balances.contains(account) ? 0 : to_signed(wealth(world, account));
    }
    out.paid += sums.earned + sums.jackpots + sums.open_gain - sums.bought - presents_;
    out.standing = honest_wealth + fees_ + sums.spent - wasted + dust(world) + sums.earned + excused - sums.away_gain -
                   sums.bought - sums.won - sums.lucky - presents_;
    out.capital = capital_;
    return out;
}

std::int64_t difference_of(const Balance& quiet, const Balance& attacked) {
    const Wide longer = attacked.capital > quiet.capital ? attacked.capital - quiet.capital : Wide{0};
    return quiet.standing - attacked.standing + attacked.unpaid +
           static_cast<std::int64_t>(longer * kCapitalRate / kCapitalUnit);
}

}  // namespace assay::liability
