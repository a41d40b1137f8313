// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/fixture.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

/// Scans a whole state for what must hold of it.
namespace assay::contracts::test {

namespace {

/// Everything in the state that the scan sums up or cross-checks.
struct Scan {
    std::uint64_t money = 0;
    Supply supply;
    std::map<std::pair<Role, AccountId>, std::uint64_t> locked;
    std::map<std::pair<Role, AccountId>, std::uint64_t> held;
    std::map<TaskId, Task> tasks;
    std::map<TaskId, std::set<Bytes>> open_disputes;  ///< as the bookkeeping has to have them
    std::string fault;

    void blame(const std::string& what) {
        if (fault.empty()) {
            fault = what;
        }
    }
};

template <class T>
T decode_slot(const Bytes& value) {
    return codec::decode<T>(value).value();
}

/// What of a dispute never changes while it is open.
NotedDispute noted(const Dispute& dispute) {
    static const crypto::TaggedHash kTag("assay/claim");
    const auto* blame = dispute.accusation();
    return {
        .id = dispute.id,
        .responder = dispute.responder,
        .challenger = dispute.challenger,
        .claim = kTag(codec::encode(dispute.claim)),
        .is_answer = blame != nullptr && blame->answers.has_value()};
}

void scan_stake(Scan& scan, const Bytes& key, const Stake& stake) {
    AccountId account;
    std::copy(key.begin() + 2, key.end(), account.data.begin());
    scan.money += stake.free.grains + stake.locked.grains;
    for (const Unbonding& part : stake.unbonding) {
        scan.money += part.amount.grains;
    }
    if (stake.locked.grains != 0) {
        scan.locked[{static_cast<Role>(key[1]), account}] = stake.locked.grains;
    }
}

void scan_hold(Scan& scan, Role role, const AccountId& account, Amount amount) {
    if (amount.grains != 0) {
        scan.held[{role, account}] += amount.grains;
    }
}

void scan_task(Scan& scan, const Task& task) {
    scan.money += task.escrow.grains + task.room.grains;
    scan.tasks[task.id] = task;
    scan_hold(scan, Role::kSolver, task.solver.value_or(AccountId{}), task.solver_bond);
    if (task.group) {
        for (const Partner& partner : task.group->partners) {
            scan_hold(scan, Role::kSolver, partner.account, partner.bond);
        }
    }
    for (const Assignment& assignment : task.assignments) {
        scan_hold(scan, Role::kVerifier, assignment.verifier, add(assignment.bond, assignment.reserve));
    }
    if (task.tolerance) {
        for (const Profile& profile : task.tolerance->profiles) {
            scan_hold(scan, Role::kVerifier, profile.profiler, profile.bond);
        }
    }
    if (is_terminal(task.state) && task.escrow.grains + task.room.grains != 0) {
        scan.blame("an escrow in a task that is over");
    }
}

void scan_slot(Scan& scan, const Bytes& key, const Bytes& value) {
    switch (static_cast<SlotKind>(key[0])) {
        case SlotKind::kSupply:
            scan.supply = decode_slot<Supply>(value);
            scan.money += scan.supply.treasury.grains + scan.supply.burned.grains;
            break;
        case SlotKind::kAccount:
            scan.money += decode_slot<Account>(value).balance.grains;
            break;
        case SlotKind::kStake:
            scan_stake(scan, key, decode_slot<Stake>(value));
            break;
        case SlotKind::kTask:
            scan_task(scan, decode_slot<Task>(value));
            break;
        case SlotKind::kDispute: {
            const auto dispute = decode_slot<Dispute>(value);
            scan_hold(scan, dispute.challenger_role, dispute.challenger, dispute.challenger_bond);
            if (is_open(dispute.state())) {
                scan.open_disputes[dispute.task].insert(codec::encode(noted(dispute)));
            }
            break;
        }
        case SlotKind::kBeacon:
            for (const Seat& seat : decode_slot<Beacon>(value).seats) {
                scan_hold(scan, Role::kVerifier, seat.account, seat.bond);
            }
            break;
        default:
            break;
    }
}

bool is_on_agenda(const MapView& view, const Due& due, Height height) {
    for (std::uint32_t i = 0; i < get_agenda_size(view, height); ++i) {
        if (find_agenda(view, height, i) == due) {
            return true;
        }
    }
    return false;
}

/// Whether the task is in a queue, or in the open round, or is to be drawn for again.
bool waits(const MapView& view, const TaskId& id) {
    for (const Queue queue : kQueues) {
        const QueueEnds ends = get_queue(view, queue);
        for (std::uint64_t i = ends.first; i < ends.end; ++i) {
            if (find_waiting(view, queue, i)->task == id) {
                return true;
            }
        }
    }
    const auto drawing = get_drawing(view);
    const bool in_round =
        std::any_of(drawing.tasks.begin(), drawing.tasks.end(), [&](const TaskId& waiting) { return waiting == id; });
    const Bytes entry = codec::encode(Due{DueKind::kDraw, retag<Hash256>(id)});
    return in_round || std::any_of(view.slots().begin(), view.slots().end(), [&](const auto& slot) {
               return slot.first.front() == static_cast<std::uint8_t>(SlotKind::kAgenda) && slot.second == entry;
           });
}

void check_tasks(Scan& scan, const MapView& view, Height height) {
    for (const auto& [id, task] : scan.tasks) {
        std::set<Bytes> open;
        for (const NotedDispute& each : get_bookkeeping(view, id).disputes) {
            open.insert(codec::encode(each));
        }
        if (task.open_disputes != scan.open_disputes[id].size() || open != scan.open_disputes[id]) {
            scan.blame("a wrong number of open disputes, or others in the bookkeeping");
        }
        if (is_terminal(task.state) == view.get(keys::bookkeeping(id)).has_value()) {
            scan.blame("a bookkeeping without a task, or the reverse");
        }
        if (task.deadline.value == 0) {
            const bool may = is_terminal(task.state) || waits(view, id) || task.open_disputes != 0;
            if (!may) {
                scan.blame("a task that nothing will ever end");
            }
            continue;
        }
        const Due expected{DueKind::kTask, retag<Hash256>(id)};
        const bool is_late = task.deadline <= height && !find_backlog(view);
        if (is_late || !is_on_agenda(view, expected, task.deadline)) {
            scan.blame("a deadline that is not on the agenda");
        }
    }
}

}  // namespace

std::string find_fault(const MapView& view, Height height, const std::vector<HistoryRecord>& history) {
    Scan scan;
    for (const auto& [key, value] : view.slots()) {
        scan_slot(scan, key, value);
    }
    if (scan.money != scan.supply.genesis.grains) {
        scan.blame("supply: " + std::to_string(scan.money) + " of " + std::to_string(scan.supply.genesis.grains));
    }
    if (scan.locked != scan.held) {
        scan.blame("locked stake that nothing holds, or the reverse");
    }
    check_tasks(scan, view, height);
    std::map<TaskId, std::pair<std::uint32_t, Hash256>> chains;
    for (const HistoryRecord& entry : history) {
        auto& [count, root] = chains[entry.task];
        if (entry.index != count) {
            scan.blame("a history record out of order");
        }
        ++count;
        root = extend_history(root, entry);
    }
    for (const auto& [id, task] : scan.tasks) {
        if (chains[id] != std::pair{task.history_count, task.history_root}) {
            scan.blame("a history root that its records do not give");
        }
    }
    return scan.fault;
}

}  // namespace assay::contracts::test
