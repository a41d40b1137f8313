// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/slots.hpp>

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

void insert_sorted(Overlay& state, const Bytes& key, const AccountId& id) {
    auto all = read_list<AccountId>(state, key);
    all.insert(std::lower_bound(all.begin(), all.end(), id), id);
    write_list(state, key, all);
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
Bytes terms(Role role, const AccountId& account) {
    Bytes key = make_key(SlotKind::kTerms);
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
Bytes agenda(Height height) {
    Bytes key = make_key(SlotKind::kAgenda);
    append_number(key, height.value);
    return key;
}
Bytes agenda(Height height, std::uint32_t number) {
    Bytes key = agenda(height);
    append_number(key, number);
    return key;
}
Bytes backlog() { return make_key(SlotKind::kBacklog); }
Bytes queue(Queue queue) {
    Bytes key = make_key(SlotKind::kQueue);
    key.push_back(static_cast<std::uint8_t>(queue));
    return key;
}
Bytes queue(Queue queue, std::uint64_t number) {
    Bytes key = keys::queue(queue);
    append_number(key, number);
    return key;
}
Bytes operator_of(const AccountId& owner) { return make_key(SlotKind::kOperator, owner.view()); }
Bytes validator(const AccountId& account) { return make_key(SlotKind::kValidator, account.view()); }
Bytes validators() { return make_key(SlotKind::kValidators); }
Bytes banned() { return make_key(SlotKind::kBanned); }
Bytes consensus_account(const ConsensusAddress& address) {
    return make_key(SlotKind::kConsensusAccount, address.view());
}
Bytes bookkeeping(const TaskId& task) { return make_key(SlotKind::kBookkeeping, task.view()); }
Bytes lineage(const TaskId& task) { return make_key(SlotKind::kLineage, task.view()); }
Bytes taints() { return make_key(SlotKind::kTaints); }
Bytes beacon() { return make_key(SlotKind::kBeacon); }
Bytes drawing() { return make_key(SlotKind::kDrawing); }
Bytes base_fee() { return make_key(SlotKind::kBaseFee); }
Bytes lane() { return make_key(SlotKind::kLane); }
Bytes proposal(const ProposalId& proposal) { return make_key(SlotKind::kProposal, proposal.view()); }
Bytes proposals() { return make_key(SlotKind::kProposals); }
Bytes plans() { return make_key(SlotKind::kPlans); }

}  // namespace keys

Params get_params(const StateView& view) {
    auto params = read_slot<Params>(view, keys::params());
    ASSERT(params.has_value());
    return *params;
}

Amount get_base_fee(const StateView& view, const Params& params) {
    // GOV-7: what is stored can be below a minimum that was raised since.
    return std::max(read_slot<Amount>(view, keys::base_fee()).value_or(params.gas_price_min), params.gas_price_min);
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

NotedDispute note_of(const Dispute& dispute) noexcept {
    return {
        .id = dispute.id,
        .responder = dispute.responder,
        .challenger = dispute.challenger,
        .claim = claim_hash(dispute.claim),
        .is_answer = dispute.accusation() && dispute.accusation()->answers};
}

std::optional<Dispute> find_dispute(const StateView& view, const DisputeId& dispute) {
    return read_slot<Dispute>(view, keys::dispute(dispute));
}

std::optional<ProfileReport> find_profile(const StateView& view, const TaskId& task, std::uint32_t place) {
    return read_slot<ProfileReport>(view, keys::profile(task, place));
}

std::vector<AccountId> get_stakers(const StateView& view, Role role) {
    return read_list<AccountId>(view, keys::stakers(role));
}

QueueEnds get_queue(const StateView& view, Queue queue) {
    return read_slot<QueueEnds>(view, keys::queue(queue)).value_or(QueueEnds{});
}

std::optional<Waiting> find_waiting(const StateView& view, Queue queue, std::uint64_t number) {
    return read_slot<Waiting>(view, keys::queue(queue, number));
}

std::uint32_t get_agenda_size(const StateView& view, Height height) {
    return read_slot<std::uint32_t>(view, keys::agenda(height)).value_or(0);
}

std::optional<Due> find_agenda(const StateView& view, Height height, std::uint32_t number) {
    return read_slot<Due>(view, keys::agenda(height, number));
}

std::optional<Backlog> find_backlog(const StateView& view) { return read_slot<Backlog>(view, keys::backlog()); }

std::optional<Validator> find_validator(const StateView& view, const AccountId& account) {
    return read_slot<Validator>(view, keys::validator(account));
}
std::vector<AccountId> get_validators(const StateView& view) { return read_list<AccountId>(view, keys::validators()); }
std::optional<AccountId> find_consensus_account(const StateView& view, const ConsensusAddress& address) {
    return read_slot<AccountId>(view, keys::consensus_account(address));
}
TaskBookkeeping get_bookkeeping(const StateView& view, const TaskId& task) {
    return read_slot<TaskBookkeeping>(view, keys::bookkeeping(task)).value_or(TaskBookkeeping{});
}

RegisteredTerms get_terms(const StateView& view, Role role, const AccountId& account) {
    return read_slot<RegisteredTerms>(view, keys::terms(role, account)).value_or(RegisteredTerms{});
}

Lineage get_lineage(const StateView& view, const TaskId& task) {
    return read_slot<Lineage>(view, keys::lineage(task)).value_or(Lineage{});
}

std::vector<Taint> get_taints(const StateView& view) { return read_list<Taint>(view, keys::taints()); }

Beacon get_beacon(const StateView& view) { return read_slot<Beacon>(view, keys::beacon()).value_or(Beacon{}); }

Drawing get_drawing(const StateView& view) { return read_slot<Drawing>(view, keys::drawing()).value_or(Drawing{}); }

Lane get_lane(const StateView& view) { return read_slot<Lane>(view, keys::lane()).value_or(Lane{}); }

std::optional<Proposal> find_proposal(const StateView& view, const ProposalId& id) {
    return read_slot<Proposal>(view, keys::proposal(id));
}
std::vector<OpenProposal> get_proposals(const StateView& view) {
    return read_list<OpenProposal>(view, keys::proposals());
}
std::vector<Plan> get_plans(const StateView& view) { return read_list<Plan>(view, keys::plans()); }
std::optional<AccountId> find_operator(const StateView& view, const AccountId& owner) {
    return read_slot<AccountId>(view, keys::operator_of(owner));
}

void set_params(Overlay& state, const Params& params) { write_slot(state, keys::params(), params); }
void set_supply(Overlay& state, const Supply& supply) { write_slot(state, keys::supply(), supply); }
void set_base_fee(Overlay& state, const Params& params, Amount base_fee) {
    if (base_fee == params.gas_price_min) {
        state.erase(keys::base_fee());
    } else {
        write_slot(state, keys::base_fee(), base_fee);
    }
}
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
    if (!find_validator(state, id)) {
        Validator record;
        record.key = key;
        set_validator(state, id, record);
        write_slot(state, keys::consensus_account(address_of(key)), id);
    }
    insert_sorted(state, keys::validators(), id);
}
void unlist_validator(Overlay& state, const AccountId& id) {
    auto all = get_validators(state);
    std::erase(all, id);
    write_list(state, keys::validators(), all);
}
void ban_validator(Overlay& state, const AccountId& id) {
    unlist_validator(state, id);
    insert_sorted(state, keys::banned(), id);
}
void set_bookkeeping(Overlay& state, const TaskId& task, const TaskBookkeeping& bookkeeping) {
    write_slot(state, keys::bookkeeping(task), bookkeeping);
}
void erase_bookkeeping(Overlay& state, const TaskId& task) { state.erase(keys::bookkeeping(task)); }
void set_terms(Overlay& state, Role role, const AccountId& account, const RegisteredTerms& registered) {
    if (registered.terms == Terms{}) {
        state.erase(keys::terms(role, account));
    } else {
        write_slot(state, keys::terms(role, account), registered);
    }
}
void set_lineage(Overlay& state, const TaskId& task, const Lineage& lineage) {
    write_slot(state, keys::lineage(task), lineage);
}
void set_taints(Overlay& state, const std::vector<Taint>& taints) { write_list(state, keys::taints(), taints); }
void set_beacon(Overlay& state, const Beacon& beacon) { write_slot(state, keys::beacon(), beacon); }
void set_drawing(Overlay& state, const Drawing& drawing) { write_slot(state, keys::drawing(), drawing); }
void erase_drawing(Overlay& state) { state.erase(keys::drawing()); }

void set_lane(Overlay& state, const Lane& lane) {
    if (lane == Lane{}) {
        state.erase(keys::lane());
    } else {
        write_slot(state, keys::lane(), lane);
    }
}

void set_proposal(Overlay& state, const ProposalId& id, const Proposal& proposal) {
    write_slot(state, keys::proposal(id), proposal);
    auto all = get_proposals(state);
    const auto at = std::lower_bound(
        all.begin(), all.end(), proposal.proposer,
        [](const OpenProposal& open, const AccountId& account) { return open.proposer < account; }
    );
    if (at != all.end() && at->proposer == proposal.proposer) {
        ASSERT(at->id == id);
        return;
    }
    all.insert(at, {proposal.proposer, id});
    write_list(state, keys::proposals(), all);
}
void erase_proposal(Overlay& state, const ProposalId& id, const AccountId& proposer) {
    state.erase(keys::proposal(id));
    auto all = get_proposals(state);
    std::erase_if(all, [&](const OpenProposal& open) { return open.proposer == proposer; });
    write_list(state, keys::proposals(), all);
}
void set_plans(Overlay& state, const std::vector<Plan>& plans) { write_list(state, keys::plans(), plans); }

void set_operator(Overlay& state, const AccountId& owner, const std::optional<AccountId>& account) {
    if (account) {
        write_slot(state, keys::operator_of(owner), *account);
    } else {
        state.erase(keys::operator_of(owner));
    }
}

void push_waiting(Overlay& state, Queue queue, const Waiting& waiting) {
    QueueEnds ends = get_queue(state, queue);
    write_slot(state, keys::queue(queue, ends.end), waiting);
    ++ends.end;
    write_slot(state, keys::queue(queue), ends);
}

std::optional<Waiting> front_waiting(const StateView& view, Queue queue) {
    const QueueEnds ends = get_queue(view, queue);
    return ends.first == ends.end ? std::nullopt : find_waiting(view, queue, ends.first);
}

void pop_waiting(Overlay& state, Queue queue) {
    QueueEnds ends = get_queue(state, queue);
    ASSERT(ends.first != ends.end);
    state.erase(keys::queue(queue, ends.first));
    ++ends.first;
    if (ends.first == ends.end) {
        state.erase(keys::queue(queue));
    } else {
        write_slot(state, keys::queue(queue), ends);
    }
}

void enter_agenda(Overlay& state, const Due& due, Height height) {
    const std::uint32_t size = get_agenda_size(state, height);
    write_slot(state, keys::agenda(height, size), due);
    write_slot(state, keys::agenda(height), size + 1);
}

void set_deadline(Overlay& state, const Due& due, Height& deadline, Height to) {
    if (to != deadline && to.value != 0) {
        enter_agenda(state, due, to);
    }
    deadline = to;
}

std::optional<Coming> pop_agenda(Overlay& state, Height now) {
    Backlog at = find_backlog(state).value_or(Backlog{now, 0});
    for (; at.height <= now; at = {Height{at.height.value + 1}, 0}) {
        const std::uint32_t size = get_agenda_size(state, at.height);
        if (at.next < size) {
            const Bytes key = keys::agenda(at.height, at.next);
            const Coming coming{read_slot<Due>(state, key).value(), at.height};
            state.erase(key);
            write_slot(state, keys::backlog(), Backlog{at.height, at.next + 1});
            return coming;
        }
        if (size != 0) {
            state.erase(keys::agenda(at.height));
        }
    }
    state.erase(keys::backlog());
    return std::nullopt;
}

}  // namespace assay::contracts
