// SPDX-License-Identifier: Apache-2.0
#include <tests/model/records.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <core/codec/borsh.hpp>
#include <tests/model/mirror_team.hpp>

namespace assay::model {
namespace {

using contracts::SlotKind;

template <class T>
T decode(const Bytes& value) {
    return codec::decode<T>(value).value();
}

template <class Id>
Id id_at(const Bytes& key, std::size_t from) {
    Id id;
    std::copy_n(key.begin() + static_cast<std::ptrdiff_t>(from), id.data.size(), id.data.begin());
    return id;
}

Stake stake_of(const contracts::Stake& record) {
    Stake stake{record.free.grains,          record.locked.grains,         {},          record.is_unlisted,
                record.declined_until.value, record.declined_value.grains, record.offer};
    for (const contracts::Unbonding& part : record.unbonding) {
        stake.parts.push_back({part.release_at.value, part.release_ms, part.amount.grains});
    }
    return stake;
}

Duty duty_of(const contracts::Assignment& record) {
    return {
        .segment = record.segment,
        .verifier = record.verifier,
        .status = record.status,
        .bond = record.bond.grains,
        .commitment = record.commitment,
        .reserve = record.reserve.grains,
        .verdict =
            {record.end_root, record.probe_root, record.measurement, record.diverged_after, record.failed_checks},
        .offset = record.offset,
        .probe = record.probe,
        .forced = record.forced,
        .watchers = record.watchers};
}

void read_profiling(Task& task, const contracts::Tolerance& record) {
    Profiling next = task.profiling.value_or(Profiling{});
    next.phase = record.phase;
    next.reference_seed = record.reference_seed;
    next.profile_seed = record.profile_seed;
    next.sketch_seed = record.sketch_seed;
    next.threshold = record.threshold;
    next.reference = record.reference;
    next.profilers.resize(record.profiles.size());
    for (std::size_t i = 0; i < record.profiles.size(); ++i) {
        const contracts::Profile& profile = record.profiles[i];
        next.profilers[i].account = profile.profiler;
        next.profilers[i].status = profile.status;
        next.profilers[i].commitment = profile.commitment;
        next.profilers[i].bond = profile.bond.grains;
    }
    task.profiling = std::move(next);
}

Committee committee_of(const contracts::Committee& record) {
    Committee out{record.segments, {}, record.state, record.sitting, record.seed};
    for (const contracts::CommitteeMember& member : record.members) {
        out.members.push_back({member.account, member.seats, member.has_attested});
    }
    return out;
}

void read_task(Task& task, const contracts::Task& record) {
    task.submitter = record.submitter;
    task.spec = record.spec;
    task.state = record.state;
    task.deadline = record.deadline.value;
    task.solver = record.solver;
    task.escrow = record.escrow.grains;
    task.room = record.room.grains;
    task.submitted_at = record.submitted_at.value;
    task.redraws = record.redraws;
    task.solver_bond = record.solver_bond.grains;
    task.checkpoints.resize(record.checkpoints);
    task.sealed.resize(record.checkpoints);
    task.diverged_at = record.diverged_at;
    task.evaluation = record.evaluation;
    task.lottery = record.lottery;
    task.second_window = record.second_window;
    task.depth = record.depth;
    task.tainted_by = record.tainted_by;
    task.lane = record.lane;
    task.duties.clear();
    for (const contracts::Assignment& assignment : record.assignments) {
        task.duties.push_back(duty_of(assignment));
    }
    task.kept = kept_of(record);
    task.secret = secret_of(record);
    task.team = record.group ? std::optional(team_of(record)) : std::nullopt;
    task.committee = record.committee ? std::optional(committee_of(*record.committee)) : std::nullopt;
    task.attested.clear();
    for (const contracts::Available& each : record.available) {
        for (const std::uint32_t segment : each.segments) {
            task.attested[segment] = {each.attesters.begin(), each.attesters.end()};
        }
    }
    if (record.tolerance) {
        read_profiling(task, *record.tolerance);
    }
}

void read_docket(Task& task, const contracts::TaskBookkeeping& record) {
    task.draws = record.draws;
    task.open_until = record.open_until.value;
    task.suspended = record.suspended;
    task.stood_still = record.stood_still;
    task.disputes.clear();
    for (const contracts::NotedDispute& dispute : record.disputes) {
        task.disputes.push_back(dispute.id);
    }
}

std::optional<Blame> blame_of(const contracts::Dispute& record) {
    const contracts::Accusation* accusation = record.accusation();
    return accusation == nullptr ? std::nullopt
                                 : std::optional(Blame{accusation->step, accusation->piece, accusation->answers});
}

Dispute dispute_of(const contracts::Dispute& record) {
    const contracts::DisputeGame game = record.game() ? *record.game() : contracts::DisputeGame{};
    const contracts::DisputeEnd end = record.end() ? *record.end() : contracts::DisputeEnd{};
    return {
        .task = record.task,
        .segment = record.segment,
        .responder = record.responder,
        .challenger = record.challenger,
        .role = record.challenger_role,
        .bond = record.challenger_bond.grains,
        .state = record.state(),
        .reason = record.end() ? std::optional(end.reason) : std::nullopt,
        .verdict = record.verdict() ? std::optional(*record.verdict()) : std::nullopt,
        .profile = record.profile() ? std::optional(*record.profile()) : std::nullopt,
        .blame = blame_of(record),
        .seal = record.challenged() ? record.challenged()->seal : Hash256{},
        .rounds = record.position.rounds,
        .level = record.position.level(),
        .responders_turn = contracts::is_responders_turn(record),
        .opened_at = record.opened_at.value,
        .ended_at = end.at.value,
        .responder_clock = game.responder_clock,
        .challenger_clock = game.challenger_clock,
        .last_move_at = game.last_move_at.value,
        .deadline = record.deadline().value,
        .bytes = record.onchain_bytes,
        .slashed = end.slashed.grains,
        .paid = end.paid.grains,
        .burned = end.burned.grains,
        .lane = record.lane};
}

Beacon beacon_of(const contracts::Beacon& record) {
    Beacon out{.rounds = record.rounds, .seed = record.seed, .withheld = record.withheld, .seats = {}, .round = {}};
    for (const contracts::Seat& seat : record.seats) {
        out.seats[seat.account] = {seat.commitment, seat.committed_at.value, seat.bond.grains};
    }
    if (record.round) {
        out.round = Round{record.round->opened_at.value, record.round->block_hash, {}};
        for (const contracts::Contribution& contribution : record.round->contributions) {
            out.round->secrets[contribution.account] = contribution.secret;
        }
    }
    return out;
}

// A queue's entry has its number behind the queue; the slot with the queue alone says where it begins and ends.
bool is_queue_entry(const Bytes& key) { return key.size() > 2; }
contracts::Queue queue_at(const Bytes& key) { return static_cast<contracts::Queue>(key[1]); }
std::uint64_t number_at(const Bytes& key) {
    std::uint64_t number = 0;
    for (std::size_t i = 2; i < key.size(); ++i) {
        number = (number << 8U) | key[i];
    }
    return number;
}

void read_slot(Mirror& mirror, const Bytes& key, const Bytes& value) {
    World& world = mirror.world;
    switch (static_cast<SlotKind>(key[0])) {
        case SlotKind::kSupply: {
            const auto supply = decode<contracts::Supply>(value);
            world.supply = supply.genesis.grains;
            world.burned = supply.burned.grains;
            world.treasury = supply.treasury.grains;
            break;
        }
        case SlotKind::kAccount: {
            const auto account = decode<contracts::Account>(value);
            world.people[id_at<AccountId>(key, 1)] = {account.balance.grains, account.nonce};
            break;
        }
        case SlotKind::kStake:
            world.stakes[{static_cast<Role>(key[1]), id_at<AccountId>(key, 2)}] =
                stake_of(decode<contracts::Stake>(value));
            break;
        case SlotKind::kTerms: {
            const auto registered = decode<contracts::RegisteredTerms>(value);
            world.machines[{static_cast<Role>(key[1]), id_at<AccountId>(key, 2)}] = {
                registered.terms, registered.score, registered.registered_at.value};
            break;
        }
        case SlotKind::kTask:
            read_task(world.tasks[id_at<TaskId>(key, 1)], decode<contracts::Task>(value));
            break;
        case SlotKind::kCheckpoint:
            read_checkpoint(world.tasks[id_at<TaskId>(key, 1)], key, decode<contracts::Checkpoint>(value));
            break;
        case SlotKind::kBookkeeping:
            read_docket(world.tasks[id_at<TaskId>(key, 1)], decode<contracts::TaskBookkeeping>(value));
            break;
        case SlotKind::kDispute: {
            const auto dispute = decode<contracts::Dispute>(value);
            world.disputes[dispute.id] = dispute_of(dispute);
            mirror.games[dispute.id] = {dispute.claim, dispute.position};
            break;
        }
        case SlotKind::kValidator: {
            if (key.size() == 33) {
                const auto record = decode<contracts::Validator>(value);
                world.validators[id_at<AccountId>(key, 1)] = {record.key,       record.power,
                                                              record.missed,    record.jailed_until.value,
                                                              record.is_banned, record.slashed.grains};
            }
            break;
        }
        case SlotKind::kBaseFee:
            world.base_fee = decode<Amount>(value).grains;
            break;
        case SlotKind::kLane:
            world.lane = decode<contracts::Lane>(value);
            break;
        case SlotKind::kBeacon:
            world.beacon = beacon_of(decode<contracts::Beacon>(value));
            break;
        case SlotKind::kQueue:
            if (is_queue_entry(key)) {
                const auto waiting = decode<contracts::Waiting>(value);
                mirror.entries[queue_at(key)][number_at(key)] = {waiting.task, waiting.since.value};
            }
            break;
        case SlotKind::kValidators:
            world.listed = decode<std::vector<AccountId>>(value);
            break;
        case SlotKind::kBanned:
            world.banned = decode<std::vector<AccountId>>(value);
            break;
        case SlotKind::kProposal:
            world.motions[id_at<contracts::ProposalId>(key, 1)] = motion_of(decode<contracts::Proposal>(value));
            break;
        case SlotKind::kOperator:
            world.operators[id_at<AccountId>(key, 1)] = decode<AccountId>(value);
            break;
        case SlotKind::kPlans:
            world.plans.clear();
            for (const contracts::Plan& plan : decode<std::vector<contracts::Plan>>(value)) {
                world.plans[plan.height.value] = plan.protocol_version;
            }
            break;
        default:
            break;
    }
}

/// Reports have slots of their own, which are read when the task's record has the place.
void read_report(Mirror& mirror, const Bytes& key, const Bytes& value) {
    std::uint32_t place = 0;
    for (std::size_t i = 33; i < 37; ++i) {
        place = (place << 8U) | key[i];
    }
    auto& task = mirror.world.tasks.at(id_at<TaskId>(key, 1));
    task.profiling.value().profilers.at(place).report = decode<contracts::ProfileReport>(value);
}

void erase_slot(Mirror& mirror, const Bytes& key) {
    World& world = mirror.world;
    switch (static_cast<SlotKind>(key[0])) {
        case SlotKind::kStake:
            world.stakes.erase({static_cast<Role>(key[1]), id_at<AccountId>(key, 2)});
            break;
        case SlotKind::kTerms:
            world.machines.erase({static_cast<Role>(key[1]), id_at<AccountId>(key, 2)});
            break;
        case SlotKind::kBookkeeping:
            read_docket(world.tasks[id_at<TaskId>(key, 1)], {});
            break;
        case SlotKind::kQueue:
            if (is_queue_entry(key)) {
                mirror.entries[queue_at(key)].erase(number_at(key));
            }
            break;
        case SlotKind::kProposal:
            world.motions.erase(id_at<contracts::ProposalId>(key, 1));
            break;
        case SlotKind::kOperator:
            world.operators.erase(id_at<AccountId>(key, 1));
            break;
        case SlotKind::kPlans:
            world.plans.clear();
            break;
        case SlotKind::kValidators:
            world.listed.clear();
            break;
        case SlotKind::kBaseFee:
            world.base_fee.reset();
            break;
        case SlotKind::kLane:
            world.lane = {};
            break;
        default:
            break;
    }
}

template <class K>
std::string show(const K& key) {
    if constexpr (requires { key.first; }) {
        return std::string(to_string(key.first)) + " " + show(key.second);
    } else {
        return name_of(AccountId{key.data});
    }
}

std::string explain(const Person& a, const Person& b) {
    return "balance " + std::to_string(a.balance) + " / " + std::to_string(b.balance) + ", nonce " +
           std::to_string(a.nonce) + " / " + std::to_string(b.nonce);
}
std::string explain(const Stake& a, const Stake& b) {
    return std::string("unlisted ") + (a.unlisted ? "1" : "0") + (b.unlisted ? "/1" : "/0") + ", declined until " +
           std::to_string(a.declined_until) + " / " + std::to_string(b.declined_until) + ", free " +
           std::to_string(a.free) + " / " + std::to_string(b.free) + ", locked " + std::to_string(a.locked) + " / " +
           std::to_string(b.locked) + ", parts " + std::to_string(a.parts.size()) + " / " +
           std::to_string(b.parts.size());
}
std::string explain(const Machine& /*a*/, const Machine& /*b*/) { return "machines"; }
std::string explain(const Task& a, const Task& b) {
    std::string out = std::string("state ") + to_string(a.state) + " / " + to_string(b.state) + ", deadline " +
                      std::to_string(a.deadline) + " / " + std::to_string(b.deadline) + ", escrow " +
                      std::to_string(a.escrow) + " / " + std::to_string(b.escrow) + ", bond " +
                      std::to_string(a.solver_bond) + " / " + std::to_string(b.solver_bond);
    const auto differs = [&out](const char* name, bool is) { out += is ? std::string(", ") + name + " differs" : ""; };
    differs("solver", a.solver != b.solver);
    differs("checkpoints", a.checkpoints != b.checkpoints);
    differs("duties", a.duties != b.duties);
    for (std::size_t i = 0; i < std::min(a.duties.size(), b.duties.size()); ++i) {
        if (a.duties[i] != b.duties[i]) {
            out += ", duty " + std::to_string(i) + " " + to_string(a.duties[i].status) + " / " +
                   to_string(b.duties[i].status) + " bond " + std::to_string(a.duties[i].bond) + " / " +
                   std::to_string(b.duties[i].bond) + " reserve " + std::to_string(a.duties[i].reserve) + " / " +
                   std::to_string(b.duties[i].reserve);
        }
    }
    differs("profiling", a.profiling != b.profiling);
    differs("lottery", a.lottery != b.lottery);
    differs("suspended", a.suspended != b.suspended);
    differs("draws", a.draws != b.draws);
    differs("open_until", a.open_until != b.open_until);
    differs("room", a.room != b.room);
    differs("redraws", a.redraws != b.redraws);
    differs("committee", a.committee != b.committee || a.attested != b.attested);
    differs("disputes", a.disputes != b.disputes);
    differs("taint", a.tainted_by != b.tainted_by);
    differs("stood_still", a.stood_still != b.stood_still);
    differs("lane", a.lane != b.lane);
    differs("spec", a.spec != b.spec);
    differs("team", a.team != b.team);
    differs("kept", a.kept != b.kept);
    differs("secret", a.secret != b.secret);
    differs("sealed", a.sealed != b.sealed);
    return out;
}
std::string explain(const Dispute& a, const Dispute& b) {
    return std::string("state ") + to_string(a.state) + " / " + to_string(b.state) + ", deadline " +
           std::to_string(a.deadline) + " / " + std::to_string(b.deadline) + ", bond " + std::to_string(a.bond) +
           " / " + std::to_string(b.bond) + ", rounds " + std::to_string(a.rounds) + " / " + std::to_string(b.rounds) +
           ", bytes " + std::to_string(a.bytes) + " / " + std::to_string(b.bytes) + ", lane " + std::to_string(a.lane) +
           " / " + std::to_string(b.lane);
}
std::string explain(const Validator& a, const Validator& b) {
    return "power " + std::to_string(a.power) + " / " + std::to_string(b.power) + ", jailed until " +
           std::to_string(a.jailed_until) + " / " + std::to_string(b.jailed_until) + ", missed " +
           std::to_string(a.missed) + " / " + std::to_string(b.missed);
}

template <class K, class V>
std::string compare(const char* what, const std::map<K, V>& model, const std::map<K, V>& chain) {
    for (const auto& [key, value] : model) {
        const auto found = chain.find(key);
        if (found == chain.end()) {
            return std::string(what) + " " + show(key) + ": the chain has none";
        }
        if (!(found->second == value)) {
            return std::string(what) + " " + show(key) + ": model / chain: " + explain(value, found->second);
        }
    }
    for (const auto& [key, value] : chain) {
        if (!model.contains(key)) {
            return std::string(what) + " " + show(key) + ": the model has none";
        }
    }
    return {};
}

}  // namespace

void Mirror::apply(const contracts::Changes& changes) {
    for (const auto& [key, value] : changes) {
        if (!value) {
            erase_slot(*this, key);
        } else if (static_cast<SlotKind>(key[0]) != SlotKind::kProfile) {
            read_slot(*this, key, *value);
        }
    }
    for (const auto& [key, value] : changes) {
        if (value && static_cast<SlotKind>(key[0]) == SlotKind::kProfile) {
            read_report(*this, key, *value);
        }
    }
    world.queues.clear();
    for (const auto& [queue, numbered] : entries) {
        for (const auto& [number, waiting] : numbered) {
            world.queues[queue].push_back(waiting);
        }
    }
}

std::string find_difference(const World& model, const World& chain) {
    if (model.supply != chain.supply || model.burned != chain.burned || model.treasury != chain.treasury) {
        return "model / chain: burned " + std::to_string(model.burned) + " / " + std::to_string(chain.burned) +
               ", treasury " + std::to_string(model.treasury) + " / " + std::to_string(chain.treasury);
    }
    if (model.base_fee != chain.base_fee) {
        return "the base fee: model / chain: " + std::to_string(model.base_fee.value_or(0)) + " / " +
               std::to_string(chain.base_fee.value_or(0));
    }
    if (model.queues != chain.queues) {
        return "the tasks that wait";
    }
    if (model.listed != chain.listed || model.banned != chain.banned) {
        return "the list of validators, or of the banned";
    }
    if (model.motions != chain.motions || model.plans != chain.plans || model.operators != chain.operators) {
        return "the proposals, what is planned, or the operators";
    }
    for (const std::string& fault :
         {compare("task", model.tasks, chain.tasks), compare("dispute", model.disputes, chain.disputes),
          compare("account", model.people, chain.people), compare("stake", model.stakes, chain.stakes),
          compare("machine", model.machines, chain.machines),
          compare("validator", model.validators, chain.validators)}) {
        if (!fault.empty()) {
            return fault;
        }
    }
    if (model.lane != chain.lane) {
        return "the lane: model / chain: tasks " + std::to_string(model.lane.tasks) + " / " +
               std::to_string(chain.lane.tasks) + ", disputes " + std::to_string(model.lane.disputes) + " / " +
               std::to_string(chain.lane.disputes);
    }
    return model.beacon == chain.beacon
               ? std::string{}
               : "the beacon: model / chain: rounds " + std::to_string(model.beacon.rounds) + " / " +
                     std::to_string(chain.beacon.rounds) + ", seats " + std::to_string(model.beacon.seats.size()) +
                     " / " + std::to_string(chain.beacon.seats.size());
}

std::uint64_t count_money(const World& world) {
    std::uint64_t sum = world.burned + world.treasury;
    for (const auto& [id, person] : world.people) {
        sum += person.balance;
    }
    for (const auto& [key, stake] : world.stakes) {
        sum += stake.free + stake.locked;
        for (const Part& part : stake.parts) {
            sum += part.amount;
        }
    }
    for (const auto& [id, task] : world.tasks) {
        sum += task.escrow + task.room;
    }
    return sum;
}

}  // namespace assay::model
