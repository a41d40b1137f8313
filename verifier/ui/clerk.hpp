// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include <client/earnings.hpp>
#include <client/node_address.hpp>
#include <client/proven_chain.hpp>
#include <verifier/ui/teller.hpp>

namespace assay::ui {

/// Which node to ask, and which chain it has to be of; empty: as the home has pinned it, or will.
struct Place {
    client::NodeAddress node;
    std::string chain_id;
    std::string genesis_hash;
};

/// Asks the node about the account on a thread of its own, and sends the owner's orders. What is about money is proven
/// by signed blocks (client/proven_chain.hpp) and stands under "proven"; what the node merely says stands under "said".
class Clerk {
  public:
    static constexpr std::chrono::milliseconds kEvery{2'000};

    /// `on_news` is called on the clerk's thread after each look. Throws InputError if the orders cannot be read.
    Clerk(const std::filesystem::path& home, Place place, std::function<void()> on_news);
    ~Clerk();
    Clerk(const Clerk&) = delete;
    Clerk& operator=(const Clerk&) = delete;

    /// From now on another node is asked.
    void use_node(const std::string& url);
    /// `actor` is the account whose stakes and earnings are asked for: `account`, or the owner that it works for
    /// (OPR-2).
    void use_account(const AccountId& account, const AccountId& actor);
    /// Sends an order of the owner at most once. Throws like Teller::send(), and InputError if the node cannot be
    /// asked.
    void send(const Order& order, const crypto::SecretKey& key);
    void forget(const std::string& order) { teller_.forget(order); }
    /// {"node": {"url", "error", ...}, "proven": ... or null, "said": ... or null, "orders"}
    nlohmann::ordered_json snapshot() const;
    /// The chain that the home has pinned; nullopt before the first look.
    std::optional<client::Anchor> anchor() const;

  private:
    struct Link;
    void run();
    void look();
    nlohmann::ordered_json read_proven(Link& link) const;
    nlohmann::ordered_json read_said(Link& link);
    /// The connection to the node that is asked now; made if there is none.
    Link& link();

    const std::filesystem::path home_;
    const std::function<void()> on_news_;
    Teller teller_;

    std::mutex chain_;  ///< one user of the link, and of the home's chain.json
    Place place_;
    std::unique_ptr<Link> link_;
    std::optional<client::EarningsReader> earnings_{};
    AccountId earnings_of_{};

    mutable std::mutex mutex_;  ///< of what follows
    std::condition_variable wake_;
    bool is_over_ = false;
    bool is_asked_ = false;
    std::optional<AccountId> account_{};
    AccountId actor_{};  ///< while there is an account
    nlohmann::ordered_json node_ = nlohmann::ordered_json::object();
    nlohmann::ordered_json proven_;
    nlohmann::ordered_json said_;
    std::optional<client::Anchor> anchor_{};
    std::thread thread_;
};

}  // namespace assay::ui
