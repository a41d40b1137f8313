// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/method_parts.hpp>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/params/work.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/cursor.hpp>
#include <node/rpc/metered_api.hpp>
#include <node/rpc/render.hpp>

namespace assay::rpc {

using node::NodeApi;
namespace keys = contracts::keys;

namespace {

constexpr std::size_t kTxBytesMax = 1U << 20U;

/// What else to say of a rejected transaction; nothing where its reason says enough.
std::string advice_on(contracts::TxError error, const contracts::Params& params) {
    switch (error) {
        case contracts::TxError::kValueTooHigh:
            return ": reward and verification fee come to more than this chain's task_value_max, " +
                   std::to_string(params.task_value_max.grains) +
                   " grains; split the training into tasks of which each has the one before as its parent, or submit "
                   "it "
                   "to a chain with a higher limit";
        case contracts::TxError::kSegmentTooLong:
            return ": a machine of the task's class may need more than replay_blocks_max, " +
                   std::to_string(params.replay_blocks_max) +
                   " blocks, for a segment; make checkpoint_interval smaller, or ask for a faster class";
        case contracts::TxError::kTimeTooShort:
            return ": training_blocks is too little for the work on a machine of the task's class; give it more, or "
                   "ask "
                   "for a faster class";
        case contracts::TxError::kFeeBelowWork:
            return ": the verification fee is less than work_price, " + std::to_string(params.work_price) +
                   " grains for 10^9 multiply-adds, asks for; assay task submit says how much it has to be";
        case contracts::TxError::kRetentionUnfit:
            return ": a result is kept for at least " +
                   std::to_string(std::uint64_t{params.retention_shows} * params.retention_show_blocks) +
                   " and at most retention_blocks_max, " + std::to_string(params.retention_blocks_max) +
                   " blocks, by one solver, for at most the task's value and at least what memory and time ask for; "
                   "assay task submit says how much";
        case contracts::TxError::kKeysMissing:
            return ": the submitter of a private task has share_blocks, " + std::to_string(params.share_blocks) +
                   " blocks, to share its keys with the solver; wait for them";
        case contracts::TxError::kSealedMismatch:
            return ": each checkpoint of a private task names its sealed file, and no other task's does";
        case contracts::TxError::kPriceTooHigh:
            return ": a verifier asks for at most " + std::to_string(contracts::kMostAsked * params.work_price) +
                   " grains for 10^9 multiply-adds, " + std::to_string(contracts::kMostAsked) + " times work_price";
        case contracts::TxError::kDutiesFull:
            return ": open disputes take all the room that the chain has for their moves; send it again in a few "
                   "blocks: windows "
                   "of challenges stand still meanwhile";
        case contracts::TxError::kNotOwed:
            return ": the sender owes no answer that is due at this height; with a fee and the account's nonce it is "
                   "an "
                   "ordinary transaction";
        case contracts::TxError::kScoreTooLow:
            return ": it is below the least score of that class; ask for a slower one, or for none";
        case contracts::TxError::kInsufficientBalance:
            return ": the account's balance does not cover the amount and the fee";
        case contracts::TxError::kInsufficientStake:
            return ": the account has too little free stake in that role; bond more, or wait until what is locked is "
                   "free";
        case contracts::TxError::kNonceTooLow:
            return ": a transaction with this nonce was executed already; take the account's next nonce";
        case contracts::TxError::kNonceTooHigh:
            return ": the account's transactions with the nonces before it are missing; send them first";
        case contracts::TxError::kWrongChain:
            return ": it was signed for another chain; sign it again with this chain's id";
        case contracts::TxError::kTaskState:
            return ": the task's present state does not allow this action";
        default:
            return "";
    }
}

/// The slot that exactly one of the parameters names.
Bytes key_argument(const Arguments& arguments) {
    constexpr std::array<const char*, 6> kNames{"key", "task", "account", "dispute", "stake", "checkpoint"};
    const auto given =
        std::count_if(kNames.begin(), kNames.end(), [&](const char* name) { return arguments.has(name); });
    if (given != 1) {
        throw invalid_params("exactly one of key, task, account, dispute, stake, checkpoint is needed");
    }
    if (arguments.has("task")) {
        return keys::task(arguments.id<contracts::TaskId>("task"));
    }
    if (arguments.has("account")) {
        return keys::account(arguments.account("account"));
    }
    if (arguments.has("dispute")) {
        return keys::dispute(arguments.id<contracts::DisputeId>("dispute"));
    }
    if (arguments.has("stake")) {
        const Json value = arguments.object("stake");
        const Arguments stake(value, {"account", "role"});
        return keys::stake(stake.role("role"), stake.account("account"));
    }
    if (arguments.has("checkpoint")) {
        const Json value = arguments.object("checkpoint");
        const Arguments checkpoint(value, {"task", "index"});
        return keys::checkpoint(
            checkpoint.id<contracts::TaskId>("task"),
            static_cast<std::uint32_t>(checkpoint.number("index", contracts::kMaxSegments))
        );
    }
    return arguments.bytes("key", 256);
}

}  // namespace

Json node_status(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    Json out = render_status(api.status(), ASSAY_VERSION);
    const contracts::Params values = api.params();
    out["protocol_version"] = values.protocol_version;
    out["base_fee"] = render(contracts::get_base_fee(CommittedView(api), values));
    out["plan"] = next_plan(api);
    return out;
}

Json chain_params(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const contracts::Params values = api.params();
    Json out = render(values);
    out["raw"] = to_hex(codec::encode(values));
    return out;
}

Json chain_wait(const Json& params, Work& work) {
    const Arguments arguments(params);
    const Height after{arguments.number("after", kAny)};
    const std::chrono::milliseconds timeout(arguments.number_or("timeout_ms", 10'000, 30'000));
    work.wait({.after = after, .until = std::chrono::steady_clock::now() + timeout});
    return Json();
}

Json chain_light_block(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const Height height{arguments.number_or("height", api.status().height.value, kAny)};
    const auto block = api.light_block(height);
    if (!block) {
        throw Fault(kNotFound, "no light block of height " + std::to_string(height.value));
    }
    return {{"height", height.value}, {"raw", to_hex(*block)}};
}

Json chain_block(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const Height height{arguments.number_or("height", api.status().height.value, kAny)};
    const auto block = api.block(height);
    if (!block) {
        throw Fault(kNotFound, "no block of height " + std::to_string(height.value));
    }
    return render_block(*block, api.params());
}

Json chain_proof(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const Bytes key = key_argument(arguments);
    const auto height =
        arguments.has("height") ? std::optional(Height{arguments.number("height", kAny)}) : std::nullopt;
    const auto answer = api.prove(key, height);
    return {
        {"key", to_hex(key)},
        {"value", answer.value ? Json(to_hex(*answer.value)) : Json()},
        {"height", answer.height.value},
        {"app_hash", render(answer.app_hash)},
        {"proof", to_hex(codec::encode(answer.proof))}};
}

Json tx_submit(NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto hash = api.submit(arguments.bytes("tx", kTxBytesMax));
    if (hash) {
        return {{"hash", render(*hash)}};
    }
    const consensus::Refusal& refusal = hash.error();
    switch (refusal.reason) {
        case consensus::RefusalReason::kRejected:
            break;
        case consensus::RefusalReason::kStopping:
            throw Fault(kUnavailable, "the node is stopping");
        case consensus::RefusalReason::kReadOnly:
            throw Fault(kUnavailable, "this node only shows what it has (assayd inspect): it takes no transactions");
        case consensus::RefusalReason::kUnreachable:
            throw Fault(kUnavailable, "the consensus engine cannot be reached; try again");
        case consensus::RefusalReason::kAlreadyKnown:
            throw Fault(
                kTxRejected, "the transaction is known already", {{"tx_error", 0}, {"reason", "already_known"}}
            );
        case consensus::RefusalReason::kFull:
            throw Fault(kLimitExceeded, "the mempool is full");
    }
    const auto tx_error = static_cast<contracts::TxError>(refusal.code);
    const char* reason = contracts::to_string(tx_error);
    throw Fault(
        kTxRejected, std::string("transaction rejected: ") + reason + advice_on(tx_error, api.params()),
        {{"tx_error", refusal.code}, {"reason", reason}}
    );
}

Json tx_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto hash = arguments.id<Hash256>("hash");
    // A block may take it between two questions: ask for the final answer last.
    const bool is_pending = api.in_mempool(hash);
    if (const auto tx = api.tx(hash)) {
        return render_tx(*tx, true);
    }
    if (!is_pending) {
        const Height first = api.status().first_block;
        throw Fault(
            kNotFound, "no such transaction" +
                           (first.value > 1 ? " in the blocks from " + std::to_string(first.value) + " on" : "")
        );
    }
    Json out{{"hash", render(hash)}, {"status", "pending"}};
    for (const char* name :
         {"height", "index", "action", "sender", "owner", "nonce", "fee", "code", "error", "size_bytes", "gas", "body",
          "raw"}) {
        out[name] = nullptr;
    }
    return out;
}

}  // namespace assay::rpc
