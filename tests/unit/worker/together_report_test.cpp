// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <doctest/doctest.h>

#include <contracts/state/members.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/contracts/statements.hpp>
#include <tests/unit/worker/chain_worker.hpp>
#include <verifier/worker/told.hpp>
#include <verifier/worker/together.hpp>

using namespace assay;

namespace {

/// A lead of a group on a chain, which has evidence that a member has told two others different things.
struct Reporting {
    Reporting() {
        team.post(contracts::test::honest(), 2);
        node.next();
        node.next();
    }
    group::Finding finding() const {
        const contracts::test::ToyRun lie(contracts::test::Tamper{false, 5, 2});
        const contracts::test::Stated what{.step = 5, .index = 2};
        const auto one = contracts::test::make_statement(team.id, lie, what, team.members[0]);
        const auto other = contracts::test::make_statement(team.id, contracts::test::honest(), what, team.members[0]);
        return {
            .member = team.members[0].id,
            .evidence = {
                .author = 1,
                .one = one.stated,
                .one_signature = one.signature,
                .other = other.stated,
                .other_signature = other.signature}};
    }

    contracts::test::Team team{contracts::test::honest()};
    test::TemporaryDirectory home;
    worker_test::ChainNode node{team.chain};
};

/// The lead, as it is until it is killed.
struct ReportingLead {
    explicit ReportingLead(Reporting& at) : scene(at), worker(at.node, at.team.chain.solver, at.home.path()) {
        worker.options.audit_every = 0;
        worker.context.statements = &statements;
    }
    group::Findings& findings() { return *statements.findings(scene.team.id); }
    void look() {
        worker.context.chain.refresh();
        together.attend(scene.team.chain.task(scene.team.id));
    }

    Reporting& scene;
    worker_test::ChainWorker worker;
    worker::ToldByTask statements{scene.home.path()};
    worker::CheckpointShelf shelf{worker.context};
    worker::Together together{worker.context, shelf};
};

}  // namespace

TEST_CASE("STM-11: who cannot report what it found reports it later, also after a restart, and once") {
    Reporting at;
    {
        ReportingLead lead(at);
        lead.findings().add({at.finding(), at.finding()});
        at.node.fails_at = "tx_submit";
        CHECK_THROWS(lead.look());
        at.node.fails_at.clear();
        at.node.refuses = true;
        lead.look();
        at.node.refuses = false;
        CHECK(lead.findings().unsettled().size() == 2);
        CHECK(lead.worker.count("report_equivocation") == 0);
    }
    at.node.submitted.clear();
    ReportingLead again(at);
    CHECK(again.findings().members() == std::set{at.team.members[0].id});
    again.look();
    CHECK(again.findings().unsettled().empty());
    CHECK(again.worker.count("report_equivocation") == 1);
    CHECK(contracts::is_culprit(at.team.chain.task(at.team.id), at.team.members[0].id));
    // What is found once more is no news to the chain.
    again.findings().add({at.finding()});
    again.look();
    CHECK(again.findings().unsettled().empty());
    CHECK(at.node.submitted.size() == 1);
}
