// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/governance/actions/governance_actions.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/proposal.hpp>
#include <contracts/state/tx_error.hpp>

/// Validators vote on changes of parameters, on upgrades and on halts (GOV rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const ProposeParams& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ProposeParams& action
) noexcept;
Result<void, TxError> execute(Context& context, const ProposeParams& action) noexcept;

Result<void, TxError> check_stateless(const ProposeUpgrade& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ProposeUpgrade& action
) noexcept;
Result<void, TxError> execute(Context& context, const ProposeUpgrade& action) noexcept;

Result<void, TxError> check_stateless(const ProposeHalt& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ProposeHalt& action
) noexcept;
Result<void, TxError> execute(Context& context, const ProposeHalt& action) noexcept;

Result<void, TxError> check_stateless(const Vote& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Vote& action
) noexcept;
Result<void, TxError> execute(Context& context, const Vote& action) noexcept;

/// GOV-2: how many times as high a vote may make gas_price_min.
inline constexpr std::uint64_t kGasPriceStepMax = 2;

/// GOV-6: voting power, in whole ASY of stake (VAL-3), so that three times as much fits 64 bits.
struct Tally {
    std::uint64_t in_favour = 0;
    std::uint64_t total = 0;
    bool has_passed() const { return 3 * in_favour > 2 * total; }
};
/// Counts the votes with the powers that validators have now.
Tally count_votes(const StateView& view, const Proposal& proposal);

/// GOV-5, GOV-7: drops the proposal whose time to vote ended at `height`, or has it take effect if its delay did.
/// Returns whether either was so.
bool end_proposal(Context& context, const ProposalId& id, Height height);

/// GOV-8: begins what is planned for block `height`: the parameters have the version of the program that executes it,
/// and the state is migrated to it. Returns the new version if there is one.
std::optional<std::uint32_t> begin_planned(Overlay& state, Height height);

}  // namespace assay::contracts
