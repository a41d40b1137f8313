// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <contracts/arbitration/actions/dispute_actions.hpp>
#include <contracts/availability/actions/availability_actions.hpp>
#include <contracts/beacon/actions/beacon_actions.hpp>
#include <contracts/governance/actions/governance_actions.hpp>
#include <contracts/ledger/actions/ledger_actions.hpp>
#include <contracts/operators/actions/operator_actions.hpp>
#include <contracts/privacy/actions/privacy_actions.hpp>
#include <contracts/profiling/actions/profile_actions.hpp>
#include <contracts/retention/actions/retention_actions.hpp>
#include <contracts/stake/actions/stake_actions.hpp>
#include <contracts/tasks/actions/seat_actions.hpp>
#include <contracts/tasks/actions/task_actions.hpp>
#include <contracts/validators/actions/validator_actions.hpp>
#include <contracts/verification/actions/verdict_actions.hpp>

/// The list of all actions. To add one, see docs/how-to/add-an-action.md.
namespace assay::contracts {

/// What an action says of itself. Its contract also has check_stateless(), check_stateful() and execute() for it.
template <class A>
concept IsAction = requires(const A& action, const Prices& prices, const Params& params) {
    { A::kName } -> std::convertible_to<const char*>;       // TX-10
    { A::kAnswer } -> std::convertible_to<Answer>;          // DTY-1
    { A::kByOperator } -> std::convertible_to<bool>;        // OPR-3
    {A::fields()};                                          // ENC-1
    { action.gas(prices) } -> std::same_as<std::uint64_t>;  // GAS-3
    { action.amount_out(params) } -> std::same_as<Amount>;  // POOL-1
};

/// The number of an action is its place in this list (ENC-1), so new ones are appended.
using Action = std::variant<
    Transfer, Bond, Unbond, SubmitTask, AcceptTask, PostCheckpoint, CompleteTask, CancelTask, CommitVerdict,
    PublishVerdict, OpenDispute, RevealMove, SelectMove, ProveMove, AttestAvailability, DeclareDivergence,
    DiscloseVerdict, ChallengeVerdict, RegisterValidator, Unjail, RegisterTerms, CommitProfile, PublishProfile,
    ChallengeProfile, JoinBeacon, Contribute, LeaveBeacon, DeclineTask, Accuse, ReportEquivocation, Reseat, Demand,
    ProposeParams, ProposeUpgrade, ProposeHalt, Vote, NameOperator, ShowResult, ShareKeys, ReportWrongKeys,
    ReportWrongChunk>;

/// Name of the action in RPC and CLI, such as "transfer" or "submit_task".
const char* action_name(const Action& action) noexcept;
/// DTY-1: which duty a transaction with this action can answer, and its maximum size.
Answer answer_of(const Action& action) noexcept;
/// OPR-3: whether an operator may send the action for its owner.
bool is_by_operator(const Action& action) noexcept;
/// POOL-1: the amount that a successful action takes from its sender's balance, not counting the fee.
Amount amount_out(const Action& action, const Params& params) noexcept;

}  // namespace assay::contracts
