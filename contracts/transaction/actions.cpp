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

}  // namespace

const char* action_name(const Action& action) noexcept {
    return std::visit([](const auto& concrete) { return concrete.kName; }, action);
}

Answer answer_of(const Action& action) noexcept {
    return std::visit([](const auto& concrete) { return concrete.kAnswer; }, action);
}

Amount amount_out(const Action& action, const Params& params) noexcept {
    return std::visit([&](const auto& concrete) { return concrete.amount_out(params); }, action);
}

}  // namespace assay::contracts
