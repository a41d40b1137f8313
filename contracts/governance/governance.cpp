// SPDX-License-Identifier: Apache-2.0
#include <contracts/governance/governance.hpp>

#include <algorithm>
#include <utility>

#include <contracts/governance/params_rules.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

/// GOV-3: the version that the chain has now stands for cancelling.
bool cancels(const Params& params, std::uint32_t protocol_version) {
    return protocol_version == params.protocol_version;
}

/// GOV-7: what stops or keeps the chain as it is takes effect at once.
bool is_immediate(const Params& params, const Proposal& proposal) {
    return proposal.kind == ProposalKind::kHalt ||
           (proposal.kind == ProposalKind::kUpgrade && cancels(params, proposal.protocol_version));
}

Result<void, TxError> check_in_set(const StateView& view, const AccountId& sender) {
    const auto record = find_validator(view, sender);
    if (!record || record->power == 0) {
        return Unexpected{TxError::kNotInSet};
    }
    return {};
}

std::optional<ProposalId> find_own(const StateView& view, const AccountId& proposer) {
    for (const OpenProposal& open : get_proposals(view)) {
        if (open.proposer == proposer) {
            return open.id;
        }
    }
    return std::nullopt;
}

/// GOV-1, GOV-5: whether the sender may propose now.
Result<void, TxError> check_may_propose(const StateView& view, const AccountId& sender) {
    TRY(check_in_set(view, sender));
    const auto own = find_own(view, sender);
    if (own && find_proposal(view, *own).value().effective.value != 0) {
        return Unexpected{TxError::kProposalPassed};
    }
    return {};
}

/// GOV-2: the parameters with the changes, if the chain can run with them and their step is small enough.
std::optional<Params> admissible(const Params& params, const std::vector<ParamChange>& changes) {
    const auto changed = with_changes(params, changes);
    // Both are at most kGasPriceMax (PAR-1).
    const bool is_admissible = changed && are_valid(*changed) &&
                               changed->gas_price_min.grains <= kGasPriceStepMax * params.gas_price_min.grains;
    return is_admissible ? changed : std::nullopt;
}

Due due_of(const ProposalId& id) { return {.kind = DueKind::kProposal, .id = retag<Hash256>(id)}; }

/// GOV-6: fixes when the proposal takes effect, if it has just passed.
void note_passing(Context& context, const ProposalId& id, Proposal& proposal) {
    if (proposal.effective.value != 0 || !count_votes(context.state, proposal).has_passed()) {
        return;
    }
    proposal.effective = is_immediate(context.params, proposal)
                             ? context.height()
                             : context.height_after(context.params.vote_delay_blocks);
    enter_agenda(context.state, due_of(id), proposal.effective);
}

/// GOV-1, GOV-5
void open_proposal(Context& context, Proposal proposal) {
    if (const auto own = find_own(context.state, context.actor)) {
        erase_proposal(context.state, *own, context.actor);
    }
    const ProposalId id = proposal_id(context.actor, context.nonce);
    proposal.proposer = context.actor;
    proposal.votes = {context.actor};
    proposal.ends = context.height_after(context.params.vote_blocks);
    enter_agenda(context.state, due_of(id), proposal.ends);
    note_passing(context, id, proposal);
    set_proposal(context.state, id, proposal);
}

/// GOV-8: adds a plan, in the place of one for the same height.
void add_plan(Overlay& state, const Plan& plan) {
    auto plans = get_plans(state);
    std::erase_if(plans, [&](const Plan& other) { return other.height == plan.height; });
    plans.push_back(plan);
    std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.height < b.height; });
    set_plans(state, plans);
}

/// GOV-3: only one upgrade is planned at a time; halts stay.
void drop_upgrade(Overlay& state, const Params& params) {
    auto plans = get_plans(state);
    std::erase_if(plans, [&](const Plan& plan) { return plan.protocol_version != params.protocol_version; });
    set_plans(state, plans);
}

/// GOV-7
void take_effect(Context& context, const Proposal& proposal) {
    // The parameters of the state, not the block's: another proposal may have changed them in this block.
    const Params params = get_params(context.state);
    switch (proposal.kind) {
        case ProposalKind::kParams: {
            if (const auto changed = admissible(params, proposal.changes)) {
                set_params(context.state, *changed);
            }
            return;
        }
        case ProposalKind::kUpgrade:
            if (cancels(params, proposal.protocol_version)) {
                drop_upgrade(context.state, params);
            } else if (proposal.height > context.height()) {
                drop_upgrade(context.state, params);
                add_plan(context.state, {.height = proposal.height, .protocol_version = proposal.protocol_version});
            }
            return;
        case ProposalKind::kHalt: {  // GOV-4
            const Plan halt{.height = context.height_after(1), .protocol_version = params.protocol_version};
            const auto plans = get_plans(context.state);
            if (std::none_of(plans.begin(), plans.end(), [&](const Plan& p) { return p.height == halt.height; })) {
                add_plan(context.state, halt);
            }
            return;
        }
    }
}

}  // namespace

// --- proposals -------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ProposeParams& action) noexcept {
    // TX-6, GOV-2
    const auto out_of_order = [](const ParamChange& a, const ParamChange& b) { return a.param >= b.param; };
    if (action.changes.empty() ||
        std::adjacent_find(action.changes.begin(), action.changes.end(), out_of_order) != action.changes.end()) {
        return Unexpected{TxError::kFieldOutOfRange};
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ProposeParams& action
) noexcept {
    TRY(check_may_propose(view, sender));
    // GOV-2
    const auto changed = admissible(params, action.changes);
    if (!changed || *changed == params) {
        return Unexpected{TxError::kChangeInvalid};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const ProposeParams& action) noexcept {
    Proposal proposal;
    proposal.kind = ProposalKind::kParams;
    proposal.changes = action.changes;
    open_proposal(context, std::move(proposal));
    return {};
}

Result<void, TxError> check_stateless(const ProposeUpgrade& action) noexcept {
    if (action.protocol_version == 0) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ProposeUpgrade& action
) noexcept {
    TRY(check_may_propose(view, sender));
    // GOV-3
    const bool is_planned_for_a_height = action.height.value != 0;
    if (action.protocol_version < params.protocol_version ||
        cancels(params, action.protocol_version) == is_planned_for_a_height) {
        return Unexpected{TxError::kChangeInvalid};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const ProposeUpgrade& action) noexcept {
    // GOV-3
    if (action.height.value != 0 && action.height <= context.height_after(context.params.vote_delay_blocks)) {
        return Unexpected{TxError::kChangeInvalid};
    }
    Proposal proposal;
    proposal.kind = ProposalKind::kUpgrade;
    proposal.height = action.height;
    proposal.protocol_version = action.protocol_version;
    open_proposal(context, std::move(proposal));
    return {};
}

Result<void, TxError> check_stateless(const ProposeHalt& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ProposeHalt& /*action*/
) noexcept {
    return check_may_propose(view, sender);
}

Result<void, TxError> execute(Context& context, const ProposeHalt& /*action*/) noexcept {
    Proposal proposal;
    proposal.kind = ProposalKind::kHalt;
    open_proposal(context, std::move(proposal));
    return {};
}

// --- vote ------------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const Vote& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const Vote& action
) noexcept {
    // GOV-6
    TRY(check_in_set(view, sender));
    if (!find_proposal(view, action.proposal)) {
        return Unexpected{TxError::kProposalUnknown};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const Vote& action) noexcept {
    // GOV-6
    Proposal proposal = find_proposal(context.state, action.proposal).value();
    auto& votes = proposal.votes;
    const auto at = std::lower_bound(votes.begin(), votes.end(), context.actor);
    const bool has_voted = at != votes.end() && *at == context.actor;
    if (action.in_favour && !has_voted) {
        votes.insert(at, context.actor);
    } else if (!action.in_favour && has_voted) {
        votes.erase(at);
    }
    note_passing(context, action.proposal, proposal);
    set_proposal(context.state, action.proposal, proposal);
    return {};
}

// --- blocks ----------------------------------------------------------------------------------------------------

Tally count_votes(const StateView& view, const Proposal& proposal) {
    Tally out;
    for (const AccountId& account : get_validators(view)) {
        const std::uint64_t power = find_validator(view, account).value().power;
        out.total += power;
        if (std::binary_search(proposal.votes.begin(), proposal.votes.end(), account)) {
            out.in_favour += power;
        }
    }
    return out;
}

bool end_proposal(Context& context, const ProposalId& id, Height height) {
    const auto proposal = find_proposal(context.state, id);
    if (!proposal) {
        return false;  // replaced
    }
    const bool has_passed = proposal->effective.value != 0;
    if (height != (has_passed ? proposal->effective : proposal->ends)) {
        return false;
    }
    erase_proposal(context.state, id, proposal->proposer);
    if (has_passed && count_votes(context.state, *proposal).has_passed()) {
        take_effect(context, *proposal);
    }
    return true;
}

std::optional<std::uint32_t> begin_planned(Overlay& state, Height height) {
    // GOV-8
    auto plans = get_plans(state);
    if (plans.empty() || plans.front().height > height) {
        return std::nullopt;
    }
    const std::uint32_t version = plans.front().protocol_version;
    plans.erase(plans.begin());
    set_plans(state, plans);
    Params params = get_params(state);
    if (version == params.protocol_version) {
        return std::nullopt;
    }
    params.protocol_version = version;
    set_params(state, params);
    return version;
}

}  // namespace assay::contracts
