// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/chain/overlay.hpp>
#include <contracts/chain/state.hpp>

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
    kChallenge = 8,
    kValidator = 10,
    kProfile = 9,     ///< per task and place in its profiles: the published report
    kStakers = 16,    ///< per role: the accounts that may be drawn
    kWaiting = 17,    ///< the tasks that wait for a draw
    kDeadlines = 18,  ///< per height: what ends with that block
    kValidators = 23,        ///< the accounts that have a record as a validator
    kConsensusAccount = 24,  ///< per address of the engine's: the account
    kDocket = 19,     ///< per task: what the rules remember of it besides its record
    kLineage = 20,    ///< per task: where its children are
    kTaints = 21,     ///< the descendants of the convicted that are still to be marked
    kHardware = 22,   ///< per role and account: the machine registered
    kBeacon = 25,     ///< its seed, the contributors and the open round
    kDrawing = 26,    ///< what the open round draws for and from
};

namespace keys {
Bytes stakers(Role role);
Bytes waiting();
Bytes deadlines(Height height);
Bytes docket(const TaskId& task);
Bytes consensus_account(const ConsensusAddress& address);
Bytes lineage(const TaskId& task);
Bytes taints();
Bytes drawing();
}  // namespace keys

/// What has a deadline.
enum class DueKind : std::uint8_t { kTask = 1, kDispute = 2, kChallenge = 3, kUnbonding = 4 };
constexpr bool is_valid(DueKind k) { return k >= DueKind::kTask && k <= DueKind::kUnbonding; }

struct Due {
    DueKind kind = DueKind::kTask;
    Hash256 id;                ///< the task, dispute or challenge; the account of an unbonding
    Role role = Role::kSolver; ///< of an unbonding
    bool operator==(const Due&) const = default;
    static constexpr auto fields() { return Fields<&Due::kind, &Due::id, &Due::role>{}; }
};

/// What the rules remember of a task that is not over, besides its public record (STA-4).
struct Docket {
    std::vector<AccountId> lapsed;  ///< solvers that were drawn and did not accept, the latest kMaxLapsed
    Height draw_after;              ///< kProfiling, kCompleted: the round of the draw opens in a later block than this
    bool suspended = false;         ///< the task's deadline has passed and waits for what is open to end
    std::vector<DisputeId> disputes;      ///< open ones, in order of opening
    std::vector<ChallengeId> challenges;  ///< likewise
    static constexpr auto fields() {
        return Fields<
            &Docket::lapsed, &Docket::draw_after, &Docket::suspended, &Docket::disputes, &Docket::challenges>{};
    }
};
inline constexpr std::size_t kMaxLapsed = 32;

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
/// All zeros for an account that never had money.
Account get_account(const StateView& view, const AccountId& account);
Stake get_stake(const StateView& view, Role role, const AccountId& account);
std::optional<Task> find_task(const StateView& view, const TaskId& task);
std::optional<Checkpoint> find_checkpoint(const StateView& view, const TaskId& task, std::uint32_t index);
std::optional<Dispute> find_dispute(const StateView& view, const DisputeId& dispute);
std::optional<Challenge> find_challenge(const StateView& view, const ChallengeId& challenge);
std::optional<ProfileReport> find_profile(const StateView& view, const TaskId& task, std::uint32_t place);
std::vector<AccountId> get_stakers(const StateView& view, Role role);
std::vector<TaskId> get_waiting(const StateView& view);
std::vector<Due> get_deadlines(const StateView& view, Height height);
std::optional<Validator> find_validator(const StateView& view, const AccountId& account);
/// Sorted.
std::vector<AccountId> get_validators(const StateView& view);
std::optional<AccountId> find_consensus_account(const StateView& view, const ConsensusAddress& address);
Docket get_docket(const StateView& view, const TaskId& task);
Hardware get_hardware(const StateView& view, Role role, const AccountId& account);
Lineage get_lineage(const StateView& view, const TaskId& task);
std::vector<Taint> get_taints(const StateView& view);
Beacon get_beacon(const StateView& view);
/// Of the open round.
Drawing get_drawing(const StateView& view);

void set_params(Overlay& state, const Params& params);
void set_supply(Overlay& state, const Supply& supply);
void set_account(Overlay& state, const AccountId& id, const Account& account);
/// Empties the slot when nothing is left of the stake. The registry of stakers is the stake contract's business.
void set_stake(Overlay& state, Role role, const AccountId& id, const Stake& stake);
void set_task(Overlay& state, const Task& task);
void set_checkpoint(Overlay& state, const TaskId& task, std::uint32_t index, const Checkpoint& checkpoint);
void set_dispute(Overlay& state, const Dispute& dispute);
void set_challenge(Overlay& state, const Challenge& challenge);
void set_profile(Overlay& state, const TaskId& task, std::uint32_t place, const ProfileReport& report);
void set_stakers(Overlay& state, Role role, const std::vector<AccountId>& stakers);
void set_validator(Overlay& state, const AccountId& id, const Validator& validator);
/// A new record, in the list and by its address.
void register_validator(Overlay& state, const AccountId& id, const ConsensusKey& key);
void set_docket(Overlay& state, const TaskId& task, const Docket& docket);
void erase_docket(Overlay& state, const TaskId& task);
/// Empties the slot when the class is 0.
void set_hardware(Overlay& state, Role role, const AccountId& account, const Hardware& hardware);
void set_lineage(Overlay& state, const TaskId& task, const Lineage& lineage);
void set_taints(Overlay& state, const std::vector<Taint>& taints);
void set_beacon(Overlay& state, const Beacon& beacon);
void set_drawing(Overlay& state, const Drawing& drawing);
void erase_drawing(Overlay& state);

/// The list of tasks that wait for a draw, the lottery included, in the order in which they began to wait.
void add_waiting(Overlay& state, const TaskId& task);
void remove_waiting(Overlay& state, const TaskId& task);

/// Moves `due` from the deadline `from` to `to`; height 0 means no deadline. Adding twice is adding once.
void move_deadline(Overlay& state, const Due& due, Height from, Height to);
void clear_deadlines(Overlay& state, Height height);

/// The same 32 bytes under another name.
template <class To, class From>
To retag(const From& from) {
    return To{from.data};
}

}  // namespace assay::contracts
