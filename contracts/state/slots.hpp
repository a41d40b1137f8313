// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/overlay.hpp>
#include <contracts/state/proposal.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/validator.hpp>

/// Typed access to every slot of the state (STA rules). Contracts access the state only through these functions. A
/// record's slot holds its Borsh bytes (STA-1).
namespace assay::contracts {

/// STA-2: the first byte of a slot's key, which says what the slot holds.
enum class SlotKind : std::uint8_t {
    kParams = 1,
    kSupply = 2,
    kAccount = 3,
    kStake = 4,
    kTask = 5,
    kCheckpoint = 6,
    kDispute = 7,
    kValidator = 10,
    kProfile = 9,            ///< per task and profiler index: the published report
    kStakers = 16,           ///< per role: the stakers that are listed for draws
    kValidators = 23,        ///< accounts that are registered as validators
    kConsensusAccount = 24,  ///< per consensus address: the account
    kBookkeeping = 19,       ///< per task: internal data besides its public record
    kLineage = 20,           ///< per task: links to its children and siblings
    kTaints = 21,            ///< descendants of convicted tasks that are not marked yet
    kTerms = 22,             ///< per role and account: registered terms
    kBanned = 27,            ///< accounts that are banned for double signing
    kBeacon = 25,            ///< seed, contributors and open round
    kDrawing = 26,           ///< tasks and candidates of the open round
    kBaseFee = 28,           ///< FEE-2: absent while it equals gas_price_min
    /// BLK-3: per height and number: a deadline that expires with that block; per height alone: the number of such
    /// deadlines.
    kAgenda = 29,
    kBacklog = 30,    ///< BLK-3: where to continue in the agenda after a block that could not process every due entry
    kQueue = 31,      ///< BCN-4: per queue and number: a waiting task; per queue alone: the queue's bounds
    kProposal = 33,   ///< GOV-5: per id: an open proposal
    kProposals = 34,  ///< GOV-5: list of open proposals
    kPlans = 35,      ///< GOV-8: planned upgrades and halts, by height
    kOperator = 36,   ///< OPR-1: per account: its operator; absent while it has none
    kLane = 32,       ///< DTY-5: capacity reserved in the lane of duties; absent while nothing is reserved
};

/// BCN-4: what a task is waiting for, in the order in which a round processes its draws.
enum class Queue : std::uint8_t { kLottery = 1, kVerifiers = 2, kProfilers = 3, kSolver = 4, kShow = 5 };
inline constexpr Queue kQueues[] = {
    Queue::kLottery, Queue::kVerifiers, Queue::kProfilers, Queue::kSolver, Queue::kShow};

namespace keys {
Bytes stakers(Role role);
Bytes agenda(Height height);
Bytes agenda(Height height, std::uint32_t number);
Bytes backlog();
Bytes queue(Queue queue);
Bytes queue(Queue queue, std::uint64_t number);
Bytes bookkeeping(const TaskId& task);
Bytes consensus_account(const ConsensusAddress& address);
Bytes lineage(const TaskId& task);
Bytes taints();
Bytes drawing();
Bytes lane();
Bytes proposal(const ProposalId& proposal);
Bytes proposals();
Bytes plans();
}  // namespace keys

/// What kind of object has a deadline. kDraw (TASK-18): a pause ends after which the task is queued for another draw.
enum class DueKind : std::uint8_t { kTask = 1, kDispute = 2, kUnbonding = 3, kDraw = 4, kProposal = 5 };
constexpr bool is_valid(DueKind k) { return k >= DueKind::kTask && k <= DueKind::kProposal; }

struct Due {
    DueKind kind = DueKind::kTask;
    Hash256 id;                 ///< the task, dispute or proposal; for unbonding, the account
    Role role = Role::kSolver;  ///< for unbonding only
    bool operator==(const Due&) const = default;
    static constexpr auto fields() { return Fields<&Due::kind, &Due::id, &Due::role>{}; }
};

/// An agenda entry that is due.
struct Coming {
    Due due;
    Height height;  ///< the height that it was scheduled for; earlier than the current one if there is a backlog
};

/// BLK-3: position of the next agenda entry to process.
struct Backlog {
    Height height;
    std::uint32_t next = 0;
    static constexpr auto fields() { return Fields<&Backlog::height, &Backlog::next>{}; }
};

/// A task in a queue for a beacon round.
struct Waiting {
    TaskId task;
    Height since;
    bool operator==(const Waiting&) const = default;
    static constexpr auto fields() { return Fields<&Waiting::task, &Waiting::since>{}; }
};

/// The entry numbers in a queue: from `first` (inclusive) to `end` (exclusive).
struct QueueEnds {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    static constexpr auto fields() { return Fields<&QueueEnds::first, &QueueEnds::end>{}; }
};

/// DTY-5: capacity reserved in the lane of duties, in gas: for answers that tasks may need, and for disputes that have
/// no place reserved by a task.
struct Lane {
    std::uint64_t tasks = 0;
    std::uint64_t disputes = 0;
    bool operator==(const Lane&) const = default;
    static constexpr auto fields() { return Fields<&Lane::tasks, &Lane::disputes>{}; }
};

/// What every move of a task's disputes asks of all that are open, so that it need not read each of them (DSP-32,
/// STM-9). None of it changes.
struct NotedDispute {
    DisputeId id;
    AccountId responder;
    AccountId challenger;
    Hash256 claim;           ///< claim_hash of the disputed claim
    bool is_answer = false;  ///< an accusation that answers a dispute (STM-9)
    static constexpr auto fields() {
        return Fields<
            &NotedDispute::id, &NotedDispute::responder, &NotedDispute::challenger, &NotedDispute::claim,
            &NotedDispute::is_answer>{};
    }
};
NotedDispute note_of(const Dispute& dispute) noexcept;

/// Internal data about a task that has not ended, besides its public record (STA-4).
struct TaskBookkeeping {
    std::uint32_t draws = 0;  ///< TASK-18: draws that failed, or whose solver did not accept
    Height open_until;        ///< TASK-17: deadline for finding a solver; 0 before the task is open
    bool suspended = false;   ///< whether the task's deadline has passed and is suspended until its open disputes end
    std::uint32_t stood_still = 0;       ///< DTY-8: number of blocks by which its windows were extended
    std::vector<NotedDispute> disputes;  ///< in the order in which they were opened
    static constexpr auto fields() {
        return Fields<
            &TaskBookkeeping::draws, &TaskBookkeeping::open_until, &TaskBookkeeping::suspended,
            &TaskBookkeeping::stood_still, &TaskBookkeeping::disputes>{};
    }
};

/// A task's place in the lineage tree. Children form a linked list through `next_sibling`, newest first (LIN-1).
struct Lineage {
    std::optional<TaskId> first_child;
    std::optional<TaskId> next_sibling;
    static constexpr auto fields() { return Fields<&Lineage::first_child, &Lineage::next_sibling>{}; }
};

/// LIN-4: pending work: mark `task`, the siblings after it in the list and their descendants with `ancestor`.
struct Taint {
    TaskId task;
    TaskId ancestor;
    static constexpr auto fields() { return Fields<&Taint::task, &Taint::ancestor>{}; }
};

Params get_params(const StateView& view);
Supply get_supply(const StateView& view);
/// FEE-2: the price of a unit of gas in the block after this state, at least gas_price_min.
Amount get_base_fee(const StateView& view, const Params& params);
/// Returns zeros for an account that does not exist.
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
/// VAL-1: the listed accounts, sorted.
std::vector<AccountId> get_validators(const StateView& view);
std::optional<AccountId> find_consensus_account(const StateView& view, const ConsensusAddress& address);
TaskBookkeeping get_bookkeeping(const StateView& view, const TaskId& task);
RegisteredTerms get_terms(const StateView& view, Role role, const AccountId& account);
Lineage get_lineage(const StateView& view, const TaskId& task);
std::vector<Taint> get_taints(const StateView& view);
Beacon get_beacon(const StateView& view);
/// The candidates and tasks of the open round.
Drawing get_drawing(const StateView& view);
Lane get_lane(const StateView& view);
std::optional<Proposal> find_proposal(const StateView& view, const ProposalId& id);
std::vector<OpenProposal> get_proposals(const StateView& view);
std::vector<Plan> get_plans(const StateView& view);
/// OPR-1: the account that may act for `owner`; nullopt if it has named none.
std::optional<AccountId> find_operator(const StateView& view, const AccountId& owner);

void set_params(Overlay& state, const Params& params);
void set_supply(Overlay& state, const Supply& supply);
void set_base_fee(Overlay& state, const Params& params, Amount base_fee);
void set_account(Overlay& state, const AccountId& id, const Account& account);
/// Erases the slot if the stake is empty. Does not update the registry of stakers; the stake contract does.
void set_stake(Overlay& state, Role role, const AccountId& id, const Stake& stake);
void set_task(Overlay& state, const Task& task);
void set_checkpoint(Overlay& state, const TaskId& task, std::uint32_t index, const Checkpoint& checkpoint);
void set_dispute(Overlay& state, const Dispute& dispute);
void set_profile(Overlay& state, const TaskId& task, std::uint32_t place, const ProfileReport& report);
void set_stakers(Overlay& state, Role role, const std::vector<AccountId>& stakers);
void set_validator(Overlay& state, const AccountId& id, const Validator& validator);
/// Lists the account, and indexes it by the key's address. An existing validator record is not changed.
void register_validator(Overlay& state, const AccountId& id, const ConsensusKey& key);
/// Removes the account from the list; its record stays.
void unlist_validator(Overlay& state, const AccountId& id);
/// VAL-5: removes the account from the list and adds it to the banned accounts.
void ban_validator(Overlay& state, const AccountId& id);
void set_bookkeeping(Overlay& state, const TaskId& task, const TaskBookkeeping& bookkeeping);
void erase_bookkeeping(Overlay& state, const TaskId& task);
/// Erases the slot if all terms have their default value.
void set_terms(Overlay& state, Role role, const AccountId& account, const RegisteredTerms& registered);
void set_lineage(Overlay& state, const TaskId& task, const Lineage& lineage);
void set_taints(Overlay& state, const std::vector<Taint>& taints);
void set_beacon(Overlay& state, const Beacon& beacon);
void set_drawing(Overlay& state, const Drawing& drawing);
void erase_drawing(Overlay& state);
void set_lane(Overlay& state, const Lane& lane);
/// Stores the proposal, and lists it if it is new. The proposer must have no other one.
void set_proposal(Overlay& state, const ProposalId& id, const Proposal& proposal);
void erase_proposal(Overlay& state, const ProposalId& id, const AccountId& proposer);
void set_plans(Overlay& state, const std::vector<Plan>& plans);
/// Erases the slot if `account` is absent.
void set_operator(Overlay& state, const AccountId& owner, const std::optional<AccountId>& account);

/// BCN-4: appends to the end of the queue.
void push_waiting(Overlay& state, Queue queue, const Waiting& waiting);
/// The entry that has waited longest; nullopt if the queue is empty.
std::optional<Waiting> front_waiting(const StateView& view, Queue queue);
/// Removes the front entry. The queue must not be empty.
void pop_waiting(Overlay& state, Queue queue);

/// BLK-3: schedules `due` for a future height. Entries are never removed early: if the deadline has changed by then,
/// the entry is ignored when it comes up.
void enter_agenda(Overlay& state, const Due& due, Height height);
/// Sets `deadline` of `due` to `to` and schedules it; height 0 means no deadline.
void set_deadline(Overlay& state, const Due& due, Height& deadline, Height to);
/// Removes and returns the next agenda entry for a height up to `now`; nullopt if there is none. Entries come in the
/// order of their heights, and within one height in the order in which they were scheduled.
std::optional<Coming> pop_agenda(Overlay& state, Height now);

/// Converts between types that hold the same 32 bytes.
template <class To, class From>
To retag(const From& from) {
    return To{from.data};
}

/// The queue that the task belongs to in its current state; nullopt if it is not waiting for a draw.
std::optional<Queue> queue_of(const Task& task) noexcept;

}  // namespace assay::contracts
