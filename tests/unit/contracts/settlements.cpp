// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/settlements.hpp>

#include <doctest/doctest.h>

#include <optional>

#include <contracts/arbitration/arbitration.hpp>
#include <tests/unit/contracts/statements.hpp>

namespace assay::contracts::test {
namespace {

void judge(Chain& chain, const TaskId& id) {
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
}

/// A task of the solver and one partner that compute each step together, with so many checkpoints posted.
TaskId start_together(Chain& chain, const ToyRun& run, std::uint32_t until) {
    chain.bond_all();
    const TaskId id = start_group(chain, run.spec(), 1, true);
    for (std::uint32_t i = 0; i < until; ++i) {
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, i, run.checkpoint_root(i), {}}) == 0);
    }
    return id;
}

void finish_together(Chain& chain, const TaskId& id, const ToyRun& run) {
    for (std::uint32_t i = chain.task(id).checkpoints; i < run.checkpoint_roots().size(); ++i) {
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, i, run.checkpoint_root(i), {}}) == 0);
    }
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
}

/// The lead accuses its partner of a statement about step 4; both play it to its end.
void blame_partner(Chain& chain, const TaskId& id, std::optional<DisputeId> answers = std::nullopt) {
    const Actor partner = chain.others.back();
    const Signed told = make_statement(id, fraud(), {.step = 4, .index = 2}, partner);
    REQUIRE(chain.run(chain.solver, make_accuse(id, told, partner, honest(), answers)) == 0);
    play_dispute(chain, accusation_id(id, 2, partner.id, chain.solver.id, answers), honest(), fraud(), partner);
}

/// GRP-14: in the second segment, so often.
TaskId demand_of_partner(Chain& chain, int times) {
    const TaskId id = start_together(chain, honest(), 2);
    for (int i = 0; i < times; ++i) {
        REQUIRE(chain.run(chain.solver, Demand{id, chain.others.back().id}) == 0);
    }
    finish_together(chain, id, honest());
    judge(chain, id);
    return id;
}

/// A segment of the lead is disputed, which blames its partner.
TaskId blame_in_answer(Chain& chain) {
    const TaskId id = start_together(chain, fraud(), 0);
    finish_together(chain, id, fraud());
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    blame_partner(chain, id, accuse(chain, id));
    return id;
}

}  // namespace

const ToyRun& fraud() {
    static const ToyRun kRun(Tamper{false, 4, 2, 2});
    return kRun;
}

TaskId judged_task(Chain& chain, const TaskSpec& spec) {
    chain.bond_all();
    const TaskId id = chain.start_task(spec);
    chain.post_checkpoints(id, honest().checkpoint_roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    judge(chain, id);
    return id;
}

DisputeId accuse(Chain& chain, const TaskId& id) {
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == 0);
    return dispute_id(id, 2, chain.whistleblower.id);
}

std::vector<Case> cases_of_groups() {
    return {
        {"a group does as asked",
         [](Chain& chain) {
             const TaskId id = complete_group_task(chain, honest(), 1);
             judge(chain, id);
             return id;
         }},
        {"a group has posted two of three segments at the deadline",
         [](Chain& chain) {
             chain.bond_all();
             const TaskId id = start_group(chain, make_spec(), 1);
             post_by_turns(chain, id, {hash_of("0"), hash_of("1"), hash_of("2")});
             judge(chain, id);
             return id;
         }},
        {"a group's second segment is refuted, and the first is judged anew by another verifier",
         [](Chain& chain) {
             const TaskId id = complete_group_task(chain, fraud(), 1);
             await_state(chain, id, TaskState::kVerifying);
             chain.commit_all(id);
             chain.publish_all(id);
             play_dispute(chain, accuse(chain, id), fraud(), honest(), chain.whistleblower);
             chain.add_verifiers(1);
             judge(chain, id);
             return id;
         },
         0, "settled", 1},
        {"a group's second segment is refuted, and nobody is drawn anew",
         [](Chain& chain) {
             const TaskId id = complete_group_task(chain, fraud(), 1);
             await_state(chain, id, TaskState::kVerifying);
             chain.commit_all(id);
             chain.publish_all(id);
             play_dispute(chain, accuse(chain, id), fraud(), honest(), chain.whistleblower);
             return id;
         },
         0, "convicted"},
    };
}

std::vector<Case> cases_of_statements() {
    return {
        {"the partner states something wrong, and is accused during the training",
         [](Chain& chain) {
             const TaskId id = start_together(chain, honest(), 2);
             blame_partner(chain, id);
             finish_together(chain, id, honest());
             judge(chain, id);
             return id;
         }},
        {"the lead accuses its partner falsely",
         [](Chain& chain) {
             const TaskId id = start_together(chain, honest(), 2);
             const Actor partner = chain.others.back();
             const Signed told = make_statement(id, honest(), {.step = 4, .index = 2}, partner);
             REQUIRE(chain.run(chain.solver, make_accuse(id, told, partner, fraud())) == 0);
             play_dispute(chain, accusation_id(id, 2, partner.id, chain.solver.id), fraud(), honest(), partner);
             finish_together(chain, id, honest());
             judge(chain, id);
             return id;
         }},
        {"the partner states two things of one value",
         [](Chain& chain) {
             const TaskId id = start_together(chain, honest(), 2);
             const Actor partner = chain.others.back();
             const Signed one = make_statement(id, honest(), {.step = 4, .index = 2}, partner);
             const Signed other = make_statement(id, fraud(), {.step = 4, .index = 2}, partner);
             REQUIRE(
                 chain.run(
                     chain.solver,
                     ReportEquivocation{id, partner.id, one.stated, one.signature, other.stated, other.signature}
                 ) == 0
             );
             finish_together(chain, id, honest());
             judge(chain, id);
             return id;
         }},
        {"the partner leaves after the second segment, and is accused then of what it stated in it",
         [](Chain& chain) {
             const TaskId id = start_together(chain, honest(), 2);
             REQUIRE(chain.run(chain.solver, make_reseat(id, 3, {&chain.solver})) == 0);
             REQUIRE(chain.run(chain.solver, PostCheckpoint{id, 2, honest().checkpoint_root(2), {}}) == 0);
             blame_partner(chain, id);
             finish_together(chain, id, honest());
             judge(chain, id);
             return id;
         }},
        {"the partner leaves after the second segment, and another account takes its place",
         [](Chain& chain) {
             const TaskId id = start_together(chain, honest(), 2);
             const Actor late = chain.others[add_partner(chain)];
             REQUIRE(chain.run(chain.solver, make_reseat(id, 3, {&chain.solver, &late})) == 0);
             finish_together(chain, id, honest());
             judge(chain, id);
             return id;
         }},
        {"the lead demands something of its partner in the second segment",
         [](Chain& chain) { return demand_of_partner(chain, 1); }},
        {"the lead demands something of its partner twice in the second segment",
         [](Chain& chain) { return demand_of_partner(chain, 2); }},
        {"a disputed segment is blamed on the partner, and the first is judged anew by another verifier",
         [](Chain& chain) {
             const TaskId id = blame_in_answer(chain);
             chain.add_verifiers(1);
             judge(chain, id);
             return id;
         },
         0, "settled", 1},
        {"a disputed segment is blamed on the partner, and nobody is drawn anew", blame_in_answer, 0, "convicted"},
    };
}

}  // namespace assay::contracts::test
