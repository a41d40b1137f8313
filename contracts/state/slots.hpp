// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/overlay.hpp>
#include <contracts/state/state.hpp>

/// Every slot of the state by name and type (STA rules). Contracts reach the state through these functions only:
/// the slot of a record holds its Borsh bytes (STA-1).
namespace assay::contracts {

/// STA-2: the first byte of a key says what the slot holds.
enum class SlotKind : std::uint8_t {
    kParams = 1,
    kSupply = 2,
    kAccount = 3,
    kStake = 4,
    kTask = 5,
    kCheckpoint = 6,
    kDispute = 7,
    kValidator = 10,
    kProfile = 9,     ///< per task and place in its profiles: the published report
    kStakers = 16,    ///< per role: the accounts that may be drawn
    kValidators = 23,        ///< the accounts that have a record as a validator
    kConsensusAccount = 24,  ///< per address of the engine's: the account
    kDocket = 19,     ///< per task: what the rules remember of it besides its record
    kLineage = 20,    ///< per task: where its children are
    kTaints = 21,     ///< the descendants of the convicted that are still to be marked
    kTerms = 22,   ///< per role and account: the terms registered
    kBanned = 27,     ///< the accounts that signed twice
    kBeacon = 25,     ///< its seed, the contributors and the open round
    kDrawing = 26,    ///< what the open round draws for and from
    kBaseFee = 28,    ///< FEE-2: while it is not gas_price_min
    kAgenda = 29,     ///< BLK-3: per height and number what ends with that block; per height alone how much does
    kBacklog = 30,    ///< BLK-3: where the agenda goes on while a block could not end all that was due
    kQueue = 31,      ///< BCN-4: per queue and number a task that waits; per queue alone where it begins and ends
    kLane = 32,       ///< DTY-5: what the lane of duties has promised; no such slot while that is nothing
};

/// BCN-4: what a task waits for, in the order in which a round draws.
enum class Queue : std::uint8_t { kLottery = 1, kVerifiers = 2, kProfilers = 3, kSolver = 4 };
inline constexpr Queue kQueues[] = {Queue::kLottery, Queue::kVerifiers, Queue::kProfilers, Queue::kSolver};

namespace keys {
Bytes stakers(Role role);
Bytes agenda(Height height);
Bytes agenda(Height height, std::uint32_t number);
Bytes backlog();
Bytes queue(Queue queue);
Bytes queue(Queue queue, std::uint64_t number);
Bytes docket(const TaskId& task);
Bytes consensus_account(const ConsensusAddress& address);
Bytes lineage(const TaskId& task);
Bytes taints();
Bytes drawing();
Bytes lane();
}  // namespace keys

/// What has a deadline; TASK-18: kDraw, a task that is drawn for again.
enum class DueKind : std::uint8_t { kTask = 1, kDispute = 2, kUnbonding = 3, kDraw = 4 };
constexpr bool is_valid(DueKind k) { return k >= DueKind::kTask && k <= DueKind::kDraw; }

struct Due {
    DueKind kind = DueKind::kTask;
    Hash256 id;                ///< the task or dispute; the account of an unbonding
    Role role = Role::kSolver; ///< of an unbonding
    bool operator==(const Due&) const = default;
    static constexpr auto fields() { return Fields<&Due::kind, &Due::id, &Due::role>{}; }
};

/// An entry of the agenda that has come up.
struct Coming {
    Due due;
    Height height;  ///< for which it was entered: an earlier one than now while there is a backlog
};

/// BLK-3: the next entry of the agenda to be looked at.
struct Backlog {
    Height height;
    std::uint32_t next = 0;
    static constexpr auto fields() { return Fields<&Backlog::height, &Backlog::next>{}; }
};

/// A task that waits for a round.
struct Waiting {
    TaskId task;
    Height since;
    bool operator==(const Waiting&) const = default;
    static constexpr auto fields() { return Fields<&Waiting::task, &Waiting::since>{}; }
};

/// The numbers of the entries that a queue has: from `first` up to `end`.
struct QueueEnds {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    static constexpr auto fields() { return Fields<&QueueEnds::first, &QueueEnds::end>{}; }
};

/// DTY-5: what the lane of duties has promised, in units of gas: to answers that tasks may need, and to disputes that no task has
/// a place for.
struct Lane {
    std::uint64_t tasks = 0;
    std::uint64_t disputes = 0;
    bool operator==(const Lane&) const = default;
    static constexpr auto fields() { return Fields<&Lane::tasks, &Lane::disputes>{}; }
};

/// What the rules remember of a task that is not over, besides its public record (STA-4).
struct Docket {
    std::uint32_t draws = 0;        ///< TASK-18: that have failed, or fell on a solver that did not accept
    Height open_until;              ///< TASK-17: until then it waits for a solver; 0 before
    bool suspended = false;         ///< the task's deadline has passed and waits for what is open to end
    std::uint32_t stood_still = 0;  ///< DTY-8: for how many blocks its windows have stood still
    std::vector<DisputeId> disputes;  ///< open ones, in order of opening
    static constexpr auto fields() {
        return Fields<
            &Docket::draws, &Docket::open_until, &Docket::suspended, &Docket::stood_still, &Docket::disputes>{};
    }
};

/// A task's place in its family: children are a list through their siblings, the latest first (LIN-1).
struct Lineage {
    std::optional<TaskId> first_child;
    std::optional<TaskId> next_sibling;
    static constexpr auto fields() { return Fields<&Lineage::first_child, &Lineage::next_sibling>{}; }
};

/// LIN-4: `task`, its later siblings and their descendants are to be marked with `ancestor`.
struct Taint {
    TaskId task;
    TaskId ancestor;
    static constexpr auto fields() { return Fields<&Taint::task, &Taint::ancestor>{}; }
};

Params get_params(const StateView& view);
Supply get_supply(const StateView& view);
/// FEE-2: the price of a unit of gas in the block after this state.
Amount get_base_fee(const StateView& view, const Params& params);
/// All zeros for an account that never had money.
Account get_account(const StateView& view, const AccountId& account);
Stake get_stake(const StateView& view, Role role, const AccountId& account);
std::optional<Task> find_task(const StateView& view, const TaskId& task);
std::optional<Checkpoint> find_checkpoint(const StateView& view, const TaskId& task, std::uint32_t index);
std::optional<Dispute> find_dispute(const StateView& view, const DisputeId& dispute);
std::optional<ProfileReport> find_profile(const StateView& view, const TaskId& task, std::uint32_t place);
std::vector<AccountId> get_stakers(const StateView& view, Role role);
QueueEnds get_queue(const StateView& view, Queue queue);
std::optional<Waiting> find_waiting(const StateView& view, Queue queue, std::uint64_t number);
std::uint32_t get_agenda_size(const StateView& view, Height height);
std::optional<Due> find_agenda(const StateView& view, Height height, std::uint32_t number);
std::optional<Backlog> find_backlog(const StateView& view);
std::optional<Validator> find_validator(const StateView& view, const AccountId& account);
/// VAL-1: the accounts that are on the list, sorted.
std::vector<AccountId> get_validators(const StateView& view);
std::optional<AccountId> find_consensus_account(const StateView& view, const ConsensusAddress& address);
Docket get_docket(const StateView& view, const TaskId& task);
RegisteredTerms get_terms(const StateView& view, Role role, const AccountId& account);
Lineage get_lineage(const StateView& view, const TaskId& task);
std::vector<Taint> get_taints(const StateView& view);
Beacon get_beacon(const StateView& view);
/// Of the open round.
Drawing get_drawing(const StateView& view);
Lane get_lane(const StateView& view);

void set_params(Overlay& state, const Params& params);
void set_supply(Overlay& state, const Supply& supply);
void set_base_fee(Overlay& state, const Params& params, Amount base_fee);
void set_account(Overlay& state, const AccountId& id, const Account& account);
/// Empties the slot when nothing is left of the stake. The registry of stakers is the stake contract's business.
void set_stake(Overlay& state, Role role, const AccountId& id, const Stake& stake);
void set_task(Overlay& state, const Task& task);
void set_checkpoint(Overlay& state, const TaskId& task, std::uint32_t index, const Checkpoint& checkpoint);
void set_dispute(Overlay& state, const Dispute& dispute);
void set_profile(Overlay& state, const TaskId& task, std::uint32_t place, const ProfileReport& report);
void set_stakers(Overlay& state, Role role, const std::vector<AccountId>& stakers);
void set_validator(Overlay& state, const AccountId& id, const Validator& validator);
/// On the list and by the key's address; a record that was there stays as it is.
void register_validator(Overlay& state, const AccountId& id, const ConsensusKey& key);
/// Off the list; the record stays.
void unlist_validator(Overlay& state, const AccountId& id);
/// VAL-5: off the list and among the banned.
void ban_validator(Overlay& state, const AccountId& id);
void set_docket(Overlay& state, const TaskId& task, const Docket& docket);
void erase_docket(Overlay& state, const TaskId& task);
/// Empties the slot when the class is 0.
void set_terms(Overlay& state, Role role, const AccountId& account, const RegisteredTerms& registered);
void set_lineage(Overlay& state, const TaskId& task, const Lineage& lineage);
void set_taints(Overlay& state, const std::vector<Taint>& taints);
void set_beacon(Overlay& state, const Beacon& beacon);
void set_drawing(Overlay& state, const Drawing& drawing);
void erase_drawing(Overlay& state);
void set_lane(Overlay& state, const Lane& lane);

/// BCN-4: behind those that wait already.
void push_waiting(Overlay& state, Queue queue, const Waiting& waiting);
/// The one that has waited longest; nullopt when none does.
std::optional<Waiting> front_waiting(const StateView& view, Queue queue);
/// Of a queue that has one.
void pop_waiting(Overlay& state, Queue queue);

/// BLK-3: enters `due` for a height that is still to come. Nothing is ever struck out: what has another deadline by then is
/// passed over when it comes up.
void enter_agenda(Overlay& state, const Due& due, Height height);
/// Gives what is `due` another deadline; height 0: none.
void set_deadline(Overlay& state, const Due& due, Height& deadline, Height to);
/// Takes the next entry for a height up to `now` out of the agenda; nullopt when there is none. Entries come up in the order of
/// their heights, those of one height as they were entered.
std::optional<Coming> pop_agenda(Overlay& state, Height now);

/// The same 32 bytes under another name.
template <class To, class From>
To retag(const From& from) {
    return To{from.data};
}

/// The queue in which the task may wait in its present state; nullopt when it waits for nothing.
std::optional<Queue> queue_of(const Task& task) noexcept;

}  // namespace assay::contracts
