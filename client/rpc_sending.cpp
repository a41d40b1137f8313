// SPDX-License-Identifier: Apache-2.0
#include <client/kept_sending.hpp>
#include <client/rpc_client.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>

#include <client/rpc_answers.hpp>
#include <client/rpc_codes.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/random.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>

/// Signs transactions, submits them and follows them until they are executed: the second half of RpcClient.
namespace assay::client {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

using Clock = std::chrono::steady_clock;

constexpr milliseconds kPollMax{5'000};  // stays below the timeout of a call
constexpr milliseconds kMissingPoll{500};

bool is_nonce_error(const RpcError& error) {
    if (error.code != kTxRejected || !error.data.is_object()) {
        return false;
    }
    const auto reason = error.data.value("tx_error", json());
    return reason == static_cast<std::uint8_t>(contracts::TxError::kNonceTooLow) ||
           reason == static_cast<std::uint8_t>(contracts::TxError::kNonceTooHigh);
}

bool is_already_known(const RpcError& error) {
    return error.code == kTxRejected && error.data.is_object() && error.data.value("reason", json()) == "already_known";
}

/// FEE-1, and a half more, so that it is still enough after three full blocks. The fee does not change the size:
/// amounts are eight bytes.
Amount choose_fee(contracts::TxBody body, const SigningBase& base) {
    const contracts::Tx tx{std::move(body), Signature{}};
    const std::uint64_t gas = contracts::gas_of(tx, codec::encode(tx).size(), base.params);
    const Amount base_fee = std::min(base.base_fee, contracts::kGasPriceMax);
    const Amount least = contracts::least_fee(tx.body.action, gas, base_fee, base.params);
    return Amount{least.grains + contracts::fee_of(gas, base_fee).grains / 2};
}

/// Other threads of this process may send with the same key: one reads the account's next nonce and submits before
/// another does.
std::mutex& nonce_mutex() {
    static std::mutex mutex;
    return mutex;
}

[[noreturn]] void fail_uncertain(const SignedTx& tx, const std::string& why) {
    throw TxUncertain(
        "transaction " + to_hex(tx.hash.view()) + " with nonce " + std::to_string(tx.nonce) + ": " + why +
        "; look at the account's history before you send it again"
    );
}

bool is_nonce_code(std::uint8_t code) {
    return code == static_cast<std::uint8_t>(contracts::TxError::kNonceTooLow) ||
           code == static_cast<std::uint8_t>(contracts::TxError::kNonceTooHigh);
}

/// What the node says about the transaction's end; nullopt while it has none.
std::optional<TxResult> result_of(const SignedTx& tx, const json& said) {
    if (answer_text("tx_get", said, "status") == "pending") {
        return std::nullopt;
    }
    TxResult result;
    result.hash = tx.hash;
    result.height = Height{answer_number("tx_get", said, "height")};
    result.code = static_cast<std::uint8_t>(answer_number("tx_get", said, "code"));
    if (is_nonce_code(result.code)) {
        // A block may hold a transaction twice: the second time it has this error, and the first time it was executed.
        fail_uncertain(
            tx, "it had no effect in block " + std::to_string(result.height.value) + ", and may have had one in another"
        );
    }
    if (result.code != 0) {
        result.error = answer_text("tx_get", said, "error");
    }
    return result;
}

SignedTx sign_with(const crypto::SecretKey& key, contracts::TxBody body) {
    SignedTx out{.sender = body.sender, .nonce = body.nonce, .fee = body.fee, .bytes = {}, .hash = {}};
    std::array<std::uint8_t, 32> aux{};  // BIP-340: against faults and side channels
    crypto::fill_random(aux);
    const Signature signature = key.sign(contracts::signing_hash(body).view(), aux);
    out.bytes = codec::encode(contracts::Tx{std::move(body), signature});
    out.hash = contracts::tx_hash(out.bytes);
    return out;
}

}  // namespace

contracts::TxBody RpcClient::make_body(
    const AccountId& sender, const contracts::Action& action, const SigningBase& base, Amount fee_max
) {
    const json account = call("account_get", {{"account", to_hex(sender.view())}});
    const std::uint64_t nonce = std::max(base.nonce, answer_number("account_get", account, "next_nonce"));
    contracts::TxBody body{base.chain_id, sender, nonce, Amount{}, action, base.owner};
    body.fee = choose_fee(body, base);
    if (body.fee > fee_max) {
        throw FeeTooHigh(
            "the fee is " + std::to_string(body.fee.grains) + " grains, and at most " + std::to_string(fee_max.grains) +
            " are allowed"
        );
    }
    return body;
}

SignedTx RpcClient::sign(
    const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base, Amount fee_max
) {
    return sign_with(key, make_body(key.account(), action, base, fee_max));
}

void RpcClient::submit(const SignedTx& tx) {
    try {
        call("tx_submit", {{"tx", to_hex(tx.bytes)}});
    } catch (const RpcError& error) {
        // The node has seen the signature: that it refuses it now does not say that it is executed nowhere.
        if (is_nonce_error(error)) {
            fail_uncertain(tx, "the node refused it, since another transaction of the account has its nonce");
        }
        if (!is_already_known(error)) {
            throw;
        }
    }
}

TxResult RpcClient::await(const SignedTx& tx, milliseconds timeout) {
    return follow({tx}, timeout, [] { return std::optional<SignedTx>(); });
}

TxResult RpcClient::follow(std::vector<SignedTx> bids, milliseconds timeout, const Raise& raise) {
    const Clock::time_point deadline = Clock::now() + timeout;
    Height at = height();
    Height bid_at = at;
    int missing = 0;
    bool is_nonce_used = false;
    for (;;) {
        bool is_known = false;
        for (const SignedTx& tx : bids) {
            const auto said = unless_missing([&] { return call("tx_get", {{"hash", to_hex(tx.hash.view())}}); });
            is_known = is_known || said.has_value();
            if (auto result = said ? result_of(tx, *said) : std::nullopt) {
                return *std::move(result);
            }
        }
        if (is_known && at > bid_at) {  // a block has left it out
            bid_at = at;
            if (auto higher = raise()) {
                bids.push_back(*std::move(higher));
                show(bids.back());
            }
        }
        const SignedTx& last = bids.back();
        // Between mempool and index there is a moment of nowhere; two blocks of it mean that it is gone.
        missing = is_known ? 0 : missing + 1;
        if (is_nonce_used && !is_known) {
            fail_uncertain(last, "the node has no record of it, and its nonce is used");
        }
        if (missing > 2) {
            const json account = call("account_get", {{"account", to_hex(last.sender.view())}});
            is_nonce_used = answer_number("account_get", account, "nonce") > last.nonce;
            if (is_nonce_used) {
                continue;  // a block may have taken it since we asked: its record is there with the nonce
            }
            try {
                submit(last);
            } catch (const RpcError&) {  // what it says now changes nothing: the bytes may be with others
            }
        }
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            fail_uncertain(last, "it was submitted and is not in a block yet");
        }
        at = wait_for_block(at, std::min(left, is_known ? kPollMax : kMissingPoll));
    }
}

void RpcClient::show(const SignedTx& tx) {
    try {
        submit(tx);
    } catch (const RpcError&) {
    } catch (const TxUncertain&) {
    }
}

TxResult RpcClient::send(
    const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base, Amount fee_max,
    milliseconds timeout
) {
    std::unique_lock lock(nonce_mutex());
    contracts::TxBody body = make_body(key.account(), action, base, fee_max);
    const SignedTx tx = sign_with(key, body);
    submit(tx);
    lock.unlock();
    return follow({tx}, timeout, [&]() -> std::optional<SignedTx> {
        if (body.fee.grains > fee_max.grains / 2) {
            return std::nullopt;
        }
        body.fee.grains *= 2;
        return sign_with(key, body);
    });
}

SignedTx send_kept(
    RpcClient& rpc, const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base,
    Amount fee_max, const std::function<void(const SignedTx&)>& keep
) {
    const std::lock_guard lock(nonce_mutex());
    SignedTx tx = rpc.sign(key, action, base, fee_max);
    keep(tx);
    rpc.submit(tx);
    return tx;
}

TxResult RpcClient::answer(
    const crypto::SecretKey& key, const contracts::Action& action, const std::string& chain_id, Height due,
    milliseconds timeout, const std::optional<AccountId>& owner
) {
    const Clock::time_point deadline = Clock::now() + timeout;
    const contracts::TxBody body{chain_id, key.account(), due.value, Amount{}, action, owner};
    std::vector<SignedTx> shown;  // whichever of them a block takes, the duty has its answer
    const auto show_again = [&] {
        const SignedTx tx = sign_with(key, body);
        submit(tx);
        shown.push_back(tx);
    };
    Height at = height();
    Height shown_at = at;
    show_again();
    std::optional<RpcError> refusal;
    for (int missing = 0;;) {
        bool is_known = false;
        for (const SignedTx& tx : shown) {
            const auto said = unless_missing([&] { return call("tx_get", {{"hash", to_hex(tx.hash.view())}}); });
            is_known = is_known || said.has_value();
            if (auto result = said ? result_of(tx, *said) : std::nullopt) {
                return *std::move(result);
            }
        }
        if (refusal && !is_known) {
            throw *refusal;  // nothing of it waits, nothing was executed, and nobody waits for it any more
        }
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            fail_uncertain(shown.back(), "it was submitted and is not in a block yet");
        }
        missing = is_known ? 0 : missing + 1;
        if (missing > 2 || (is_known && at > shown_at)) {
            shown_at = at;
            missing = 0;
            try {
                refusal.reset();
                show_again();
            } catch (const RpcError& error) {
                refusal = error;  // perhaps a block has just taken it
                continue;
            }
        }
        at = wait_for_block(at, std::min(left, kMissingPoll));
    }
}

TxResult RpcClient::send(const crypto::SecretKey& key, const contracts::Action& action, milliseconds timeout) {
    return send(key, action, {.chain_id = chain_id(), .params = params(), .base_fee = base_fee()}, kFeeMax, timeout);
}

}  // namespace assay::client
