// SPDX-License-Identifier: Apache-2.0
#include <contracts/transaction/actions.hpp>

#include <variant>

namespace assay::contracts {
namespace {

template <class>
constexpr bool kAreActions = false;
template <class... A>
constexpr bool kAreActions<std::variant<A...>> = (IsAction<A> && ...);
static_assert(kAreActions<Action>);

/// OPR-3: ids that are made of a sender's nonce are made of the signer's own, so that two signers cannot make one.
template <class>
constexpr bool kMakeOwnIds = false;
template <class... A>
constexpr bool kMakeOwnIds<std::variant<A...>> =
    ((!A::kByOperator || !requires(const A& action) { action.new_task(AccountId{}, std::uint64_t{}); }) && ...);
static_assert(kMakeOwnIds<Action>);

}  // namespace

const char* action_name(const Action& action) noexcept {
    return std::visit([](const auto& concrete) { return concrete.kName; }, action);
}

Answer answer_of(const Action& action) noexcept {
    return std::visit([](const auto& concrete) { return concrete.kAnswer; }, action);
}

bool is_by_operator(const Action& action) noexcept {
    return std::visit([](const auto& concrete) { return concrete.kByOperator; }, action);
}

Amount amount_out(const Action& action, const Params& params) noexcept {
    return std::visit([&](const auto& concrete) { return concrete.amount_out(params); }, action);
}

}  // namespace assay::contracts
