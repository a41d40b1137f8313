// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <contracts/chain/duty.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::contracts::test {
namespace {

/// The transaction of an operator, for an owner.
Bytes for_owner(
    const Actor& signer, const Actor& owner, const Action& action, std::uint64_t nonce, Amount fee = Amount{kFee}
) {
    return codec::encode(sign_tx(TxBody{kChainId, signer.id, nonce, fee, action, owner.id}, signer.key));
}

TxError run_for(Chain& chain, const Actor& signer, const Actor& owner, const Action& action) {
    const std::uint64_t nonce = get_account(chain.view, signer.id).nonce;
    return TxError{chain.run_block({for_owner(signer, owner, action, nonce)}).receipts.at(0).code};
}

TxError answer_for(Chain& chain, const Actor& signer, const Actor& owner, const Action& action) {
    const auto duty = find_duty(chain.view, chain.params, owner.id, action);
    REQUIRE(duty.has_value());
    const Bytes tx = for_owner(signer, owner, action, duty->due.value, Amount{});
    return TxError{chain.run_block({tx}).receipts.at(0).code};
}

CommitVerdict commitment_of(const TaskId& id, const Assignment& assignment) {
    return {.task = id, .segment = assignment.segment, .commitment = hash_of("a commitment")};
}

Unexpected<TxError> check_waiting(const Chain& chain, const Bytes& tx) {
    const DecodedTx decoded = decode_tx(tx, tx_hash(tx), chain.params).value();
    const auto checked = check_tx(
        chain.view, chain.params, decoded, get_account(chain.view, decoded.tx.body.sender).nonce,
        Height{chain.height.value + 1}
    );
    return Unexpected{checked ? TxError{} : checked.error()};
}

template <std::size_t... kIndex>
std::vector<Action> one_of_every_kind(std::index_sequence<kIndex...> /*kinds*/) {
    return {std::variant_alternative_t<kIndex, Action>{}...};
}

}  // namespace

TEST_CASE("OPR-1: an account names one operator, another in its place, and none") {
    Chain chain;
    const AccountId owner = chain.verifier.id;
    CHECK_FALSE(find_operator(chain.view, owner).has_value());
    CHECK(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    CHECK(find_operator(chain.view, owner) == chain.stranger.id);
    CHECK(chain.run(chain.verifier, NameOperator{chain.pauper.id}) == 0);
    CHECK(find_operator(chain.view, owner) == chain.pauper.id);
    CHECK(chain.run(chain.verifier, NameOperator{}) == 0);
    CHECK_FALSE(find_operator(chain.view, owner).has_value());
    CHECK(chain.view.slots().count(keys::operator_of(owner)) == 0);
    CHECK(chain.run(chain.verifier, NameOperator{}) == 0);
    CHECK(chain.fail(chain.verifier, NameOperator{owner}) == TxError::kFieldOutOfRange);
}

TEST_CASE("OPR-2: the action is the owner's, fee and nonce are the operator's") {
    Chain chain;
    chain.bond_all();
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    const std::uint64_t owners = chain.balance(chain.verifier);
    const std::uint64_t operators = chain.balance(chain.stranger);
    const std::uint64_t nonce = get_account(chain.view, chain.verifier.id).nonce;
    const std::uint64_t signed_before = get_account(chain.view, chain.stranger.id).nonce;
    CHECK(
        run_for(chain, chain.stranger, chain.verifier, RegisterTerms{Role::kVerifier, {.memory = 3}, 0}) == TxError{}
    );
    CHECK(get_terms(chain.view, Role::kVerifier, chain.verifier.id).terms.memory == 3);
    CHECK(get_terms(chain.view, Role::kVerifier, chain.stranger.id).terms.memory == 0);
    CHECK(chain.balance(chain.verifier) == owners);
    CHECK(get_account(chain.view, chain.verifier.id).nonce == nonce);
    CHECK(chain.balance(chain.stranger) == operators - kFee);
    CHECK(get_account(chain.view, chain.stranger.id).nonce == signed_before + 1);
    // To name oneself as the owner is another encoding of the same, and refused.
    CHECK(
        run_for(chain, chain.stranger, chain.stranger, RegisterTerms{Role::kVerifier, {}, 0}) ==
        TxError::kFieldOutOfRange
    );
}

TEST_CASE("OPR-2: one operator serves several owners, and no owner's transaction is another's") {
    Chain chain;
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    REQUIRE(chain.run(chain.solver, NameOperator{chain.stranger.id}) == 0);
    const RegisterTerms terms{Role::kVerifier, {.memory = 5}, 0};
    const std::uint64_t nonce = get_account(chain.view, chain.stranger.id).nonce;
    const Bytes for_verifier = for_owner(chain.stranger, chain.verifier, terms, nonce);
    // The signature covers the owner.
    auto replayed = codec::decode<Tx>(for_verifier).value();
    replayed.body.owner = chain.solver.id;
    CHECK(TxError{chain.run_block({codec::encode(replayed)}).receipts[0].code} == TxError::kBadSignature);
    CHECK(TxError{chain.run_block({for_verifier}).receipts[0].code} == TxError{});
    CHECK(TxError{chain.run_block({for_verifier}).receipts[0].code} == TxError::kNonceTooLow);
    CHECK(run_for(chain, chain.stranger, chain.solver, RegisterTerms{Role::kVerifier, {.memory = 7}, 0}) == TxError{});
    CHECK(get_terms(chain.view, Role::kVerifier, chain.verifier.id).terms.memory == 5);
    CHECK(get_terms(chain.view, Role::kVerifier, chain.solver.id).terms.memory == 7);
}

TEST_CASE("OPR-3: what moves money, or decides who decides, is the owner's alone") {
    Chain chain;
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    const std::set<std::string> owners_alone{
        "transfer", "bond",           "unbond",          "submit_task",  "cancel_task", "register_validator",
        "unjail",   "propose_params", "propose_upgrade", "propose_halt", "vote",        "name_operator"};
    std::set<std::string> found;
    for (const Action& action : one_of_every_kind(std::make_index_sequence<std::variant_size_v<Action>>{})) {
        CAPTURE(action_name(action));
        const TxError error = run_for(chain, chain.stranger, chain.verifier, action);
        CHECK((error == TxError::kOwnerOnly) == !is_by_operator(action));
        CHECK_FALSE((is_by_operator(action) && amount_out(action, chain.params).grains != 0));
        if (error == TxError::kOwnerOnly) {
            found.insert(action_name(action));
        }
    }
    CHECK(found == owners_alone);
}

TEST_CASE("OPR-4: an operator without a grain does its owner's duties, until another one is named") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const auto assignments = chain.task(id).assignments;
    REQUIRE(assignments.size() >= 2);
    const Actor first = make_actor(40);
    const Actor second = make_actor(41);
    CHECK(answer_for(chain, first, chain.verifier, commitment_of(id, assignments[0])) == TxError::kNotOperator);
    CHECK_FALSE(chain.last.receipts[0].is_charged);
    REQUIRE(chain.run(chain.verifier, NameOperator{first.id}) == 0);
    CHECK(answer_for(chain, first, chain.verifier, commitment_of(id, assignments[0])) == TxError{});
    CHECK(chain.task(id).assignments[0].status == VerdictStatus::kCommitted);
    CHECK(chain.last.receipts[0].owner == chain.verifier.id);
    REQUIRE(chain.run(chain.verifier, NameOperator{second.id}) == 0);
    CHECK(answer_for(chain, first, chain.verifier, commitment_of(id, assignments[1])) == TxError::kNotOperator);
    CHECK(answer_for(chain, second, chain.verifier, commitment_of(id, assignments[1])) == TxError{});
    CHECK(get_account(chain.view, second.id).nonce == 0);
    // Whoever is drawn is the owner, whose own key may answer as before.
    CHECK(find_duty(chain.view, chain.params, second.id, commitment_of(id, assignments[1]))->debtor == second.id);
    CHECK(answer_for(chain, second, chain.solver, commitment_of(id, assignments[1])) == TxError::kNotOperator);
}

TEST_CASE("OPR-5: from the block's next transaction on, the operator before is refused") {
    Chain chain;
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    const std::uint64_t nonce = get_account(chain.view, chain.stranger.id).nonce;
    const auto set_memory = [&](std::uint64_t memory, std::uint64_t at) {
        const RegisterTerms terms{Role::kVerifier, {.memory = memory}, 0};
        return for_owner(chain.stranger, chain.verifier, terms, at);
    };
    const std::uint64_t before = chain.balance(chain.stranger);
    const BlockOutcome& outcome = chain.run_block(
        {set_memory(1, nonce), chain.make_tx(chain.verifier, NameOperator{chain.pauper.id}), set_memory(2, nonce + 1)}
    );
    CHECK(outcome.receipts[0].code == 0);
    CHECK(outcome.receipts[1].code == 0);
    CHECK(TxError{outcome.receipts[2].code} == TxError::kNotOperator);
    CHECK(get_terms(chain.view, Role::kVerifier, chain.verifier.id).terms.memory == 1);
    CHECK(chain.balance(chain.stranger) == before - 2 * kFee);
    // What waits in a mempool is refused from then on, and costs its sender nothing.
    CHECK(check_waiting(chain, set_memory(3, nonce + 2)).error() == TxError::kNotOperator);
}

TEST_CASE("OPR-5: an answer of the operator before that a block holds behind the change has no effect") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const Assignment assignment = chain.task(id).assignments.at(0);
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    const CommitVerdict commit = commitment_of(id, assignment);
    const auto duty = find_duty(chain.view, chain.params, chain.verifier.id, commit).value();
    const Bytes late = for_owner(chain.stranger, chain.verifier, commit, duty.due.value, Amount{});
    chain.run_block({chain.make_tx(chain.verifier, NameOperator{}), late});
    CHECK(TxError{chain.last.receipts[1].code} == TxError::kNotOperator);
    CHECK_FALSE(chain.last.receipts[1].is_charged);
    CHECK(chain.task(id).assignments[0].status == VerdictStatus::kDue);
}

TEST_CASE("OPR-6: a receipt names the owner if its operator acted for it, and for nobody else") {
    Chain chain;
    const RegisterTerms terms{Role::kVerifier, {.memory = 3}, 0};
    CHECK(run_for(chain, chain.stranger, chain.verifier, terms) == TxError::kNotOperator);
    CHECK(chain.last.receipts[0].is_charged);
    CHECK(chain.last.receipts[0].sender == chain.stranger.id);
    CHECK_FALSE(chain.last.receipts[0].owner.has_value());
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    CHECK_FALSE(chain.last.receipts[0].owner.has_value());
    CHECK(run_for(chain, chain.stranger, chain.verifier, terms) == TxError{});
    CHECK(chain.last.receipts[0].sender == chain.stranger.id);
    CHECK(chain.last.receipts[0].owner == chain.verifier.id);
    CHECK(run_for(chain, chain.stranger, chain.verifier, Transfer{chain.stranger.id, {1}}) == TxError::kOwnerOnly);
    CHECK_FALSE(chain.last.receipts[0].owner.has_value());
}

TEST_CASE("OPR-2: who is fined for an operator's false verdict is the owner, and no more than its bond of it") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    const std::uint64_t stranger = chain.balance(chain.stranger);
    const std::uint64_t money = chain.balance(chain.verifier);
    const Stake before = get_stake(chain.view, Role::kVerifier, chain.verifier.id);
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(answer_for(chain, chain.stranger, chain.verifier, commitment_of(id, assignment)) == TxError{});
    }
    // A commitment that its operator cannot open costs the owner what a broken commitment does (VER-5).
    while (!is_terminal(chain.task(id).state)) {
        chain.skip(1);
    }
    const Stake after = get_stake(chain.view, Role::kVerifier, chain.verifier.id);
    const std::uint64_t lost = before.free.grains + before.locked.grains - after.free.grains - after.locked.grains;
    CHECK(lost > 0);
    CHECK(
        lost <= chain.task(id).assignments.size() * verifier_bond(chain.params, task_value(chain.task(id).spec)).grains
    );
    CHECK(chain.balance(chain.verifier) == money);
    CHECK(chain.balance(chain.stranger) == stranger);
}

}  // namespace assay::contracts::test
