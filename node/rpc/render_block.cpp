// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/render.hpp>

#include <core/codec/borsh.hpp>
#include <contracts/state/tx_error.hpp>

namespace assay::rpc {

namespace {

const char* text_of(node::LastStop stop) {
    switch (stop) {
        case node::LastStop::kFirstStart:
            return "first_start";
        case node::LastStop::kClean:
            return "clean";
        case node::LastStop::kUnclean:
            return "unclean";
    }
    return "unknown";
}

Json error_text(std::uint8_t code) {
    return code == 0 ? Json() : Json(contracts::to_string(static_cast<contracts::TxError>(code)));
}

}  // namespace

Json render_status(const node::NodeStatus& s, const std::string& version) {
    return {
        {"chain_id", s.chain_id},
        {"genesis_hash", render(s.genesis_hash)},
        {"engine", s.engine},
        {"version", version},
        {"height", s.height.value},
        {"app_hash", render(s.app_hash)},
        {"time_ms", s.time_ms},
        {"proposer", s.proposer.is_zero() ? Json() : render(s.proposer)},
        {"mempool", {{"txs", s.mempool_txs}, {"bytes", s.mempool_bytes}}},
        {"block_interval_ms", s.block_interval_ms},
        {"first_state", s.first_state.value},
        {"first_block", s.first_block.value},
        {"first_history", s.first_history.value},
        {"last_stop", text_of(s.last_stop)},
        {"uptime_s", s.uptime_s}};
}

Json render_block(const node::StoredBlock& stored, const contracts::Params& params) {
    Json txs = Json::array();
    std::uint64_t gas = 0;
    for (const auto& receipt : stored.receipts) {
        gas += receipt.gas;
        txs.push_back(
            {{"hash", render(receipt.tx)},
             {"action", receipt.action},
             {"sender", receipt.sender.is_zero() ? Json() : render(receipt.sender)},
             {"owner", receipt.owner ? render(*receipt.owner) : Json()},
             {"code", receipt.code},
             {"error", error_text(receipt.code)},
             {"gas", receipt.gas}}
        );
    }
    const auto& block = stored.signed_block;
    return {
        {"height", stored.height.value},
        {"hash", render(stored.hash)},
        {"parent", stored.parent ? render(*stored.parent) : Json()},
        {"time_ms", stored.time_ms},
        {"proposer", render(stored.proposer)},
        {"txs_root", block ? render(block->header.txs_root) : Json()},
        {"parent_app_hash", render(stored.parent_app_hash)},
        {"app_hash", render(stored.app_hash)},
        {"signature", block ? render(block->signature) : Json()},
        {"gas", gas},
        {"gas_max", params.block_gas_max},
        {"txs", std::move(txs)},
        {"raw", block ? Json(to_hex(codec::encode(*block))) : Json()}};
}

Json render_tx_bytes(ByteView bytes, bool whole) {
    const auto tx = codec::decode<contracts::Tx>(bytes);
    if (!tx) {
        return {};
    }
    const contracts::TxBody& body = tx->body;
    Json out{
        {"hash", render(contracts::tx_hash(bytes))},
        {"action", contracts::action_name(body.action)},
        {"sender", render(body.sender)},
        {"owner", body.owner ? render(*body.owner) : Json()},
        {"nonce", body.nonce},
        {"fee", render(body.fee)},
        {"size_bytes", bytes.size()}};
    if (whole) {
        out["chain_id"] = body.chain_id;
        out["body"] = render(body.action);
        out["raw"] = to_hex(bytes);
    }
    return out;
}

Json render_tx(const node::StoredTx& tx, bool whole) {
    Json out = render_tx_bytes(tx.bytes, whole);
    if (out.is_null()) {  // a proposer may put anything into a block; it executes as kUndecodable
        out = {{"hash", render(tx.receipt.tx)}, {"size_bytes", tx.bytes.size()}};
        for (const char* name : {"action", "sender", "owner", "nonce", "fee"}) {
            out[name] = nullptr;
        }
        if (whole) {
            out["body"] = nullptr;
            out["raw"] = to_hex(tx.bytes);
        }
    }
    out["status"] = tx.receipt.code == 0 ? "executed" : "failed";
    out["height"] = tx.height.value;
    out["index"] = tx.index;
    out["code"] = tx.receipt.code;
    out["error"] = error_text(tx.receipt.code);
    out["gas"] = tx.receipt.gas;
    return out;
}

}  // namespace assay::rpc
