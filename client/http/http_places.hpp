// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <client/http/http_session.hpp>

namespace assay::http {

/// The open connections of a server, with the slots and memory that each client address uses. When either runs out, it
/// decides which connection is closed.
class HttpPlaces {
  public:
    struct Limits {
        std::size_t connections = 0;
        std::size_t per_address = 0;
        std::size_t of_socket = 0;  ///< of kSocketClient
        std::size_t memory = 0;
    };
    using Sessions = std::vector<std::shared_ptr<HttpSession>>;

    explicit HttpPlaces(Limits limits) : limits_(limits) {}

    /// Returns true if there is a slot for a connection from `address`, after closing an inactive connection if
    /// necessary.
    bool make_place(const ClientAddress& address);
    /// Closes one inactive connection of any address. Returns false if there is none.
    bool free_any();
    void add(std::shared_ptr<HttpSession> session);
    void remove(HttpSession& session);
    std::size_t count() const { return sessions_.size(); }
    Sessions all() const;

    /// Counts memory. Returns false if it is used up and no other address holds more of it.
    bool take_memory(HttpSession& session, std::size_t bytes);
    void add_memory(HttpSession& session, std::size_t bytes);
    void give_memory(HttpSession& session, std::size_t bytes);
    bool is_memory_used_up() const { return memory_used_ > limits_.memory; }
    /// Closes the largest connection of the address that holds the most memory. Returns false if that address is
    /// `except` or none can be closed.
    bool shed_memory(const ClientAddress& except);
    /// Returns true if no address holds more memory than this one.
    bool holds_most(const ClientAddress& address) const;

    /// Returns the turn in which the address was last served; 0: not yet.
    std::uint64_t served_at(const ClientAddress& address) const { return clients_.at(address).served_at; }
    void serve(const ClientAddress& address) { clients_.at(address).served_at = ++turn_; }

  private:
    struct Client {
        std::size_t connections = 0;
        std::size_t bytes = 0;
        std::uint64_t served_at = 0;
    };

    struct Entry {
        std::shared_ptr<HttpSession> session;
        Client* client = nullptr;
    };

    bool free_place(const ClientAddress* only);

    Limits limits_;
    std::map<const HttpSession*, Entry> sessions_;
    std::map<ClientAddress, Client> clients_;
    std::size_t memory_used_ = 0;
    std::uint64_t turn_ = 0;
};

}  // namespace assay::http
