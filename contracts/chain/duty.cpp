// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/duty.hpp>

#include <algorithm>
#include <variant>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/chain/router.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/verification/verification.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

namespace assay::contracts {
namespace {

/// When the opening of a verdict that was challenged is due (DSP-42); nullopt: it is not challenged.
std::optional<Height> challenged_until(const StateView& view, const Task& task, const Assignment& assignment) {
    std::optional<Height> until;
    for (const Dispute& dispute : disputes_of(view, task.id, assignment)) {
        if (dispute.state() == DisputeState::kAwaiting) {
            until = until ? std::min(*until, dispute.deadline()) : dispute.deadline();
        }
    }
    return until;
}

struct Finder {
    const StateView& view;
    const Params& params;
    const AccountId& sender;

    template <class A>
    std::optional<Duty> operator()(const A& action) const {
        constexpr Owed kOwed = A::kAnswer.owed;
        if constexpr (kOwed == Owed::kRound) {
            return in_round();
        } else if constexpr (kOwed == Owed::kMove) {
            return in_dispute(action.dispute);
        } else if constexpr (kOwed == Owed::kVerdict || kOwed == Owed::kDisclosure) {
            return in_task(action.task, action.segment, kOwed == Owed::kDisclosure);
        } else if constexpr (kOwed == Owed::kTask) {
            return in_task(action.task, 0, false);
        } else {
            return std::nullopt;
        }
    }

    std::optional<Duty> in_round() const {
        const Beacon beacon = get_beacon(view);
        if (!beacon.round) {
            return std::nullopt;
        }
        return Duty{sender, {}, 0, Height{beacon.round->opened_at.value + params.contribute_blocks}};
    }

    /// The party whose clock runs; a proof by the other is a right.
    std::optional<Duty> in_dispute(const DisputeId& id) const {
        const auto dispute = find_dispute(view, id);
        if (!dispute || !dispute->game() ||
            sender != (is_responders_turn(*dispute) ? dispute->responder : dispute->challenger)) {
            return std::nullopt;
        }
        return Duty{sender, retag<Hash256>(id), 0, dispute->deadline()};
    }

    std::optional<Duty> in_task(const TaskId& id, std::uint32_t segment, bool is_disclosure) const {
        const auto task = find_task(view, id);
        if (!task) {
            return std::nullopt;
        }
        Height due = task->deadline;
        if (is_disclosure) {
            const auto place = find_assignment(*task, segment, sender);
            due = place ? challenged_until(view, *task, task->assignments[*place]).value_or(due) : due;
        }
        return Duty{sender, retag<Hash256>(id), segment, due};
    }
};

}  // namespace

bool is_answer(const TxBody& body) noexcept { return body.fee.grains == 0; }

std::optional<Duty> find_duty(
    const StateView& view, const Params& params, const AccountId& sender, const Action& action
) noexcept {
    return std::visit(Finder{view, params, sender}, action);
}

Result<Duty, TxError> check_answer(
    const StateView& view, const Params& params, const TxBody& body, std::size_t size_bytes, Height height
) noexcept {
    const Answer answer = answer_of(body.action);
    if (answer.owed == Owed::kNothing) {
        return Unexpected{TxError::kFeeTooLow};  // DTY-1
    }
    if (size_bytes > answer.bytes_max) {
        return Unexpected{TxError::kTooLarge};  // DTY-1
    }
    TRY(check_authority(view, body));  // OPR-4
    const auto duty = find_duty(view, params, body.actor(), body.action);
    if (!duty || duty->due.value != body.nonce) {
        return Unexpected{TxError::kNotOwed};  // DTY-2
    }
    TRY(check_action_stateful(view, params, body.actor(), body.action));
    TRY(check_action_costly(view, body.action));
    TRY(check_action_owed(view, params, body.actor(), body.action, height));
    return *duty;
}

}  // namespace assay::contracts
