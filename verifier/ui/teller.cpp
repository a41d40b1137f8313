// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/teller.hpp>

#include <algorithm>
#include <chrono>

#include <core/codec/borsh.hpp>
#include <core/system/file.hpp>
#include <verifier/ui/settings.hpp>

namespace assay::ui {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kPatience{1};

client::SignedTx decode_tx(const std::string& hex) {
    const auto bytes = from_hex(hex);
    const auto tx = codec::decode<contracts::Tx>(bytes ? *bytes : Bytes{});
    if (!tx) {
        throw InputError("its transaction is damaged");
    }
    return {
        .sender = tx->body.sender,
        .nonce = tx->body.nonce,
        .fee = tx->body.fee,
        .bytes = *bytes,
        .hash = contracts::tx_hash(*bytes)};
}

}  // namespace

Teller::Teller(const std::filesystem::path& home) : file_(home / "orders.json") {
    const auto text = system::read_file(file_);
    if (!text) {
        return;
    }
    try {
        const Json saved = Json::parse(*text);
        done_ = saved.at("done");
        if (const Json& pending = saved.at("pending"); !pending.is_null()) {
            pending_ = Pending{
                .id = pending.at("id").get<std::string>(),
                .what = pending.at("what"),
                .tx = decode_tx(pending.at("tx").get<std::string>())};
        }
    } catch (const std::exception& error) {
        throw InputError(
            file_.string() + " cannot be read (" + error.what() +
            "): look at the account's history for orders under way, then delete the file"
        );
    }
}

void Teller::save() const {
    Json pending;
    if (pending_) {
        pending = {{"id", pending_->id}, {"what", pending_->what}, {"tx", to_hex(pending_->tx.bytes)}};
    }
    replace_private_file(file_, Json{{"pending", pending}, {"done", done_}}.dump(2) + "\n");
}

bool Teller::knows(const std::string& id) const {
    return (pending_ && pending_->id == id) ||
           std::any_of(done_.begin(), done_.end(), [&](const Json& each) { return each.at("id") == id; });
}

void Teller::end(const std::string& error, Height height) {
    done_.push_back(
        {{"id", pending_->id},
         {"what", pending_->what},
         {"tx", to_hex(pending_->tx.hash.view())},
         {"height", height.value},
         {"error", error}}
    );
    while (done_.size() > kDoneMax) {
        done_.erase(done_.begin());
    }
    pending_.reset();
    save();
}

void Teller::send(
    const Order& order, const crypto::SecretKey& key, client::RpcClient& rpc, client::ProvenChain& chain
) {
    const std::lock_guard sending(sending_);
    {
        const std::lock_guard lock(mutex_);
        if (knows(order.id)) {
            return;
        }
        if (pending_) {
            throw InputError("an earlier order is under way: wait until it has ended");
        }
    }
    bool is_kept = false;
    try {
        client::send_kept(
            rpc, key, order.action, chain.base(key.account()), client::kFeeMax,
            [&](const client::SignedTx& tx) {
                const std::lock_guard lock(mutex_);
                pending_ = Pending{.id = order.id, .what = order.what, .tx = tx};
                save();
                is_kept = true;
            }
        );
    } catch (const client::RpcError& error) {
        if (!is_kept) {
            throw;
        }
        if (error.name == "tx_rejected") {
            const std::lock_guard lock(mutex_);
            end(error.what(), Height{});  // not for its nonce, so it is executed nowhere
        }
        // Else the node has trouble: follow() submits the same bytes again.
    } catch (const http::NetError&) {
        if (!is_kept) {
            throw;
        }
    }
}

std::optional<client::SignedTx> Teller::under_way() const {
    const std::lock_guard lock(mutex_);
    return pending_ && pending_->uncertain.empty() ? std::optional(pending_->tx) : std::nullopt;
}

bool Teller::follow(client::RpcClient& rpc, client::ProvenChain& chain) {
    const auto tx = under_way();
    if (!tx) {
        return false;
    }
    std::string uncertain;
    std::optional<client::TxResult> result;
    try {
        result = rpc.await(*tx, kPatience);
        chain.refresh();
        if (!chain.holds(result->height, tx->hash)) {
            uncertain = "the node says that it is in block " + std::to_string(result->height.value) +
                        ", and that block does not have it";
        }
    } catch (const client::TxUncertain& error) {
        if (chain.base(tx->sender).nonce <= tx->nonce) {
            return false;  // it may still be executed
        }
        uncertain = error.what();
    }
    const std::lock_guard lock(mutex_);
    if (!pending_ || pending_->tx.hash != tx->hash) {
        return false;
    }
    if (uncertain.empty()) {
        end(result->error, result->height);
    } else {
        pending_->uncertain = uncertain;
    }
    return true;
}

void Teller::forget(const std::string& id) {
    const std::lock_guard lock(mutex_);
    if (!pending_ || pending_->id != id || pending_->uncertain.empty()) {
        throw InputError("this order is not one whose end is unknown");
    }
    end("unknown: " + pending_->uncertain, Height{});
}

Json Teller::snapshot() const {
    const std::lock_guard lock(mutex_);
    Json pending;
    if (pending_) {
        pending = {
            {"id", pending_->id},
            {"what", pending_->what},
            {"tx", to_hex(pending_->tx.hash.view())},
            {"uncertain", pending_->uncertain.empty() ? Json() : Json(pending_->uncertain)}};
    }
    Json done = done_;
    std::reverse(done.begin(), done.end());
    return {{"pending", pending}, {"done", done}};
}

}  // namespace assay::ui
