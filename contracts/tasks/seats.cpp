// SPDX-License-Identifier: Apache-2.0
#include <contracts/tasks/seats.hpp>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/stake/terms.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

namespace assay::contracts {
namespace {

struct SeatsClaim {
    std::string chain_id;
    TaskId task;
    AccountId lead;
    std::vector<AccountId> seats;
    bool is_together = false;
    std::uint32_t from = 0;
    static constexpr auto fields() {
        return Fields<
            &SeatsClaim::chain_id, &SeatsClaim::task, &SeatsClaim::lead, &SeatsClaim::seats, &SeatsClaim::is_together,
            &SeatsClaim::from>{};
    }
};

/// TASK-6, HW-3, ENV-3: whether a draw could fall on the account for such a task.
bool is_listed(const StateView& view, const Task& task, const AccountId& account) {
    return !get_stake(view, Role::kSolver, account).is_unlisted &&
           is_suited(get_terms(view, Role::kSolver, account).terms, task.spec);
}

/// GRP-4: the height from which the turn of who posts next counts: of the last checkpoint, or of the acceptance.
Height turn_began_at(const StateView& view, const Task& task) {
    return task.checkpoints == 0 ? Height{task.deadline.value - task.spec.training_blocks}
                                 : find_checkpoint(view, task.id, task.checkpoints - 1).value().height;
}

}  // namespace

Hash256 seats_claim(const std::string& chain_id, const SeatsTerms& terms) {
    static const crypto::TaggedHash kTag("assay/seats");  // GRP-2
    return kTag(codec::encode(SeatsClaim{
        chain_id, terms.task, terms.seats.front(), terms.seats, terms.is_together, terms.from}));
}

Result<void, TxError> check_signatures(
    const std::string& chain_id, const SeatsTerms& terms, const std::vector<Signature>& signatures
) noexcept {
    const std::vector<AccountId> partners = partners_of(terms.seats);
    if (partners.size() != signatures.size()) {
        return Unexpected{TxError::kSeatsNotSigned};
    }
    const Hash256 claim = seats_claim(chain_id, terms);
    for (std::size_t i = 0; i < partners.size(); ++i) {
        if (!crypto::verify_signature(partners[i], claim.view(), signatures[i])) {
            return Unexpected{TxError::kSeatsNotSigned};
        }
    }
    return {};
}

std::vector<AccountId> partners_of(const std::vector<AccountId>& seats) {
    std::vector<AccountId> partners;
    partners.reserve(seats.size());
    for (const AccountId& account : seats) {
        const bool is_new = std::find(partners.begin(), partners.end(), account) == partners.end();
        if (is_new && account != seats.front()) {
            partners.push_back(account);
        }
    }
    return partners;
}

Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& lead, const AcceptTask& action
) noexcept {
    // GRP-2
    if (action.seats.empty()) {
        const bool is_alone = action.signatures.empty() && !action.is_together;
        return is_alone ? Result<void, TxError>() : Unexpected{TxError::kSeatsInvalid};
    }
    const std::vector<AccountId> partners = partners_of(action.seats);
    const bool is_crowd = action.is_together && partners.size() >= kMaxMembersTogether;
    if (action.seats.front() != lead || partners.empty() || is_crowd) {
        return Unexpected{TxError::kSeatsInvalid};
    }
    const SeatsTerms terms{.task = action.task, .seats = action.seats, .is_together = action.is_together};
    return check_signatures(chain_id, terms, action.signatures);
}

Result<void, TxError> check_owed(
    const StateView& /*view*/, const Params& /*params*/, const AccountId& /*sender*/, const AcceptTask& action,
    Height /*height*/
) noexcept {
    if (!action.seats.empty()) {
        return Unexpected{TxError::kFeeTooLow};  // GRP-2
    }
    return {};
}

Result<void, TxError> check_partner(
    const StateView& view, const Params& params, const Task& task, const AccountId& partner
) noexcept {
    if (!is_listed(view, task, partner)) {
        return Unexpected{TxError::kSeatsInvalid};
    }
    return check_free_stake(view, Role::kSolver, partner, member_bond(params, task_value(task.spec)));
}

Result<void, TxError> check_seats(
    const StateView& view, const Params& params, const Task& task, const std::vector<AccountId>& seats
) noexcept {
    if (seats.empty()) {
        return {};
    }
    if (seats.size() > task.spec.members) {
        return Unexpected{TxError::kSeatsInvalid};
    }
    for (const AccountId& partner : partners_of(seats)) {
        TRY(check_partner(view, params, task, partner));
    }
    return {};
}

void form_group(Context& context, Task& task, const AcceptTask& action) {
    const std::vector<AccountId>& seats = action.seats;
    if (seats.empty()) {
        return;
    }
    const Amount bond = member_bond(context.params, task_value(task.spec));
    const std::vector<AccountId> partners = partners_of(seats);
    Group& group = task.group.emplace();
    group.is_together = action.is_together;
    group.partners.reserve(partners.size());
    for (const AccountId& partner : partners) {
        lock_stake(context, Role::kSolver, partner, bond);
        group.partners.push_back({partner, bond});
    }
    group.seats.reserve(seats.size());
    for (const AccountId& account : seats) {
        group.seats.push_back(find_member(task, account).value());
    }
}

Result<Task, TxError> require_trained_task(const StateView& view, const TaskId& id, const AccountId& sender) noexcept {
    TRY_ASSIGN(Task task, require_task(view, id));
    TRY(require_state(task, TaskState::kTraining, TaskState::kTraining));
    if (!is_member(task, sender)) {
        return Unexpected{TxError::kNotSolver};  // TASK-5
    }
    return task;
}

Result<Task, TxError> require_task_to_post(const StateView& view, const TaskId& id, const AccountId& sender) noexcept {
    TRY_ASSIGN(Task task, require_trained_task(view, id, sender));
    const std::uint8_t number = task.group ? find_member(task, sender).value() : 0;
    if (number != 0 && was_convicted(*task.group, number)) {
        return Unexpected{TxError::kNotSolver};  // GRP-4: what is left of its bond is burned in any case (STM-12)
    }
    return task;
}

Result<void, TxError> check_turn(
    const StateView& view, const TaskId& id, const AccountId& sender, Height height
) noexcept {
    const Task task = find_task(view, id).value();
    const std::uint64_t open_from = turn_began_at(view, task).value + turn_blocks(task);
    if (owner_of(task, task.checkpoints) != sender && height.value < open_from) {
        return Unexpected{TxError::kNotNext};  // GRP-4
    }
    return {};
}

}  // namespace assay::contracts
