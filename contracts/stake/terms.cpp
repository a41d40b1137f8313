// SPDX-License-Identifier: Apache-2.0
#include <contracts/stake/terms.hpp>

#include <algorithm>

#include <contracts/state/slots.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/params/work.hpp>

namespace assay::contracts {
namespace {

/// HW-3, ENV-3
bool is_suited(const Terms& terms, std::uint32_t number, const std::vector<std::uint64_t>& wanted) {
    return (number == 0 || terms.hardware_class == number) && has_offers(terms.offers, wanted);
}

/// ENV-3
bool are_offers(const std::vector<std::uint64_t>& offers) {
    const auto not_above = [](std::uint64_t a, std::uint64_t b) { return a >= b; };
    return offers.size() <= kMaxOffers && std::adjacent_find(offers.begin(), offers.end(), not_above) == offers.end();
}

}  // namespace

Result<void, TxError> check_class(const Params& params, std::uint32_t number) noexcept {
    if (number > params.hardware_classes.size()) {
        return Unexpected{TxError::kClassUnknown};  // HW-1
    }
    return {};
}

Result<void, TxError> check_stateless(const RegisterTerms& action) noexcept {
    if (action.role != Role::kSolver && action.role != Role::kVerifier) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6: nobody is drawn by the machine for any other
    }
    const Terms& terms = action.terms;
    const bool is_verifier = action.role == Role::kVerifier;
    if (!is_verifier && terms != Terms{.hardware_class = terms.hardware_class, .offers = terms.offers}) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6: a solver consents by accepting
    }
    if (is_verifier ? !terms.offers.empty() : !are_offers(terms.offers)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6, ENV-3
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& /*view*/, const Params& params, const AccountId& /*sender*/, const RegisterTerms& action
) noexcept {
    const std::uint32_t number = action.terms.hardware_class;
    TRY(check_class(params, number));
    if (number != 0 && action.score < params.hardware_classes[number - 1].least_score) {
        return Unexpected{TxError::kScoreTooLow};  // HW-2
    }
    if (action.terms.price > kMostAsked * params.work_price) {
        return Unexpected{TxError::kPriceTooHigh};  // TRM-1
    }
    return {};
}

Result<void, TxError> execute(Context& context, const RegisterTerms& action) noexcept {
    // HW-2
    set_terms(context.state, action.role, context.actor, {action.terms, action.score, context.height()});
    Stake stake = get_stake(context.state, action.role, context.actor);
    if (stake.is_unlisted) {
        stake.is_unlisted = false;  // TASK-6
        put_stake(context, action.role, context.actor, stake);
    }
    return {};
}

bool is_suited(const Terms& terms, const TaskSpec& spec) noexcept {
    return is_suited(terms, spec.hardware_class, fingerprints(spec.environment));
}

std::vector<Candidate> suited(const TaskSpec& spec, const std::vector<Candidate>& candidates) {
    const std::vector<std::uint64_t> wanted = fingerprints(spec.environment);
    std::vector<Candidate> out;
    for (const Candidate& candidate : candidates) {
        if (is_suited(candidate.terms, spec.hardware_class, wanted)) {
            out.push_back(candidate);
        }
    }
    return out;
}

}  // namespace assay::contracts
