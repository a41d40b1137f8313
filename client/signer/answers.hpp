// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/ledger/actions/ledger_actions.hpp>
#include <contracts/stake/actions/stake_actions.hpp>
#include <contracts/tasks/actions/task_actions.hpp>
#include <client/signer/sign.hpp>

/// What sdk/typescript/signer.js asks: the transaction is encoded, priced and signed by the chain's own code.
namespace assay::signer {

/// The questions by number, as signer.js has them.
enum class Question : std::uint32_t { kAccount = 1, kSignMessage = 2, kSignTransaction = 3, kAccountOf = 4 };

struct AccountArguments {
    Secret secret{};
    static constexpr auto fields() { return Fields<&AccountArguments::secret>{}; }
};

struct MessageArguments {
    Secret secret{};
    std::array<std::uint8_t, 32> aux{};
    Bytes message;
    static constexpr auto fields() {
        return Fields<&MessageArguments::secret, &MessageArguments::aux, &MessageArguments::message>{};
    }
};

/// Any other action, as the Borsh bytes of contracts::Action.
struct EncodedAction {
    Bytes bytes;
    static constexpr auto fields() { return Fields<&EncodedAction::bytes>{}; }
};
using GivenAction =
    std::variant<EncodedAction, contracts::Transfer, contracts::Bond, contracts::Unbond, contracts::CancelTask>;

struct TransactionArguments {
    Secret secret{};
    std::array<std::uint8_t, 32> aux{};
    std::string chain_id;
    std::uint64_t nonce = 0;
    Bytes params;     ///< Borsh(contracts::Params), the raw of chain_params
    Amount base_fee;  ///< of node_status
    Amount fee_max;   ///< a transaction that costs more is not signed
    GivenAction action;
    std::optional<AccountId> owner = std::nullopt;  ///< OPR-2: the account to act for
    static constexpr auto fields() {
        return Fields<
            &TransactionArguments::secret, &TransactionArguments::aux, &TransactionArguments::chain_id,
            &TransactionArguments::nonce, &TransactionArguments::params, &TransactionArguments::base_fee,
            &TransactionArguments::fee_max, &TransactionArguments::action, &TransactionArguments::owner>{};
    }
};

/// Decodes the arguments, Borsh of the question's struct, and returns the answer, JSON: with `ok`, and `error` if it is
/// false. Nothing secret is in an answer.
std::string answer(std::uint32_t question, ByteView arguments);

}  // namespace assay::signer
