// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/method_parts.hpp>

#include <contracts/governance/governance.hpp>
#include <contracts/state/slots.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/render.hpp>

namespace assay::rpc {

using node::NodeApi;
namespace keys = contracts::keys;

namespace {

Json render_proposal(const contracts::StateView& view, const contracts::OpenProposal& open) {
    const auto proposal = contracts::find_proposal(view, open.id).value();
    const contracts::Tally tally = contracts::count_votes(view, proposal);
    const bool is_upgrade = proposal.kind == contracts::ProposalKind::kUpgrade;
    return {
        {"id", render(open.id)},
        {"proposer", render(proposal.proposer)},
        {"kind", contracts::to_string(proposal.kind)},
        {"changes", render(proposal.changes)},
        {"height", is_upgrade ? Json(proposal.height.value) : Json()},
        {"protocol_version", is_upgrade ? Json(proposal.protocol_version) : Json()},
        {"votes", render(proposal.votes)},
        {"power_in_favour", tally.in_favour},
        {"power_total", tally.total},
        {"has_passed", proposal.effective.value != 0},
        {"ends", proposal.ends.value},
        {"effective", proposal.effective.value == 0 ? Json() : Json(proposal.effective.value)}};
}

Json render_plan(const contracts::Plan& plan, std::uint32_t protocol_version) {
    return {
        {"kind", plan.protocol_version == protocol_version ? "halt" : "upgrade"},
        {"height", plan.height.value},
        {"protocol_version", plan.protocol_version}};
}

}  // namespace

Json next_plan(const NodeApi& api) {
    const auto plans = contracts::get_plans(CommittedView(api));
    return plans.empty() ? Json() : render_plan(plans.front(), api.params().protocol_version);
}

Json proposal_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const CommittedView view(api);
    Json proposals = Json::array();
    for (const contracts::OpenProposal& open : contracts::get_proposals(view)) {
        proposals.push_back(render_proposal(view, open));
    }
    Json plans = Json::array();
    for (const contracts::Plan& plan : contracts::get_plans(view)) {
        plans.push_back(render_plan(plan, api.params().protocol_version));
    }
    return {{"proposals", std::move(proposals)}, {"plans", std::move(plans)}};
}

}  // namespace assay::rpc
