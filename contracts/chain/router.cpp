// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/router.hpp>

#include <variant>

#include <contracts/arbitration/accusation.hpp>
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/chain/invariants.hpp>
#include <contracts/governance/governance.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/stake/terms.hpp>
#include <contracts/operators/operators.hpp>
#include <contracts/privacy/privacy.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/retention/retention.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/reseating.hpp>
#include <contracts/tasks/seats.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/validators/validators.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {

Result<void, TxError> check_action_stateless(const TxBody& body) noexcept {
    if (body.owner && *body.owner == body.sender) {
        return Unexpected{TxError::kFieldOutOfRange};  // OPR-2
    }
    if (body.owner && !is_by_operator(body.action)) {
        return Unexpected{TxError::kOwnerOnly};  // OPR-3
    }
    return std::visit(
        [&](const auto& concrete) -> Result<void, TxError> {
            TRY(check_stateless(concrete));
            if constexpr (requires { check_bound(body.chain_id, body.actor(), concrete); }) {
                TRY(check_bound(body.chain_id, body.actor(), concrete));
            }
            return {};
        },
        body.action
    );
}

Result<void, TxError> check_action_stateless(const DecodedTx& tx) noexcept {
    return tx.is_checked ? Result<void, TxError>() : check_action_stateless(tx.tx.body);
}

Result<void, TxError> check_authority(const StateView& view, const TxBody& body) noexcept {
    if (body.owner && find_operator(view, *body.owner) != body.sender) {
        return Unexpected{TxError::kNotOperator};  // OPR-5
    }
    return {};
}

Result<void, TxError> check_action_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Action& action
) noexcept {
    return std::visit([&](const auto& concrete) { return check_stateful(view, params, sender, concrete); }, action);
}

Result<void, TxError> check_action_costly(const StateView& view, const Action& action) noexcept {
    return std::visit(
        [&](const auto& concrete) -> Result<void, TxError> {
            if constexpr (requires { check_costly(view, concrete); }) {
                TRY(check_costly(view, concrete));
            }
            return {};
        },
        action
    );
}

Result<void, TxError> check_action_owed(
    const StateView& view, const Params& params, const AccountId& sender, const Action& action, Height height
) noexcept {
    return std::visit(
        [&](const auto& concrete) -> Result<void, TxError> {
            if constexpr (requires { check_owed(view, params, sender, concrete, height); }) {
                TRY(check_owed(view, params, sender, concrete, height));
            }
            return {};
        },
        action
    );
}

Result<void, TxError> execute_action(Context& context, const Action& action) noexcept {
    return std::visit([&](const auto& concrete) { return execute(context, concrete); }, action);
}

std::optional<TaskId> task_of(
    const StateView& view, const AccountId& sender, std::uint64_t nonce, const Action& action
) {
    const auto id = std::visit(
        [&](const auto& concrete) -> std::optional<TaskId> {
            if constexpr (requires { concrete.new_task(sender, nonce); }) {
                return concrete.new_task(sender, nonce);
            } else if constexpr (requires { concrete.task; }) {
                return concrete.task;
            } else if constexpr (requires { concrete.dispute; }) {
                const auto dispute = find_dispute(view, concrete.dispute);
                return dispute ? std::optional{dispute->task} : std::nullopt;
            } else {
                return std::nullopt;
            }
        },
        action
    );
    return id && find_task(view, *id) ? id : std::nullopt;
}

Result<Traces, TxError> run_guarded(
    Overlay& state, const Params& params, const BlockContext& block, const Cause& cause,
    const std::function<Result<void, TxError>(Context&)>& effects
) {
    Overlay above = Overlay::over(state);
    Context context{
        .state = above,
        .params = params,
        .block = block,
        .tx = cause.tx,
        .actor = cause.actor,
        .nonce = cause.nonce,
        .tx_size_bytes = cause.tx_size_bytes,
        .history = {},
        .judged_proofs = 0};
    TRY(effects(context));
    Changes changes = above.net_changes();
    if (!check_invariants(state, changes, context.history)) {
        return Unexpected{TxError::kInvariantBroken};
    }
    state.absorb(std::move(changes));
    return Traces{
        std::move(context.history), context.judged_proofs, std::move(context.validator_updates), context.end_gas};
}

}  // namespace assay::contracts
