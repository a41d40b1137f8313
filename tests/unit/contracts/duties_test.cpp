// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/envelope.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/governance/params_rules.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::contracts::test {
namespace {

Bytes make_answer(const Chain& chain, const Actor& who, const Action& action, std::uint64_t due) {
    return chain.make_tx(who, action, due, Amount{});
}

/// One that is due when the state says so.
Bytes make_answer(const Chain& chain, const Actor& who, const Action& action) {
    return make_answer(chain, who, action, find_duty(chain.view, chain.params, who.id, action).value().due.value);
}

TxError code_of(const Chain& chain, std::size_t index = 0) { return TxError{chain.last.receipts.at(index).code}; }

TxError answer(Chain& chain, const Actor& who, const Action& action) {
    chain.run_block({make_answer(chain, who, action)});
    return code_of(chain);
}

/// An action of each kind, without a sense.
template <std::size_t... kIndex>
std::vector<Action> one_of_each(std::index_sequence<kIndex...> /*kinds*/) {
    return {std::variant_alternative_t<kIndex, Action>{}...};
}

CommitVerdict commit_of(const Chain& chain, const TaskId& id, const Assignment& assignment) {
    const VerdictOpening opening =
        chain.opening(chain.actor_of(assignment.verifier), id, assignment.segment, hash_of("x"));
    return {id, assignment.segment, verdict_commitment(id, assignment.segment, assignment.verifier, opening)};
}

/// Fills the half of disputes but for what one more dispute would take: less than that is left.
void fill_disputes(Chain& chain, std::uint64_t left) {
    Overlay state = Overlay::over(chain.view);
    Lane lane = get_lane(state);
    lane.disputes = lane_half(chain.params) - left;
    set_lane(state, lane);
    chain.view.apply(state.changes());
}
void fill_tasks(Chain& chain) {
    Overlay state = Overlay::over(chain.view);
    Lane lane = get_lane(state);
    lane.tasks = lane_half(chain.params);
    set_lane(state, lane);
    chain.view.apply(state.changes());
}
void empty_lane(Chain& chain, const Lane& lane) {
    Overlay state = Overlay::over(chain.view);
    set_lane(state, lane);
    chain.view.apply(state.changes());
}

}  // namespace

TEST_CASE("DTY-1: without a fee there are answers to duties alone, of limited size") {
    Chain chain;
    const auto actions = one_of_each(std::make_index_sequence<std::variant_size_v<Action>>{});
    std::size_t kinds = 0;
    const Height next{chain.height.value + 1};
    for (const Action& action : actions) {
        const Answer answer = answer_of(action);
        const std::size_t bytes_max = answer.bytes_max;
        const TxBody body{kChainId, chain.stranger.id, 0, {}, action};
        CHECK(is_answer(body));
        if (answer.owed == Owed::kNothing) {
            CHECK(check_answer(chain.view, chain.params, body, 200, next).error() == TxError::kFeeTooLow);
            continue;
        }
        ++kinds;
        CHECK(bytes_max <= kMinTxSize);
        CHECK(check_answer(chain.view, chain.params, body, bytes_max + 1, next).error() == TxError::kTooLarge);
        CHECK(check_answer(chain.view, chain.params, body, bytes_max, next).error() == TxError::kNotOwed);
    }
    CHECK(kinds == 17);
    chain.run_block({chain.make_tx(chain.stranger, Transfer{chain.pauper.id, {1}}, 0, Amount{})});
    CHECK(code_of(chain) == TxError::kFeeTooLow);
    CHECK_FALSE(chain.last.receipts.front().is_charged);
}

TEST_CASE("DTY-2, DTY-3.1: a verifier without a grain commits, publishes and discloses") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const Actor& verifier = chain.verifier;
    const std::uint64_t all = chain.balance(verifier);
    const std::uint64_t nonce = get_account(chain.view, verifier.id).nonce;
    chain.run(verifier, Transfer{chain.stranger.id, {all - kFee}});
    REQUIRE(chain.balance(verifier) == 0);
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(answer(chain, verifier, commit_of(chain, id, assignment)) == TxError{});
        CHECK(chain.last.receipts.front().is_charged);
    }
    CHECK(chain.balance(verifier) == 0);
    CHECK(get_account(chain.view, verifier.id).nonce == nonce + 1);  // the transfer's
}

TEST_CASE("DTY-2: an answer names the height at which its duty is due, and is of who owes it") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const Assignment assignment = chain.task(id).assignments.front();
    const CommitVerdict commit = commit_of(chain, id, assignment);
    const std::uint64_t due = chain.task(id).deadline.value;
    for (const std::uint64_t wrong : {std::uint64_t{0}, due - 1, due + 1}) {
        chain.run_block({make_answer(chain, chain.verifier, commit, wrong)});
        CHECK(code_of(chain) == TxError::kNotOwed);
    }
    chain.run_block({make_answer(chain, chain.stranger, commit, due)});
    CHECK(code_of(chain) == TxError::kNotAssigned);  // checked in full before it is taken
    chain.run_block({make_answer(chain, chain.verifier, CommitVerdict{id, 9'999, {}}, due)});
    CHECK(code_of(chain) == TxError::kFieldOutOfRange);
    const Bytes right = make_answer(chain, chain.verifier, commit, due);
    chain.run_block({right, right});
    CHECK(code_of(chain, 0) == TxError{});
    CHECK(code_of(chain, 1) == TxError::kAnswered);
    CHECK_FALSE(chain.last.receipts[1].is_charged);
    chain.run_block({right});  // an old answer, sent again by somebody who saw it
    CHECK(code_of(chain) != TxError{});
    CHECK_FALSE(chain.last.receipts.front().is_charged);
}

TEST_CASE("DTY-2: what a duty is owed for is decided by the state before the block") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const auto assignments = chain.task(id).assignments;
    REQUIRE(assignments.size() >= 2);
    // The last commitment opens the next phase, in which publishing is owed: not in the same block.
    std::vector<Bytes> txs;
    for (const Assignment& assignment : assignments) {
        txs.push_back(make_answer(chain, chain.verifier, commit_of(chain, id, assignment)));
    }
    const PublishVerdict publish{id, assignments.front().segment, {.end_root = hash_of("x"), .probe_root = {}}};
    txs.push_back(make_answer(chain, chain.verifier, publish, chain.task(id).deadline.value));
    chain.run_block(txs);
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        CHECK(code_of(chain, i) == TxError{});
    }
    CHECK(code_of(chain, assignments.size()) == TxError::kNotCommitted);
}

TEST_CASE("DTY-3.2: an answer that another transaction of its block has forestalled leaves no trace") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const CommitVerdict commit = commit_of(chain, id, chain.task(id).assignments.front());
    const Bytes paid = chain.make_tx(chain.verifier, commit);
    const std::uint64_t before = chain.balance(chain.verifier);
    chain.run_block({paid, make_answer(chain, chain.verifier, commit)});
    CHECK(code_of(chain, 0) == TxError{});
    CHECK(code_of(chain, 1) == TxError::kAlreadyCommitted);
    CHECK_FALSE(chain.last.receipts[1].is_charged);
    CHECK(chain.balance(chain.verifier) == before - kFee);
}

TEST_CASE("DTY-3.4, DTY-3.5: a submission imposes training and verdicts, and who opens a dispute imposes its moves") {
    const Params params;
    const std::uint64_t imposed = imposed_gas(OpenDispute{}, params);
    // 24 reveals of 256 hashes and the largest proof (DSP-4).
    const auto gas_at = [&](const Action& action, std::size_t bytes) {
        return gas_of(Tx{{{}, {}, 0, {}, action}, {}}, bytes, params);
    };
    CHECK(imposed == 24 * gas_at(RevealMove{}, 9'216) + gas_at(ProveMove{}, kMinTxSize));
    CHECK(imposed_gas(ChallengeVerdict{}, params) == imposed);
    CHECK(imposed_gas(ChallengeProfile{}, params) == imposed);
    // Three segments of it are checked by one verifier each.
    const SubmitTask submit{make_spec()};
    const std::uint64_t verdict =
        gas_at(CommitVerdict{}, 1'024) + gas_at(PublishVerdict{}, 6'144) + gas_at(DiscloseVerdict{}, 1'024);
    const std::uint64_t checkpoints = segment_count(submit.spec) + 1;
    const std::uint64_t training = checkpoints * gas_at(PostCheckpoint{}, 1'024) + gas_at(DeclareDivergence{}, 6'144);
    CHECK(imposed_gas(submit, params) == training + 3 * (verdict + imposed));
    SubmitTask unsound = submit;
    unsound.spec.steps = 0;
    CHECK(imposed_gas(unsound, params) == 0);
    CHECK(imposed_gas(Transfer{}, params) == 0);
}

TEST_CASE("DTY-3.3, FEE-1: who imposes duties pays for their answers, at the least price") {
    const Params params;
    const Action opens = OpenDispute{};
    const std::uint64_t gas = 1'000;
    const Amount base{params.gas_price_min.grains * 7};
    CHECK(least_fee(Transfer{}, gas, base, params).grains == gas * base.grains);
    const std::uint64_t imposed = imposed_gas(opens, params);
    CHECK(least_fee(opens, gas, base, params).grains == gas * base.grains + imposed * params.gas_price_min.grains);
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.challenge_task();
    const OpenDispute dispute{id, 0, Role::kWhistleblower};
    const std::uint64_t nonce = get_account(chain.view, chain.whistleblower.id).nonce;
    const Bytes priced = chain.make_tx(chain.whistleblower, dispute, nonce, Amount{1});
    const Amount least =
        least_fee(dispute, gas_of_bytes(priced, chain.params), chain.params.gas_price_min, chain.params);
    chain.run_block({chain.make_tx(chain.whistleblower, dispute, nonce, Amount{least.grains - 1})});
    CHECK(code_of(chain) == TxError::kFeeTooLow);
    chain.run_block({chain.make_tx(chain.whistleblower, dispute, nonce, least)});
    CHECK(code_of(chain) == TxError{});
}

TEST_CASE("DTY-4: a block holds answers up to their gas and the same share of its bytes") {
    Params params;
    BlockUse use;
    use.add(1'000, params.duty_gas_max, true);
    use.add(1'000, 1'000, false);
    CHECK(use.fits_lane(params));
    use.add(0, 1, true);
    CHECK_FALSE(use.fits_lane(params));
    BlockUse wide;
    const std::uint64_t bytes = params.block_size_max / 2;  // the default lane is half of a block's gas
    wide.add(bytes, 1, true);
    wide.add(params.block_size_max, 1, false);
    CHECK(wide.fits_lane(params));
    wide.add(1, 1, true);
    CHECK_FALSE(wide.fits_lane(params));
}

TEST_CASE("DTY-5.2: all that the lane promises is in as many blocks as an answer may wait") {
    std::mt19937_64 random(5);
    for (const std::uint32_t gas_max : {250'000U, 100'000U, 20'000U}) {
        Params params;
        params.duty_gas_max = gas_max;
        params.duty_wait_blocks = 3'750'000 / gas_max;
        const std::uint64_t heaviest = dispute_weight(params);
        const Tx largest{{{}, {}, 0, {}, Contribute{}}, {}};
        const std::uint64_t contribution = gas_of(largest, Contribute::kAnswer.bytes_max, params);
        for (int run = 0; run < 200; ++run) {
            CAPTURE(gas_max);
            CAPTURE(run);
            // As much as tasks, disputes and contributors may hold: of answers of one weight, or of any, with much gas
            // or many bytes.
            const bool is_even = run % 4 == 0;
            const std::uint64_t promised = 2 * lane_half(params) + params.contributors_max * contribution;
            std::vector<std::pair<std::uint64_t, std::uint64_t>> waiting;  // bytes, gas
            for (std::uint64_t sum = 0;;) {
                const std::uint64_t weight =
                    is_even ? heaviest - static_cast<std::uint64_t>(run) : 1 + random() % heaviest;
                sum += weight;
                if (sum > promised) {
                    break;
                }
                const std::uint64_t bytes = weight * params.block_size_max / params.block_gas_max;
                const bool is_wide = !is_even && random() % 2 == 0;
                waiting.emplace_back(
                    is_wide ? bytes : random() % (bytes + 1), is_wide ? random() % (weight + 1) : weight
                );
            }
            for (std::uint32_t block = 0; block < params.duty_wait_blocks; ++block) {
                BlockUse use;
                std::erase_if(waiting, [&](const auto& answer) {
                    BlockUse with = use;
                    with.add(answer.first, answer.second, true);
                    use = with.fits_lane(params) ? with : use;
                    return with.fits_lane(params);
                });
            }
            REQUIRE(waiting.empty());
        }
    }
}

TEST_CASE("DTY-5.1: no answer is heavier than a move of a dispute") {
    const Params params;
    for (const Action& action : one_of_each(std::make_index_sequence<std::variant_size_v<Action>>{})) {
        const std::uint64_t bytes = answer_of(action).bytes_max;
        CHECK(bytes * params.block_gas_max <= dispute_weight(params) * params.block_size_max);
        CHECK((bytes == 0 || gas_of(Tx{{{}, {}, 0, {}, action}, {}}, bytes, params) <= dispute_weight(params)));
    }
}

TEST_CASE("DTY-5.3: a task holds of the lane what its duties may need, and nothing once it is over") {
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(make_spec());
    const std::uint64_t training = chain.task(id).lane;
    CHECK(training == task_weight(chain.params, chain.task(id)));
    CHECK(training > 0);
    CHECK(get_lane(chain.view) == Lane{.tasks = training, .disputes = 0});
    Chain verifying;
    const TaskId other = verifying.verifying_task();
    CHECK(verifying.task(other).lane > training);
    CHECK(get_lane(verifying.view).tasks == verifying.task(other).lane);
    verifying.commit_all(other);
    verifying.publish_all(other);
    CHECK(get_lane(verifying.view).tasks == verifying.task(other).lane);
    verifying.end_windows(other);
    CHECK(verifying.task(other).state == TaskState::kSettled);
    CHECK(get_lane(verifying.view) == Lane{});
    CHECK_FALSE(verifying.view.get(keys::lane()).has_value());
}

TEST_CASE("DTY-5.4: a dispute without a place finds room or is refused, and gives its room back") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    const Lane held = get_lane(chain.view);
    const std::uint64_t weight = dispute_weight(chain.params);
    const OpenDispute open{id, 0, Role::kWhistleblower};
    fill_disputes(chain, weight - 1);
    CHECK(chain.fail(chain.whistleblower, open) == TxError::kDutiesFull);
    empty_lane(chain, held);
    CHECK(chain.run(chain.whistleblower, open) == 0);
    CHECK(get_lane(chain.view).disputes == weight);
    const DisputeId dispute = dispute_id(id, 0, chain.whistleblower.id);
    CHECK(find_dispute(chain.view, dispute)->lane == weight);
    chain.skip(chain.params.dispute_clock_blocks + 1);  // the responder is silent
    CHECK(find_dispute(chain.view, dispute)->lane == 0);
    CHECK(get_lane(chain.view) == Lane{});  // the task was convicted
}

TEST_CASE("DTY-6: a drawn verifier's rejection has its place in a full lane, and a stranger's dispute has not") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    chain.commit_all(id);
    const Assignment assignment = chain.task(id).assignments.front();
    const Lane held = get_lane(chain.view);
    fill_disputes(chain, 0);
    const OpenDispute open{id, assignment.segment, Role::kWhistleblower};
    CHECK(chain.fail(chain.whistleblower, open) == TxError::kDutiesFull);
    const OpenDispute own{id, assignment.segment, Role::kVerifier};
    CHECK(chain.run(chain.verifier, own) == 0);
    CHECK(find_dispute(chain.view, dispute_id(id, assignment.segment, chain.verifier.id))->lane == 0);
    CHECK(get_lane(chain.view).tasks == held.tasks);
}

TEST_CASE("DTY-6: over a segment that was not drawn for it a verifier has no place") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    const auto assignments = chain.task(id).assignments;
    std::uint32_t segment = 0;
    while (std::any_of(assignments.begin(), assignments.end(), [&](const Assignment& a) {
        return a.segment == segment;
    })) {
        ++segment;
    }
    REQUIRE(segment <= last_segment(chain.task(id)));
    fill_disputes(chain, 0);
    CHECK(chain.fail(chain.verifier, OpenDispute{id, segment, Role::kVerifier}) == TxError::kDutiesFull);
}

TEST_CASE("DTY-7: a draw without room is put off, is not paid for, and a completed task does not expire of it") {
    Params params = quick_params();
    params.draw_price = {1'000'000};
    Chain chain(params);
    const TaskId id = chain.complete_task();
    const Lane held = get_lane(chain.view);
    const Amount room = chain.task(id).room;
    fill_tasks(chain);
    chain.skip(3 * params.draw_blocks);
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(chain.task(id).assignments.empty());
    CHECK(chain.task(id).room == room);
    empty_lane(chain, held);
    chain.skip(2 * params.redraw_blocks + 2);
    CHECK(chain.task(id).state == TaskState::kVerifying);
    CHECK(chain.task(id).room == subtract(room, params.draw_price));
}

TEST_CASE("DTY-8: a window stands still while there is no room for another dispute, and not for ever") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    const Lane held = get_lane(chain.view);
    const std::uint64_t until = chain.task(id).deadline.value;
    fill_disputes(chain, 0);
    chain.skip(until - chain.height.value);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    CHECK(chain.task(id).deadline.value == until + chain.params.dispute_extension_blocks);
    empty_lane(chain, held);
    chain.skip(chain.params.dispute_extension_blocks);
    CHECK(chain.task(id).state == TaskState::kDisclosure);

    Params params = quick_params();
    params.standstill_blocks = 7;  // the extension is 3: 3, 3 and 1
    Chain other(params);
    const TaskId second = other.challenge_task();
    const std::uint64_t end = other.task(second).deadline.value;
    fill_disputes(other, 0);
    other.skip(end + 6 - other.height.value);
    CHECK(other.task(second).state == TaskState::kChallenge);
    other.skip(1);
    CHECK(other.task(second).state == TaskState::kDisclosure);
}

TEST_CASE("INV-9: what the lane has promised is what tasks and disputes hold") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 0, Role::kWhistleblower}) == 0);
    std::uint64_t tasks = 0;
    std::uint64_t disputes = 0;
    tasks += chain.task(id).lane;
    disputes += find_dispute(chain.view, dispute_id(id, 0, chain.whistleblower.id))->lane;
    CHECK(get_lane(chain.view) == Lane{.tasks = tasks, .disputes = disputes});
}

TEST_CASE("PAR-12: every answer fits a block, and any task and a dispute an empty lane") {
    CHECK(are_valid(Params{}));
    const auto changed = [](void (*change)(Params&)) {
        Params params;
        change(params);
        return are_valid(params);
    };
    CHECK_FALSE(changed([](Params& p) { p.duty_gas_max = p.block_gas_max + 1; }));
    CHECK_FALSE(changed([](Params& p) { p.duty_gas_max = static_cast<std::uint32_t>(dispute_weight(p)) - 1; }));
    CHECK_FALSE(changed([](Params& p) { p.duty_wait_blocks = 0; }));
    CHECK_FALSE(changed([](Params& p) { p.duty_wait_blocks = kMaxSpanBlocks + 1; }));
    CHECK_FALSE(changed([](Params& p) { p.standstill_blocks = kMaxSpanBlocks + 1; }));
    CHECK_FALSE(changed([](Params& p) {
        p.duty_gas_max = static_cast<std::uint32_t>(task_weight_max(p));
        p.duty_wait_blocks = 1;
    }));
}

}  // namespace assay::contracts::test
