// SPDX-License-Identifier: Apache-2.0
#include <contracts/operators/operators.hpp>

#include <contracts/state/slots.hpp>

namespace assay::contracts {

Result<void, TxError> check_stateless(const NameOperator& /*action*/) noexcept { return {}; }

Result<void, TxError> check_bound(
    const std::string& /*chain_id*/, const AccountId& sender, const NameOperator& action
) noexcept {
    if (action.account == sender) {
        return Unexpected{TxError::kFieldOutOfRange};  // OPR-1
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& /*view*/, const Params& /*params*/, const AccountId& /*sender*/, const NameOperator& /*action*/
) noexcept {
    return {};
}

Result<void, TxError> execute(Context& context, const NameOperator& action) noexcept {
    set_operator(context.state, context.actor, action.account);  // OPR-1
    return {};
}

}  // namespace assay::contracts
