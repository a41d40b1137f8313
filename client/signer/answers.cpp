// SPDX-License-Identifier: Apache-2.0
#include <client/signer/answers.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <client/referee/json.hpp>
#include <client/signer/curve.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>

namespace assay::signer {
namespace {

using referee::JsonWriter;

std::string make_error(std::string_view problem) {
    return JsonWriter().boolean("ok", false).text("error", problem).finish();
}

constexpr std::string_view kNoSecret = "the secret is not a key: 32 bytes, not 0 and below the order of the group";

std::string tell_account(AccountArguments arguments) {
    const auto account = account_of(arguments.secret);
    wipe(arguments.secret);
    if (!account) {
        return make_error(kNoSecret);
    }
    return JsonWriter()
        .boolean("ok", true)
        .hex("account", *account)
        .text("address", crypto::to_address(*account))
        .finish();
}

std::string sign_message(MessageArguments arguments) {
    const auto signature = sign_schnorr(arguments.secret, arguments.message, arguments.aux);
    wipe(arguments.secret);
    return signature ? JsonWriter().boolean("ok", true).hex("signature", *signature).finish() : make_error(kNoSecret);
}

std::optional<contracts::Action> action_of(GivenAction given) {
    if (const auto* encoded = std::get_if<EncodedAction>(&given)) {
        auto action = codec::decode<contracts::Action>(encoded->bytes);
        return action ? std::optional(*std::move(action)) : std::nullopt;
    }
    if (auto* transfer = std::get_if<contracts::Transfer>(&given)) {
        return contracts::Action(*transfer);
    }
    if (auto* bond = std::get_if<contracts::Bond>(&given)) {
        return contracts::Action(*bond);
    }
    if (auto* unbond = std::get_if<contracts::Unbond>(&given)) {
        return contracts::Action(*unbond);
    }
    return contracts::Action(std::get<contracts::CancelTask>(given));
}

/// FEE-1, and a half of the gas fee more, as the command line pays: enough after three full blocks.
Amount choose_fee(
    const contracts::Tx& tx, std::uint64_t gas, const TransactionArguments& arguments, const contracts::Params& params
) {
    const Amount base_fee = std::min(arguments.base_fee, contracts::kGasPriceMax);
    const Amount least = contracts::least_fee(tx.body.action, gas, base_fee, params);
    return Amount{least.grains + contracts::fee_of(gas, base_fee).grains / 2};
}

std::string sign_transaction(TransactionArguments arguments) {
    const auto params = codec::decode<contracts::Params>(arguments.params);
    if (!params) {
        return make_error("the parameters do not decode: give the raw of chain_params");
    }
    if (params->protocol_version != contracts::kProtocolVersion) {
        return make_error("the chain has another version of the protocol than this module");
    }
    auto action = action_of(std::move(arguments.action));
    const auto account = account_of(arguments.secret);
    if (!action || !account) {
        return make_error(account ? "the action does not decode" : kNoSecret);
    }
    contracts::Tx tx{
        {arguments.chain_id, *account, arguments.nonce, Amount{}, *std::move(action), arguments.owner}, Signature{}};
    const std::size_t size = codec::encode(tx).size();  // amounts and signatures have one size
    const std::uint64_t gas = contracts::gas_of(tx, size, *params);
    tx.body.fee = choose_fee(tx, gas, arguments, *params);
    if (tx.body.fee > arguments.fee_max) {
        return JsonWriter()
            .boolean("ok", false)
            .text("error", "the transaction costs more than is allowed")
            .number("fee", tx.body.fee.grains)
            .finish();
    }
    if (size > params->tx_size_max) {
        return make_error("the transaction is larger than the chain takes");
    }
    const auto signature = sign_schnorr(arguments.secret, contracts::signing_hash(tx.body).view(), arguments.aux);
    wipe(arguments.secret);
    if (!signature) {
        return make_error(kNoSecret);
    }
    tx.signature = *signature;
    const Bytes bytes = codec::encode(tx);
    return JsonWriter()
        .boolean("ok", true)
        .hex("raw", bytes)
        .hex("hash", contracts::tx_hash(bytes))
        .hex("sender", *account)
        .text("action", contracts::action_name(tx.body.action))
        .number("fee", tx.body.fee.grains)
        .number("gas", gas)
        .finish();
}

/// Of an address.
std::string account_at(const std::string& address) {
    const auto account = crypto::decode_address(address);
    return account ? JsonWriter().boolean("ok", true).hex("account", *account).finish()
                   : make_error("this is not an address of an account");
}

template <class Arguments>
std::string ask(std::string (*function)(Arguments), ByteView bytes) {
    auto arguments = codec::decode<Arguments>(bytes);
    return arguments ? function(*std::move(arguments)) : make_error("the arguments do not decode");
}

}  // namespace

std::string answer(std::uint32_t question, ByteView arguments) {
    switch (static_cast<Question>(question)) {
        case Question::kAccount:
            return ask(tell_account, arguments);
        case Question::kSignMessage:
            return ask(sign_message, arguments);
        case Question::kSignTransaction:
            return ask(sign_transaction, arguments);
        case Question::kAccountOf: {
            const auto address = codec::decode<std::string>(arguments);
            return address ? account_at(*address) : make_error("the arguments do not decode");
        }
    }
    return make_error("there is no such question");
}

}  // namespace assay::signer
