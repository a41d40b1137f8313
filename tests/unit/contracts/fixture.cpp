// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/fixture.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

namespace assay::contracts::test {

std::optional<Bytes> MapView::get(const Bytes& key) const {
    ++reads_[key.at(0)];
    const auto found = slots_.find(key);
    return found == slots_.end() ? std::nullopt : std::optional{found->second};
}

void MapView::apply(const Changes& changes) {
    for (const auto& [key, value] : changes) {
        if (value) {
            slots_[key] = *value;
        } else {
            slots_.erase(key);
        }
    }
}

Actor make_actor(std::uint8_t seed) {
    std::array<std::uint8_t, 32> secret{};
    secret[31] = seed;
    const auto key = crypto::SecretKey::from_bytes(secret).value();
    return Actor{key, key.account()};
}

Hash256 hash_of(std::string_view text) { return crypto::sha256(as_bytes(text)); }

Params quick_params() {
    Params params;
    params.unbonding_blocks = 4;
    params.segments_checked = 2;
    params.accept_blocks = 5;
    params.commit_blocks = 6;
    params.publish_blocks = 5;
    params.challenge_blocks = 6;
    params.dispute_clock_blocks = 20;
    params.dispute_extension_blocks = 3;
    params.attest_blocks = 5;
    params.segments_checked_max = 20;
    params.verifiers_per_segment_max = 4;
    params.solver_bond_bps = 0;
    params.verifier_bond_bps = 0;
    params.challenger_bond_bps = 0;
    params.forced_error_bps = 0;
    params.tax_bps = 0;
    params.disclose_blocks = 5;
    params.contribute_blocks = 2;
    params.decline_blocks = 8;
    params.draw_blocks = 40;
    params.draw_price = {};  // most tests count balances; those of waiting have a price
    params.room_price = {};
    params.redraw_blocks = 1;
    params.redraws_max = 2;
    params.committee_seats = 3;
    params.work_price = 0;          // many tasks of the tests pay nothing
    params.duty_wait_blocks = 100;  // so many verdicts and verifiers as above need a wide lane
    return params;
}

TaskSpec make_spec() {
    TaskSpec spec;
    spec.title = "a task";
    spec.program.state_tensors = 2;
    spec.program.init_nodes = 3;
    spec.program.step_nodes = 5;
    spec.program.init_root = hash_of("init");
    spec.program.step_root = hash_of("step");
    spec.program.batch_size = 4;
    spec.program.dataset = {.rows = 100, .width = 3};
    spec.program_artifact.location = "http://127.0.0.1:4000";
    spec.dataset_artifact.location = "http://127.0.0.1:4000";
    spec.seed = 7;
    spec.steps = 10;
    spec.checkpoint_interval = 4;
    spec.reward = {20 * kCoin};
    spec.verification_fee = {3 * kCoin};
    spec.training_blocks = 30;
    return spec;
}

Chain::Chain(const Params& chosen) : params(chosen) {
    Genesis genesis;
    genesis.chain_id = kChainId;
    genesis.params = params;
    for (const Actor* actor : actors()) {
        if (actor != &pauper) {
            genesis.balances[actor->id] = Amount{kRich};
        }
    }
    view.apply(make_genesis(genesis).value());
    check_everything();
}

std::vector<const Actor*> Chain::actors() const {
    std::vector<const Actor*> out{&submitter, &solver, &verifier, &whistleblower, &stranger, &pauper};
    for (const Actor& other : others) {
        out.push_back(&other);
    }
    return out;
}

const Actor& Chain::actor_of(const AccountId& id) const {
    for (const Actor* actor : actors()) {
        if (actor->id == id) {
            return *actor;
        }
    }
    FAIL("nobody has this account");
    return stranger;
}

void Chain::add_verifiers(std::size_t count, Amount stake) {
    for (std::size_t i = 0; i < count; ++i) {
        others.push_back(make_actor(static_cast<std::uint8_t>(20 + others.size())));
        REQUIRE(run(stranger, Transfer{others.back().id, {stake.grains + kCoin}}) == 0);
        REQUIRE(run(others.back(), Bond{Role::kVerifier, stake}) == 0);
    }
}

Bytes Chain::make_tx(const Actor& sender, const Action& action) const {
    const std::uint64_t imposed = imposed_gas(action, params) * params.gas_price_min.grains;
    return make_tx(sender, action, get_account(view, sender.id).nonce, Amount{std::max(kFee, kFee / 2 + imposed)});
}

Bytes Chain::make_tx(const Actor& sender, const Action& action, std::uint64_t nonce, Amount fee) const {
    return codec::encode(sign_tx(TxBody{kChainId, sender.id, nonce, fee, action}, sender.key));
}

std::uint8_t Chain::run(const Actor& sender, const Action& action) {
    return run_block({make_tx(sender, action)}).receipts.at(0).code;
}

BlockContext Chain::next_context() const {
    BlockContext context;
    context.height = {height.value + 1};
    context.time_ms = 1'000 * context.height.value;
    context.block_hash = hash_of("block " + std::to_string(context.height.value));
    context.misbehaviour = misbehaviour;
    context.absent = absent;
    return context;
}

const BlockOutcome& Chain::run_block(const std::vector<Bytes>& txs) {
    const BlockContext context = next_context();
    last = apply_block(view, kChainId, context, txs);
    std::vector<BlockEntry> entries;
    for (const Bytes& tx : txs) {
        entries.push_back(make_entry(tx, tx_hash(tx), params, crypto::verify_signature));
    }
    const BlockOutcome again = apply_block(view, kChainId, context, entries);
    REQUIRE(last.changes == again.changes);
    REQUIRE(last.receipts.size() == txs.size());
    REQUIRE(codec::encode(last.receipts) == codec::encode(again.receipts));
    REQUIRE(codec::encode(last.history) == codec::encode(again.history));
    view.apply(last.changes);
    for (std::size_t i = 0; i < txs.size(); ++i) {
        const auto tx = codec::decode<Tx>(txs[i]);
        if (last.receipts[i].is_charged && !is_answer(tx->body)) {
            const std::uint64_t floor = treasury_fee(tx->body.action, last.receipts[i].gas, params).grains;
            floors += floor;
            burned_fees += tx->body.fee.grains - floor;
        }
    }
    height = context.height;
    history.insert(history.end(), last.history.begin(), last.history.end());
    check_everything();
    return last;
}

void Chain::skip(std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
        run_block({});
    }
}

void Chain::bond_all() {
    REQUIRE(run(solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(run(verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    REQUIRE(run(whistleblower, Bond{Role::kWhistleblower, {100 * kCoin}}) == 0);
}

void Chain::await_solver(const TaskId& id) {
    while (task(id).state == TaskState::kOpen) {
        skip(1);
    }
    REQUIRE(task(id).state == TaskState::kDrawn);
}

void Chain::lend_verifier(bool is_lent) {
    Overlay state = Overlay::over(view);
    const AccountId lent = make_actor(19).id;
    Stake stake;
    stake.free = {100 * kCoin};
    if (is_lent) {
        debit(state, stranger.id, stake.free);
        set_stake(state, Role::kVerifier, lent, stake);
        set_stakers(state, Role::kVerifier, {lent});
    } else {
        credit(state, stranger.id, stake.free);
        state.erase(keys::stake(Role::kVerifier, lent));
        set_stakers(state, Role::kVerifier, {});
    }
    view.apply(state.changes());
}

TaskId Chain::start_task(const TaskSpec& spec) {
    const TaskId id = task_id(submitter.id, get_account(view, submitter.id).nonce);
    REQUIRE(run(submitter, SubmitTask{spec}) == 0);
    const bool is_alone = get_stakers(view, Role::kVerifier).empty();
    if (is_alone) {
        lend_verifier(true);  // TRM-3
    }
    skip(1);
    if (is_alone) {
        lend_verifier(false);
    }
    REQUIRE(task(id).state == TaskState::kDrawn);
    REQUIRE(task(id).solver == solver.id);
    REQUIRE(run(solver, AcceptTask{id}) == 0);
    return id;
}

void Chain::post_checkpoints(const TaskId& id, const std::vector<Hash256>& roots) {
    for (std::uint32_t i = 0; i < roots.size(); ++i) {
        REQUIRE(run(solver, PostCheckpoint{id, i, roots[i], {}}) == 0);
    }
}

TaskId Chain::complete_task() {
    bond_all();
    const TaskId id = start_task(make_spec());
    post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(run(solver, CompleteTask{id}) == 0);
    return id;
}

TaskId Chain::verifying_task() {
    const TaskId id = complete_task();
    skip(1);
    REQUIRE(task(id).state == TaskState::kVerifying);
    return id;
}

Assignment Chain::assignment(const Actor& who, const TaskId& id, std::uint32_t segment) const {
    const Task found = task(id);
    const auto index = find_assignment(found, segment, who.id);
    if (index) {
        return found.assignments[*index];
    }
    Assignment none;
    none.segment = segment;
    none.verifier = who.id;
    return none;
}

VerdictOpening Chain::opening(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root) const {
    VerdictOpening opening{
        .verdict = {root, std::nullopt}, .marks = {}, .decoy_root = hash_of("decoy"), .salt = hash_of("salt")};
    if (!task(id).spec.checks.empty()) {
        opening.verdict.failed_checks = failed_checks;
    }
    if (find_checkpoint(view, id, segment)->state_root == root) {
        for (const std::uint32_t mark : marks_of(task(id), assignment(who, id, segment))) {
            opening.marks.push_back(probe_root(segment, mark));
        }
    }
    return opening;
}

std::uint8_t Chain::commit(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root) {
    const Hash256 commitment = verdict_commitment(id, segment, who.id, opening(who, id, segment, root));
    return run(who, CommitVerdict{id, segment, commitment});
}

std::uint8_t Chain::publish(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root) {
    const VerdictOpening mine = opening(who, id, segment, root);
    const bool forced = is_forced(task(id), assignment(who, id, segment), mine, params.forced_error_bps);
    return run(
        who, PublishVerdict{id, segment, published_verdict(task(id), assignment(who, id, segment), mine, forced)}
    );
}

std::uint8_t Chain::disclose(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root) {
    return run(who, DiscloseVerdict{id, segment, opening(who, id, segment, root)});
}

void Chain::disclose_all(const TaskId& id) {
    for (const Assignment& due : task(id).assignments) {
        if (is_secret(due)) {
            REQUIRE(disclose(actor_of(due.verifier), id, due.segment, due.end_root) == 0);
        }
    }
}

void Chain::end_windows(const TaskId& id) {
    while (task(id).state == TaskState::kChallenge) {
        REQUIRE(task(id).open_disputes == 0);
        skip(1);
        if (task(id).state == TaskState::kDisclosure) {
            disclose_all(id);
        }
    }
}

void Chain::commit_all(const TaskId& id) {
    for (const Assignment& assignment : task(id).assignments) {
        if (assignment.status == VerdictStatus::kDue) {
            const Hash256 root = claimed_root(view, task(id), assignment.segment);
            REQUIRE(commit(actor_of(assignment.verifier), id, assignment.segment, root) == 0);
        }
    }
}

void Chain::publish_all(const TaskId& id) {
    for (const Assignment& assignment : task(id).assignments) {
        if (assignment.status == VerdictStatus::kCommitted) {
            const Hash256 root = claimed_root(view, task(id), assignment.segment);
            REQUIRE(publish(actor_of(assignment.verifier), id, assignment.segment, root) == 0);
        }
    }
}

TaskId Chain::challenge_task() {
    const TaskId id = verifying_task();
    commit_all(id);
    publish_all(id);
    REQUIRE(task(id).state == TaskState::kChallenge);
    return id;
}

std::vector<std::uint64_t> Chain::paid(const TaskId& id, Reason reason) const {
    std::vector<std::uint64_t> amounts;
    for (const HistoryRecord& entry : history) {
        const auto* event = std::get_if<history::Paid>(&entry.event);
        if (entry.task == id && event != nullptr && event->reason == reason) {
            amounts.push_back(event->amount.grains);
        }
    }
    return amounts;
}

std::vector<std::uint64_t> Chain::slashed(const TaskId& id, Reason reason) const {
    std::vector<std::uint64_t> amounts;
    for (const HistoryRecord& entry : history) {
        const auto* event = std::get_if<history::Slashed>(&entry.event);
        if (entry.task == id && event != nullptr && event->reason == reason) {
            amounts.push_back(event->amount.grains);
        }
    }
    return amounts;
}

void Chain::check_everything() const {
    const std::string fault = find_fault(view, height, history);
    REQUIRE(fault == "");
}

}  // namespace assay::contracts::test
