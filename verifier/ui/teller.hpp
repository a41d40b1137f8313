// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <client/kept_sending.hpp>
#include <client/proven_chain.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/crypto/keys.hpp>

namespace assay::ui {

/// An order of the owner that costs money or moves it.
struct Order {
    std::string id;               ///< chosen by the page: the same order has the same id, however often it is sent
    nlohmann::ordered_json what;  ///< for people: {"action", "amount", "role" or "to"}
    contracts::Action action;
};

/// Sends the owner's orders, each at most once, whatever is killed or repeated. The signed transaction is in
/// <home>/orders.json before a node sees it, and only those bytes are sent again. One order is under way at a time.
/// Thread-safe.
class Teller {
  public:
    static constexpr std::size_t kDoneMax = 50;  ///< ended orders that are remembered

    /// Throws InputError if <home>/orders.json is damaged.
    explicit Teller(const std::filesystem::path& home);

    /// Signs and submits the order, unless its id is known. Throws InputError if another order is under way, and what
    /// signing and submitting throw; client::TxUncertain leaves the order under way.
    void send(const Order& order, const crypto::SecretKey& key, client::RpcClient& rpc, client::ProvenChain& chain);
    /// Looks what became of the order that is under way. Returns whether there is something new. Throws
    /// http::NetError, client::RpcError.
    bool follow(client::RpcClient& rpc, client::ProvenChain& chain);
    /// Forgets an order that nobody can say the end of (`is_uncertain`). Throws InputError for any other.
    void forget(const std::string& id);
    /// {"pending": {...} or null, "done": [...], the latest first}
    nlohmann::ordered_json snapshot() const;

  private:
    struct Pending {
        std::string id;
        nlohmann::ordered_json what;
        client::SignedTx tx;
        std::string uncertain{};  ///< why nobody knows what became of it
    };
    bool knows(const std::string& id) const;
    std::optional<client::SignedTx> under_way() const;
    void end(const std::string& error, Height height);
    void save() const;

    const std::filesystem::path file_;
    std::mutex sending_;        ///< one order at a time is signed
    mutable std::mutex mutex_;  ///< of what follows
    std::optional<Pending> pending_;
    nlohmann::ordered_json done_ = nlohmann::ordered_json::array();  ///< the latest last
};

}  // namespace assay::ui
