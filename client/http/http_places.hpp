// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <client/http/http_session.hpp>

namespace assay::http {

/// The open connections of a server, and what each address has of its places and its memory. Decides whose connection is
/// closed when either runs out.
class HttpPlaces {
  public:
    struct Limits {
        std::size_t connections = 0;
        std::size_t per_address = 0;
        std::size_t memory = 0;
    };
    using Sessions = std::vector<std::shared_ptr<HttpSession>>;

    explicit HttpPlaces(Limits limits) : limits_(limits) {}

    /// Whether there is a place for a connection from `address`, after closing one that does nothing if need be.
    bool make_place(const ClientAddress& address);
    /// Closes one connection that does nothing, whosever it is; false when there is none.
    bool free_any();
    void add(std::shared_ptr<HttpSession> session);
    void remove(HttpSession& session);
    std::size_t count() const { return sessions_.size(); }
    Sessions all() const;

    /// False when the memory is used up and no other address holds more of it.
    bool take_memory(HttpSession& session, std::size_t bytes);
    void add_memory(HttpSession& session, std::size_t bytes);
    void give_memory(HttpSession& session, std::size_t bytes);
    bool is_memory_used_up() const { return memory_used_ > limits_.memory; }
    /// Closes the connection that holds most of the address that holds most, unless that is `except`.
    bool shed_memory(const ClientAddress& except);
    /// Whether no address holds more memory.
    bool holds_most(const ClientAddress& address) const;

    /// When the address was last served, in turns; 0: not yet.
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
