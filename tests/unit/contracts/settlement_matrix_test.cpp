// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/retention/retention.hpp>
#include <contracts/state/members.hpp>
#include <tests/unit/contracts/committees.hpp>
#include <tests/unit/contracts/settlements.hpp>
#include <tests/unit/folders.hpp>

/// Every way that a task can end, played on a chain, and who got what: the table in docs/protocol/settlement-matrix.md
/// is what this prints. ASSAY_WRITE_MATRIX=1 writes it anew.

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

Params matrix_params(std::uint32_t forced_error_bps, std::uint32_t redraws_max) {
    Params params = quick_params();
    params.segments_checked = 4;
    params.challenge_blocks = 40;
    params.publish_blocks = 12;
    params.disclose_blocks = 12;
    params.tax_bps = 400;
    params.forced_error_bps = forced_error_bps;
    params.redraws_max = redraws_max;
    params.attest_blocks = 12;
    params.committee_seats = 5;
    params.retention_shows = 2;
    params.retention_show_blocks = 5;
    return params;
}

/// Grains as coins, signed.
std::string coins(std::int64_t grains) {
    if (grains == 0) {
        return "0";
    }
    const std::uint64_t size = static_cast<std::uint64_t>(grains < 0 ? -grains : grains);
    std::string fraction = std::to_string(kCoin + size % kCoin).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return (grains < 0 ? "-" : "+") + std::to_string(size / kCoin) + (fraction.empty() ? "" : "." + fraction);
}

/// What a task did to everybody's money, out of its history; the treasury's part is what conservation leaves.
struct Money {
    std::int64_t solver = 0, submitter = 0, verifier = 0, whistleblower = 0, burned = 0;

    Money(const Chain& chain, const TaskId& id) {
        const auto of = [&](const AccountId& account) -> std::int64_t& {
            return is_member(chain.task(id), account)  ? solver  // a group together
                   : account == chain.submitter.id     ? submitter
                   : account == chain.whistleblower.id ? whistleblower
                                                       : verifier;  // or another verifier
        };
        for (const HistoryRecord& entry : chain.history) {
            if (entry.task != id) {
                continue;
            }
            if (const auto* in = std::get_if<history::Submitted>(&entry.event)) {
                submitter -= static_cast<std::int64_t>(in->escrow.grains);
            } else if (const auto* paid = std::get_if<history::Paid>(&entry.event); paid && !paid->to.is_zero()) {
                of(paid->to) += static_cast<std::int64_t>(paid->amount.grains);
            } else if (const auto* slashed = std::get_if<history::Slashed>(&entry.event)) {
                of(slashed->from) -= static_cast<std::int64_t>(slashed->amount.grains);
                burned += static_cast<std::int64_t>(slashed->burned.grains);
            }
        }
    }
    std::int64_t treasury() const { return -(solver + submitter + verifier + whistleblower + burned); }
    std::string row() const {
        return coins(solver) + " | " + coins(submitter) + " | " + coins(verifier) + " | " + coins(whistleblower) +
               " | " + coins(treasury()) + " | " + coins(burned);
    }
};

/// The task completed by `run`, its verdicts published by a verifier who finds what `finds` has at the probes.
TaskId publish(Chain& chain, const ToyRun& run, const ToyRun& finds) {
    chain.probe_root = [&finds](std::uint32_t segment, std::uint32_t probe) {
        return root_of(finds.state((segment - 1) * ToyRun::kInterval + probe));
    };
    const TaskId id = complete_toy_task(chain, run);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    return id;
}

/// An honest solver's task on which none of five verifiers gave a verdict; it waits for a committee.
TaskId silent_task(Chain& chain) {
    chain.add_verifiers(4);
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1);
    give_no_verdict(chain, id);
    return id;
}

DisputeId challenge(Chain& chain, const TaskId& id, std::uint32_t segment) {
    const DisputeId dispute =
        dispute_id(id, segment, chain.whistleblower.id, DisputedVerdict{chain.verifier.id, false});
    const std::uint32_t probe = chain.assignment(chain.verifier, id, segment).probe;
    ChallengeVerdict challenge{id, segment, chain.verifier.id, Role::kWhistleblower};
    challenge.seal = challenge_seal(dispute, chain.probe_root(segment, probe));
    REQUIRE(chain.run(chain.whistleblower, challenge) == 0);
    return dispute;
}

/// As soon as a verdict that was challenged in the last block may be.
void disclose(Chain& chain, const TaskId& id, std::uint32_t segment) {
    if (chain.task(id).state != TaskState::kDisclosure) {
        chain.skip(chain.params.challenge_blocks / 2);
    }
    REQUIRE(chain.disclose(chain.verifier, id, segment, chain.assignment(chain.verifier, id, segment).end_root) == 0);
}

std::vector<Case> cases_without_fraud() {
    return {
        {"cancelled before a solver accepts",
         [](Chain& chain) {
             chain.bond_all();
             const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
             REQUIRE(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
             REQUIRE(chain.run(chain.submitter, CancelTask{id}) == 0);
             return id;
         },
         0, "cancelled"},
        {"no verifier can be drawn",
         [](Chain& chain) {
             REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
             const TaskId id = chain.start_task(make_spec());
             chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
             REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
             chain.skip(2 * chain.params.draw_blocks);
             return id;
         },
         0, "expired"},
        {"everybody does as asked",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             chain.end_windows(id);
             return id;
         }},
        {"the verifier never commits",
         [](Chain& chain) {
             const TaskId id = complete_toy_task(chain, honest());
             chain.skip(1 + chain.params.commit_blocks);
             chain.end_windows(id);
             return id;
         },
         0, "expired"},
        {"the verifier discloses one verdict of four",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             chain.skip(chain.params.challenge_blocks);
             disclose(chain, id, 1);
             chain.skip(chain.params.disclose_blocks);
             return id;
         },
         0, "expired"},
        {"forced errors that nobody challenges",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             chain.end_windows(id);
             return id;
         },
         10'000},
        {"a forced error that its watcher challenges",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             challenge(chain, id, 1);
             disclose(chain, id, 1);
             chain.end_windows(id);
             return id;
         },
         10'000},
        {"nobody commits; a committee could fetch, others verify",
         [](Chain& chain) {
             const TaskId id = silent_task(chain);
             redraw(chain, id, honest());
             chain.commit_all(id);
             chain.publish_all(id);
             chain.end_windows(id);
             return id;
         },
         0, "settled", 1},
        {"nobody commits; a committee could fetch, and its members are silent too",
         [](Chain& chain) {
             const TaskId id = silent_task(chain);
             redraw(chain, id, honest());
             chain.skip(chain.params.commit_blocks + chain.params.challenge_blocks);
             return id;
         },
         0, "expired", 1},
        {"the training diverges in its second segment",
         [](Chain& chain) {
             static const ToyRun kRun({}, ToyRun::kDivergingScale);
             chain.bond_all();
             const TaskId id = chain.start_task(kRun.spec());
             auto roots = kRun.checkpoint_roots();
             roots.resize(2);
             chain.post_checkpoints(id, roots);
             const auto& state = kRun.state(ToyRun::kDivergesAt + 1);
             REQUIRE(
                 chain.run(
                     chain.solver,
                     DeclareDivergence{
                         id, ToyRun::kDivergesAt, root_of(state), {}, dispute::open_divergence(state).value()}
                 ) == 0
             );
             chain.skip(1);
             chain.commit_all(id);
             chain.publish_all(id);
             chain.end_windows(id);
             return id;
         }},
    };
}

std::vector<Case> cases_of_accusers_and_verifiers() {
    return {
        {"a false accusation of the solver, refuted",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             play_dispute(chain, accuse(chain, id), honest(), fraud(), chain.whistleblower);
             chain.end_windows(id);
             return id;
         }},
        {"an accuser of the solver falls silent",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             const DisputeId dispute = accuse(chain, id);
             const Dispute open = find_dispute(chain.view, dispute).value();
             ToyReplay replay(honest(), open.claim, honest().state(4));
             const auto children = dispute::make_reveal(open.claim, open.position, replay);
             REQUIRE(chain.run(chain.solver, RevealMove{dispute, 0, children}) == 0);
             chain.skip(chain.params.dispute_clock_blocks + 1);
             chain.end_windows(id);
             return id;
         }},
        {"a verifier invents a probe root, and is challenged",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), fraud());
             const DisputeId dispute = challenge(chain, id, 2);
             disclose(chain, id, 2);
             play_dispute(chain, dispute, fraud(), honest(), chain.whistleblower);
             chain.end_windows(id);
             return id;
         },
         0, "expired"},
        {"a true verdict is challenged",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             const DisputeId dispute = challenge(chain, id, 2);
             disclose(chain, id, 2);
             play_dispute(chain, dispute, honest(), fraud(), chain.whistleblower);
             chain.end_windows(id);
             return id;
         }},
        {"a challenged verdict is not disclosed",
         [](Chain& chain) {
             const TaskId id = publish(chain, honest(), honest());
             challenge(chain, id, 2);
             chain.skip(chain.params.challenge_blocks / 2 + chain.params.disclose_blocks + 1);
             chain.end_windows(id);
             return id;
         },
         0, "expired"},
        {"a verdict is published otherwise than committed",
         [](Chain& chain) {
             const TaskId id = complete_toy_task(chain, honest());
             chain.skip(1);
             chain.commit_all(id);
             REQUIRE(
                 chain.run(chain.verifier, PublishVerdict{id, 1, {honest().checkpoint_root(1), hash_of("copied")}}) == 0
             );
             for (const std::uint32_t segment : {0U, 2U, 3U}) {
                 REQUIRE(chain.publish(chain.verifier, id, segment, honest().checkpoint_root(segment)) == 0);
             }
             chain.end_windows(id);
             return id;
         },
         0, "expired"},
    };
}

std::vector<Case> cases_of_fraud() {
    return {
        {"the solver does not complete in time",
         [](Chain& chain) {
             chain.bond_all();
             const TaskId id = chain.start_task(make_spec());
             chain.skip(make_spec().training_blocks + 1);
             return id;
         },
         0, "expired"},
        {"a fraud that verifiers accepted, refuted by a whistleblower",
         [](Chain& chain) {
             const TaskId id = publish(chain, fraud(), honest());
             play_dispute(chain, accuse(chain, id), fraud(), honest(), chain.whistleblower);
             return id;
         },
         0, "convicted"},
        {"a fraud that the verifier's own verdict refutes",
         [](Chain& chain) {
             const TaskId id = complete_toy_task(chain, fraud());
             chain.skip(1);
             for (std::uint32_t segment = 0; segment < 4; ++segment) {
                 const ToyRun& finds = segment == 2 ? honest() : fraud();
                 REQUIRE(chain.commit(chain.verifier, id, segment, finds.checkpoint_root(segment)) == 0);
             }
             REQUIRE(chain.publish(chain.verifier, id, 2, honest().checkpoint_root(2)) == 0);
             play_dispute(chain, dispute_id(id, 2, chain.verifier.id), fraud(), honest(), chain.verifier);
             return id;
         },
         0, "convicted"},
        {"the solver is silent in a dispute",
         [](Chain& chain) {
             const TaskId id = publish(chain, fraud(), honest());
             accuse(chain, id);
             chain.skip(chain.params.dispute_clock_blocks + 1);
             return id;
         },
         0, "convicted"},
        {"nobody commits, and three committees could not fetch",
         [](Chain& chain) {
             const TaskId id = silent_task(chain);
             while (!is_terminal(chain.task(id).state)) {
                 chain.skip(1);
             }
             return id;
         },
         0, "convicted", 1},
    };
}

/// A task whose result is kept for 2 coins and drawn twice, of which the solver shows the first `shown`.
TaskId keep(Chain& chain, std::uint32_t shown) {
    TaskSpec spec = honest().spec();
    spec.retention = Retention{.blocks = 10, .fee = {2 * kCoin}};
    const TaskId id = judged_task(chain, spec);
    while (!is_terminal(chain.task(id).state)) {
        const Task task = chain.task(id);
        if (!task.keeping->seed || task.keeping->shows == shown) {
            chain.skip(1);
            continue;
        }
        const DrawnTile asked = shown_tile(task);
        const auto opening = open_toy_tile(honest(), task.checkpoints - 1, asked.tensor, asked.number);
        REQUIRE(chain.run(chain.solver, ShowResult{id, opening}) == 0);
    }
    return id;
}

std::vector<Case> cases_of_retention() {
    return {
        {"the result is paid for, and every tile of it is shown", [](Chain& chain) { return keep(chain, 2); }},
        {"the result is paid for, and the second of two tiles is not shown",
         [](Chain& chain) { return keep(chain, 1); }},
    };
}

std::string play(const Case& c) {
    Chain chain(matrix_params(c.forced_error_bps, c.redraws_max));
    const TaskId id = c.play(chain);
    CAPTURE(c.name);
    REQUIRE(std::string(to_string(chain.task(id).state)) == c.end);
    return std::string("| ") + c.name + " | " + c.end + " | " + Money(chain, id).row() + " |\n";
}

std::string matrix() {
    std::string out =
        "| what happens | the task ends | solver | submitter | verifier | whistleblower | treasury | burned |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const auto& group :
         {cases_without_fraud(), cases_of_accusers_and_verifiers(), cases_of_fraud(), cases_of_groups(),
          cases_of_statements(), cases_of_retention()}) {
        for (const Case& c : group) {
            out += play(c);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("SET-1, SET-2, SET-4: the settlement matrix is what the chain does") {
    const std::string path = folders::source() + "/docs/protocol/settlement-matrix.md";
    std::ifstream file(path);
    std::ostringstream page;
    page << file.rdbuf();
    const std::string text = page.str();
    const std::size_t begin = text.find("| what happens");
    REQUIRE(begin != std::string::npos);
    const std::string played = matrix();
    if (std::getenv("ASSAY_WRITE_MATRIX") != nullptr) {
        std::ofstream(path) << text.substr(0, begin) << played;
        return;
    }
    CHECK(text.substr(begin) == played);
}
