// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/statements.hpp>

#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <core/dispute/accuser.hpp>

namespace assay::contracts::test {
namespace {

dispute::Claim segment_claim(const ToyRun& run, std::uint32_t segment) {
    dispute::Claim claim = base_claim(run.spec(), segment);
    claim.before = run.checkpoint_root(segment - 1);
    return claim;
}

std::uint32_t segment_at(std::uint64_t step) { return static_cast<std::uint32_t>(step / ToyRun::kInterval) + 1; }

}  // namespace

Signed make_statement(
    const TaskId& task, const ToyRun& run, const Stated& what, const Actor& author, const char* session
) {
    const dispute::Claim claim = segment_claim(run, segment_at(what.step));
    ToyReplay replay(run, claim, run.state(claim.first_step));
    dispute::Piece piece{
        .source = what.source,
        .index = what.index,
        .part = {},
        .row = 0,
        .col = 0,
        .rows = 1,
        .cols = 2,
        .width = 4,
        .values = {}};
    piece.values = dispute::own_values(claim, what.step, piece, replay).value();
    const Hash256 leaf = dispute::piece_leaf(piece);
    dispute::StatedPiece stated{
        .statement =
            {.task = retag<Hash256>(task),
             .before = claim.before,
             .session = hash_of(session),
             .step = what.step,
             .pieces = 1,
             .root = merkle::Tree({leaf}).root()},
        .piece = piece,
        .index = 0,
        .path = {}};
    return {stated, author.key.sign(dispute::statement_digest(kChainId, stated.statement).view())};
}

Accuse make_accuse(
    const TaskId& task, const Signed& told, const Actor& author, const ToyRun& truth, std::optional<DisputeId> answers,
    const ToyRun* start
) {
    const ToyRun& before = start != nullptr ? *start : truth;
    const dispute::Claim claim = segment_claim(before, segment_at(told.stated.statement.step));
    ToyReplay replay(truth, claim, before.state(claim.first_step));
    return {
        .task = task,
        .member = author.id,
        .signature = told.signature,
        .contradiction = dispute::make_contradiction(claim, told.stated, replay),
        .answers = answers};
}

Params all_segments() {
    Params params = quick_params();
    params.segments_checked = 4;
    params.challenge_blocks = 60;
    return params;
}

Team::Team(const TaskSpec& spec, std::size_t partners, const Params& params) : chain(params) {
    chain.bond_all();
    id = start_group(chain, spec, partners, true);
    for (std::size_t i = chain.others.size() - partners; i < chain.others.size(); ++i) {
        members.push_back(chain.others[i]);
    }
    bond = members_bond(chain);
}

void Team::post(const ToyRun& run, std::uint32_t until) {
    for (std::uint32_t i = chain.task(id).checkpoints; i < until; ++i) {
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, i, run.checkpoint_root(i), {}}) == 0);
    }
}

void Team::finish(const ToyRun& run) {
    post(run, static_cast<std::uint32_t>(run.checkpoint_roots().size()));
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    REQUIRE(chain.task(id).state == TaskState::kChallenge);
}

DisputeId Team::dispute_segment(std::uint32_t segment) {
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, segment, Role::kWhistleblower}) == 0);
    return dispute_id(id, segment, chain.whistleblower.id);
}

Accuse Team::accuse(
    const Actor& author, const ToyRun& told, const ToyRun& truth, std::optional<DisputeId> answers, const Stated& what
) const {
    return make_accuse(id, make_statement(id, told, what, author), author, truth, answers);
}

}  // namespace assay::contracts::test
