// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/slots.hpp>

#include <algorithm>

namespace assay::contracts {
namespace {

constexpr std::size_t kMaxKeyBytes = 64;

Bytes make_key(SlotKind kind, ByteView id = {}) {
    Bytes key;
    key.reserve(kMaxKeyBytes);
    key.push_back(static_cast<std::uint8_t>(kind));
    append(key, id);
    return key;
}

/// Big-endian, so that keys sort as the numbers do.
template <class T>
void append_number(Bytes& key, T number) {
    for (std::size_t i = sizeof(T); i-- > 0;) {
        key.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
    }
}

/// Lists that are empty have no slot, so that the state after the last element is the state before the first.
template <class T>
void write_list(Overlay& state, const Bytes& key, const std::vector<T>& list) {
    if (list.empty()) {
        state.erase(key);
    } else {
        write_slot(state, key, list);
    }
}

template <class T>
std::vector<T> read_list(const StateView& view, const Bytes& key) {
    return read_slot<std::vector<T>>(view, key).value_or(std::vector<T>{});
}

}  // namespace

namespace keys {

Bytes params() { return make_key(SlotKind::kParams); }
Bytes supply() { return make_key(SlotKind::kSupply); }
Bytes account(const AccountId& account) { return make_key(SlotKind::kAccount, account.view()); }
Bytes stake(Role role, const AccountId& account) {
    Bytes key = make_key(SlotKind::kStake);
    key.push_back(static_cast<std::uint8_t>(role));
    append(key, account.view());
    return key;
}
Bytes task(const TaskId& task) { return make_key(SlotKind::kTask, task.view()); }
Bytes checkpoint(const TaskId& task, std::uint32_t index) {
    Bytes key = make_key(SlotKind::kCheckpoint, task.view());
    append_number(key, index);
    return key;
}
Bytes dispute(const DisputeId& dispute) { return make_key(SlotKind::kDispute, dispute.view()); }
Bytes challenge(const ChallengeId& challenge) { return make_key(SlotKind::kChallenge, challenge.view()); }
Bytes hardware(Role role, const AccountId& account) {
    Bytes key = make_key(SlotKind::kHardware);
    key.push_back(static_cast<std::uint8_t>(role));
    append(key, account.view());
    return key;
}
Bytes profile(const TaskId& task, std::uint32_t place) {
    Bytes key = make_key(SlotKind::kProfile, task.view());
    append_number(key, place);
    return key;
}
Bytes stakers(Role role) {
    Bytes key = make_key(SlotKind::kStakers);
    key.push_back(static_cast<std::uint8_t>(role));
    return key;
}
Bytes waiting() { return make_key(SlotKind::kWaiting); }
Bytes deadlines(Height height) {
    Bytes key = make_key(SlotKind::kDeadlines);
    append_number(key, height.value);
    return key;
}
Bytes validator(const AccountId& account) { return make_key(SlotKind::kValidator, account.view()); }
Bytes validators() { return make_key(SlotKind::kValidators); }
Bytes consensus_account(const ConsensusAddress& address) {
    return make_key(SlotKind::kConsensusAccount, address.view());
}
Bytes docket(const TaskId& task) { return make_key(SlotKind::kDocket, task.view()); }
Bytes lineage(const TaskId& task) { return make_key(SlotKind::kLineage, task.view()); }
Bytes taints() { return make_key(SlotKind::kTaints); }
Bytes beacon() { return make_key(SlotKind::kBeacon); }
Bytes drawing() { return make_key(SlotKind::kDrawing); }

}  // namespace keys

Params get_params(const StateView& view) {
    auto params = read_slot<Params>(view, keys::params());
    ASSERT(params.has_value());
    return *params;
}

Supply get_supply(const StateView& view) {
    auto supply = read_slot<Supply>(view, keys::supply());
    ASSERT(supply.has_value());
    return *supply;
}

Account get_account(const StateView& view, const AccountId& account) {
    return read_slot<Account>(view, keys::account(account)).value_or(Account{});
}

Stake get_stake(const StateView& view, Role role, const AccountId& account) {
    return read_slot<Stake>(view, keys::stake(role, account)).value_or(Stake{});
}

std::optional<Task> find_task(const StateView& view, const TaskId& task) {
    return read_slot<Task>(view, keys::task(task));
}

std::optional<Checkpoint> find_checkpoint(const StateView& view, const TaskId& task, std::uint32_t index) {
    return read_slot<Checkpoint>(view, keys::checkpoint(task, index));
}

std::optional<Dispute> find_dispute(const StateView& view, const DisputeId& dispute) {
    return read_slot<Dispute>(view, keys::dispute(dispute));
}

std::optional<Challenge> find_challenge(const StateView& view, const ChallengeId& challenge) {
    return read_slot<Challenge>(view, keys::challenge(challenge));
}

std::optional<ProfileReport> find_profile(const StateView& view, const TaskId& task, std::uint32_t place) {
    return read_slot<ProfileReport>(view, keys::profile(task, place));
}

std::vector<AccountId> get_stakers(const StateView& view, Role role) {
    return read_list<AccountId>(view, keys::stakers(role));
}

std::vector<TaskId> get_waiting(const StateView& view) { return read_list<TaskId>(view, keys::waiting()); }

std::vector<Due> get_deadlines(const StateView& view, Height height) {
    return read_list<Due>(view, keys::deadlines(height));
}

std::optional<Validator> find_validator(const StateView& view, const AccountId& account) {
    return read_slot<Validator>(view, keys::validator(account));
}
std::vector<AccountId> get_validators(const StateView& view) { return read_list<AccountId>(view, keys::validators()); }
std::optional<AccountId> find_consensus_account(const StateView& view, const ConsensusAddress& address) {
    return read_slot<AccountId>(view, keys::consensus_account(address));
}
Docket get_docket(const StateView& view, const TaskId& task) {
    return read_slot<Docket>(view, keys::docket(task)).value_or(Docket{});
}

Hardware get_hardware(const StateView& view, Role role, const AccountId& account) {
    return read_slot<Hardware>(view, keys::hardware(role, account)).value_or(Hardware{});
}

Lineage get_lineage(const StateView& view, const TaskId& task) {
    return read_slot<Lineage>(view, keys::lineage(task)).value_or(Lineage{});
}

std::vector<Taint> get_taints(const StateView& view) { return read_list<Taint>(view, keys::taints()); }

Beacon get_beacon(const StateView& view) { return read_slot<Beacon>(view, keys::beacon()).value_or(Beacon{}); }

Drawing get_drawing(const StateView& view) { return read_slot<Drawing>(view, keys::drawing()).value_or(Drawing{}); }

void set_params(Overlay& state, const Params& params) { write_slot(state, keys::params(), params); }
void set_supply(Overlay& state, const Supply& supply) { write_slot(state, keys::supply(), supply); }
void set_account(Overlay& state, const AccountId& id, const Account& account) {
    write_slot(state, keys::account(id), account);
}

void set_stake(Overlay& state, Role role, const AccountId& id, const Stake& stake) {
    if (stake.free.grains == 0 && stake.locked.grains == 0 && stake.unbonding.empty()) {
        state.erase(keys::stake(role, id));
    } else {
        write_slot(state, keys::stake(role, id), stake);
    }
}

void set_task(Overlay& state, const Task& task) { write_slot(state, keys::task(task.id), task); }
void set_checkpoint(Overlay& state, const TaskId& task, std::uint32_t index, const Checkpoint& checkpoint) {
    write_slot(state, keys::checkpoint(task, index), checkpoint);
}
void set_dispute(Overlay& state, const Dispute& dispute) { write_slot(state, keys::dispute(dispute.id), dispute); }
void set_challenge(Overlay& state, const Challenge& challenge) {
    write_slot(state, keys::challenge(challenge.id), challenge);
}
void set_profile(Overlay& state, const TaskId& task, std::uint32_t place, const ProfileReport& report) {
    write_slot(state, keys::profile(task, place), report);
}
void set_stakers(Overlay& state, Role role, const std::vector<AccountId>& stakers) {
    write_list(state, keys::stakers(role), stakers);
}
void set_validator(Overlay& state, const AccountId& id, const Validator& validator) {
    write_slot(state, keys::validator(id), validator);
}
void register_validator(Overlay& state, const AccountId& id, const ConsensusKey& key) {
    Validator record;
    record.key = key;
    set_validator(state, id, record);
    write_slot(state, keys::consensus_account(address_of(key)), id);
    auto all = get_validators(state);
    all.insert(std::lower_bound(all.begin(), all.end(), id), id);
    write_list(state, keys::validators(), all);
}
void set_docket(Overlay& state, const TaskId& task, const Docket& docket) {
    write_slot(state, keys::docket(task), docket);
}
void erase_docket(Overlay& state, const TaskId& task) { state.erase(keys::docket(task)); }
void set_hardware(Overlay& state, Role role, const AccountId& account, const Hardware& hardware) {
    if (hardware.hardware_class == 0) {
        state.erase(keys::hardware(role, account));
    } else {
        write_slot(state, keys::hardware(role, account), hardware);
    }
}
void set_lineage(Overlay& state, const TaskId& task, const Lineage& lineage) {
    write_slot(state, keys::lineage(task), lineage);
}
void set_taints(Overlay& state, const std::vector<Taint>& taints) { write_list(state, keys::taints(), taints); }
void set_beacon(Overlay& state, const Beacon& beacon) { write_slot(state, keys::beacon(), beacon); }
void set_drawing(Overlay& state, const Drawing& drawing) { write_slot(state, keys::drawing(), drawing); }
void erase_drawing(Overlay& state) { state.erase(keys::drawing()); }

void add_waiting(Overlay& state, const TaskId& task) {
    auto list = get_waiting(state);
    if (std::find(list.begin(), list.end(), task) == list.end()) {
        list.push_back(task);
        write_list(state, keys::waiting(), list);
    }
}

void remove_waiting(Overlay& state, const TaskId& task) {
    auto list = get_waiting(state);
    if (std::erase(list, task) != 0) {
        write_list(state, keys::waiting(), list);
    }
}

void move_deadline(Overlay& state, const Due& due, Height from, Height to) {
    if (from == to) {
        return;
    }
    if (from.value != 0) {
        auto list = get_deadlines(state, from);
        if (std::erase(list, due) != 0) {
            write_list(state, keys::deadlines(from), list);
        }
    }
    if (to.value != 0) {
        auto list = get_deadlines(state, to);
        if (std::find(list.begin(), list.end(), due) == list.end()) {
            list.push_back(due);
            write_list(state, keys::deadlines(to), list);
        }
    }
}

void clear_deadlines(Overlay& state, Height height) { state.erase(keys::deadlines(height)); }

}  // namespace assay::contracts
