// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <contracts/state/slots.hpp>
#include <contracts/state/validator.hpp>

/// The state of the chain as plain records, which the reference model computes and the chain's slots are read into.
/// Money is in grains, spans and heights in blocks; height 0 is none.
namespace assay::model {

using contracts::DisputeId;
using contracts::Role;
using contracts::TaskId;

struct Person {
    std::uint64_t balance = 0;
    std::uint64_t nonce = 0;
    bool operator==(const Person&) const = default;
};

struct Part {
    std::uint64_t height = 0;  ///< of release
    std::uint64_t time_ms = 0;
    std::uint64_t amount = 0;
    bool operator==(const Part&) const = default;
};

struct Stake {
    std::uint64_t free = 0;
    std::uint64_t locked = 0;
    std::vector<Part> parts;  ///< unbonding
    bool unlisted = false;
    std::uint64_t declined_until = 0;
    std::uint64_t declined_value = 0;
    std::optional<TaskId> offer;
    bool operator==(const Stake&) const = default;
};
using StakeKey = std::pair<Role, AccountId>;

struct Machine {
    contracts::Terms terms;
    std::uint64_t score = 0;
    std::uint64_t since = 0;
    bool operator==(const Machine&) const = default;
};

struct Duty {
    std::uint32_t segment = 0;
    AccountId verifier;
    contracts::VerdictStatus status = contracts::VerdictStatus::kDue;
    std::uint64_t bond = 0;
    Hash256 commitment;
    std::uint64_t reserve = 0;   ///< DSP-46
    contracts::Verdict verdict;  ///< as published; the true probe root once disclosed
    std::uint32_t offset = 0;    ///< of its marks
    std::uint32_t probe = 0;
    std::optional<bool> forced;
    std::vector<AccountId> watchers;
    bool operator==(const Duty&) const = default;
};

struct Profiler {
    AccountId account;
    contracts::ProfileStatus status = contracts::ProfileStatus::kDue;
    Hash256 commitment;
    std::uint64_t bond = 0;
    std::optional<contracts::ProfileReport> report;
    bool operator==(const Profiler&) const = default;
};

struct Profiling {
    contracts::ProfilingPhase phase = contracts::ProfilingPhase::kDraw;
    std::vector<Profiler> profilers;
    std::uint64_t reference_seed = 0;
    std::uint64_t profile_seed = 0;
    std::uint64_t sketch_seed = 0;
    std::optional<contracts::Distances> threshold;
    std::optional<contracts::Distances> reference;
    bool operator==(const Profiling&) const = default;
};

struct Member {
    AccountId account;
    std::uint32_t seats = 0;
    bool has_attested = false;
    bool operator==(const Member&) const = default;
};

struct Committee {
    std::vector<std::uint32_t> segments;  ///< in ascending order
    std::vector<Member> members;          ///< in the order in which they were drawn first
    contracts::CommitteeState state = contracts::CommitteeState::kSitting;
    std::uint32_t sitting = 1;  ///< the number of committees in a row, with this one
    Hash256 seed;
    bool operator==(const Committee&) const = default;
};

/// The accounts that train a task with its solver, the lead (GRP rules).
struct Team {
    std::map<AccountId, std::uint64_t> bonds;  ///< of the others
    bool together = false;                     ///< GRP-11
    std::vector<AccountId> seats;              ///< of those who take turns
    /// GRP-13: of those who compute together, who has each seat for each segment from the first one on.
    std::vector<std::vector<std::optional<AccountId>>> rows;
    std::uint32_t latest = 0;                    ///< GRP-13: the segment from which the last of them counts
    std::map<AccountId, std::uint64_t> demands;  ///< GRP-14
    std::vector<AccountId> posted_by;            ///< each checkpoint
    std::set<AccountId> convicted;
    std::vector<AccountId> culprits;    ///< STM-10, in the order of their convictions
    std::optional<std::uint32_t> last;  ///< segment that counts, where not all do
    bool operator==(const Team&) const = default;
};

/// Of a task whose result is kept (RET-4).
struct Kept {
    std::uint64_t begun = 0;
    std::uint32_t shown = 0;
    bool waits = false;  ///< for the round that draws the next tile
    std::optional<Hash256> seed;
    bool operator==(const Kept&) const = default;
};

/// The keys of a private task (PRV rules).
struct Secret {
    std::optional<sealed::TaskKey> key;         ///< of the checkpoints
    std::map<AccountId, AccountId> awaited;     ///< the key that each of them reads with
    std::vector<contracts::SharedKeys> shared;  ///< in the order in which they were shared
    bool operator==(const Secret&) const = default;
};

struct Task {
    AccountId submitter;
    contracts::TaskSpec spec;
    contracts::TaskState state = contracts::TaskState::kOpen;
    std::uint64_t deadline = 0;
    std::optional<AccountId> solver;
    std::uint64_t escrow = 0;
    std::uint64_t room = 0;
    std::uint64_t submitted_at = 0;
    std::uint32_t redraws = 0;
    std::uint64_t solver_bond = 0;
    std::vector<Hash256> checkpoints;                          ///< state roots
    std::vector<std::optional<contracts::SealedFile>> sealed;  ///< the file of each of them
    std::optional<std::uint64_t> diverged_at;
    std::optional<contracts::Evaluation> evaluation;
    std::vector<Duty> duties;
    std::optional<Committee> committee;                     ///< the last one
    std::map<std::uint32_t, std::set<AccountId>> attested;  ///< AVL-7: by the last that found the segment available
    std::optional<Profiling> profiling;
    Hash256 lottery;
    bool second_window = false;
    std::uint32_t depth = 0;
    std::optional<TaskId> tainted_by;
    // Of a task that is not over.
    std::uint32_t draws = 0;
    std::uint64_t open_until = 0;
    bool suspended = false;
    std::uint32_t stood_still = 0;
    std::vector<DisputeId> disputes;  ///< open, in order of opening
    std::uint64_t lane = 0;           ///< DTY-5: what it holds
    std::optional<Team> team;
    std::optional<Kept> kept;
    std::optional<Secret> secret;  ///< of a private task
    bool operator==(const Task&) const = default;
};

/// What somebody stated, as the subject of a dispute (STM-8).
struct Blame {
    std::uint64_t step = 0;
    dispute::Piece piece;
    std::optional<DisputeId> answers;
    bool operator==(const Blame&) const = default;
};

struct Dispute {
    TaskId task;
    std::uint32_t segment = 0;
    AccountId responder;
    AccountId challenger;
    Role role = Role::kVerifier;
    std::uint64_t bond = 0;
    contracts::DisputeState state = contracts::DisputeState::kActive;
    std::optional<contracts::Reason> reason;
    std::optional<contracts::DisputedVerdict> verdict;
    std::optional<contracts::DisputedProfile> profile;
    std::optional<Blame> blame;
    Hash256 seal;
    std::uint32_t rounds = 0;
    dispute::Level level = dispute::Level::kSteps;
    bool responders_turn = true;
    std::uint64_t opened_at = 0;
    std::uint64_t ended_at = 0;
    std::uint64_t responder_clock = 0;
    std::uint64_t challenger_clock = 0;
    std::uint64_t last_move_at = 0;
    std::uint64_t deadline = 0;
    std::uint64_t bytes = 0;
    std::uint64_t slashed = 0;
    std::uint64_t paid = 0;
    std::uint64_t burned = 0;
    std::uint64_t lane = 0;  ///< DTY-5: what it holds; 0 as well where its task has a place for it
    bool operator==(const Dispute&) const = default;
};

struct Validator {
    contracts::ConsensusKey key;
    std::uint64_t power = 0;
    std::uint32_t missed = 0;
    std::uint64_t jailed_until = 0;
    bool banned = false;
    std::uint64_t slashed = 0;
    bool operator==(const Validator&) const = default;
};

struct Seat {
    Hash256 commitment;
    std::uint64_t since = 0;  ///< height of the commitment
    std::uint64_t bond = 0;
    bool operator==(const Seat&) const = default;
};

struct Round {
    std::uint64_t opened_at = 0;
    Hash256 block_hash;
    std::map<AccountId, Hash256> secrets;
    bool operator==(const Round&) const = default;
};

struct Beacon {
    std::uint64_t rounds = 0;
    Hash256 seed;
    std::vector<AccountId> withheld;
    std::map<AccountId, Seat> seats;
    std::optional<Round> round;
    bool operator==(const Beacon&) const = default;
};

struct Waiting {
    TaskId task;
    std::uint64_t since = 0;
    bool operator==(const Waiting&) const = default;
};

/// A proposal that validators vote on.
struct Motion {
    AccountId proposer;
    contracts::ProposalKind kind = contracts::ProposalKind::kParams;
    std::vector<contracts::ParamChange> changes;
    std::uint64_t height = 0;
    std::uint32_t version = 0;
    std::uint64_t ends = 0;
    std::uint64_t effective = 0;  ///< 0 until it has passed
    std::set<AccountId> votes;
    bool operator==(const Motion&) const = default;
};

struct World {
    std::uint64_t supply = 0;
    std::uint64_t burned = 0;
    std::uint64_t treasury = 0;
    std::optional<std::uint64_t> base_fee;  ///< while it is not the least
    std::map<AccountId, Person> people;
    std::map<StakeKey, Stake> stakes;
    std::map<StakeKey, Machine> machines;
    std::map<TaskId, Task> tasks;
    std::map<DisputeId, Dispute> disputes;
    std::map<AccountId, Validator> validators;
    std::vector<AccountId> listed;  ///< of the validators, sorted
    std::vector<AccountId> banned;  ///< likewise
    std::map<contracts::ProposalId, Motion> motions;
    std::map<std::uint64_t, std::uint32_t> plans;  ///< protocol versions by height
    std::map<AccountId, AccountId> operators;      ///< by owner
    Beacon beacon;
    std::map<contracts::Queue, std::vector<Waiting>> queues;  ///< without those that are empty
    contracts::Lane lane;                                     ///< DTY-5: what tasks and disputes hold together
};

/// A payment or a slash as the history has it; `burned` is what of a slash ceased to exist.
struct Money {
    TaskId task;
    bool is_slash = false;
    AccountId account;
    std::uint64_t amount = 0;
    std::uint64_t burned = 0;
    contracts::Reason reason = contracts::Reason::kReward;
    auto operator<=>(const Money&) const = default;
};

/// Where a dispute stands: the part of it that is the game's (core/dispute), not the state machine's.
struct Game {
    dispute::Claim claim;
    dispute::Position position;
};

/// The chain's state, kept up with its changes.
struct Mirror {
    World world;
    std::map<contracts::Queue, std::map<std::uint64_t, Waiting>> entries;  ///< of the queues, by number
    std::map<DisputeId, Game> games;
    void apply(const contracts::Changes& changes);
};

/// The first difference, in words; empty when there is none.
std::string find_difference(const World& model, const World& chain);

/// Everything that the world holds; what LED-1 says is the supply.
std::uint64_t count_money(const World& world);

std::string name_of(const AccountId& account);

}  // namespace assay::model
