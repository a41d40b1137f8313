// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <verifier/cell/hosts.hpp>
#include <verifier/engine/cell/gloo_collective.hpp>

namespace assay::cell {

/// What a member is told when it asks for work.
struct Seat {
    std::uint64_t session = 0;  ///< 0: there is none for it yet
    std::uint32_t rank = 0;
    std::uint32_t size = 0;
    std::uint64_t timeout_ms = 0;  ///< how long a rank waits for another one's message
};

/// Where the members of a cell ask the lead for work: an HTTP server that knows who waits, and the table by which the
/// ranks of a session find each other. Thread-safe.
class Meeting {
  public:
    /// Throws http::NetError if the lead's address cannot be bound.
    explicit Meeting(const Hosts& hosts);

    /// The members that have asked for work within the last seconds, in the order of the hosts.
    std::vector<std::string> waiting() const;
    /// Waits until all members wait, or for so long.
    std::vector<std::string> wait_for_all(std::chrono::milliseconds limit) const;
    /// Begins a session with the members `names`, which become ranks 1, 2, ... Returns its number.
    std::uint64_t open(const std::vector<std::string>& names, std::chrono::milliseconds timeout);
    /// The table of the session that was opened last, for rank 0.
    std::shared_ptr<engine::SharedWords> words(std::chrono::milliseconds timeout);
    std::uint16_t port() const { return server_->port(); }

  private:
    struct Table;
    class Words;
    http::HttpResponse answer(const http::HttpRequest& request);

    Hosts hosts_;
    std::shared_ptr<Table> table_;
    std::unique_ptr<http::HttpServer> server_;
};

/// Asks the lead for work as member `name`, which was in session `served` last. Throws http::NetError if it cannot be
/// reached, std::runtime_error if it does not know the member or the secret.
Seat ask_for_seat(const Hosts& hosts, const std::string& name, std::uint64_t served);
/// The table of `session`, for a member.
std::shared_ptr<engine::SharedWords> words_of(
    const Hosts& hosts, std::uint64_t session, std::chrono::milliseconds timeout
);

}  // namespace assay::cell
