// SPDX-License-Identifier: Apache-2.0
#include <client/http/http_places.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::http {

namespace {

using Clock = std::chrono::steady_clock;
using State = HttpSession::State;

constexpr std::chrono::milliseconds kStalled{5'000};  // without progress

/// Whether nothing is lost to the server's work when it is closed.
bool does_nothing(const HttpSession& session, Clock::time_point now) {
    switch (session.state()) {
        case State::kIdle:
        case State::kHead:
        case State::kWaiting:
        case State::kLingering:
            return true;
        case State::kBody:
        case State::kSending:
            return now - session.progress_at() >= kStalled;
        case State::kRunning:
        case State::kClosed:
            return false;
    }
    return false;
}

}  // namespace

bool HttpPlaces::make_place(const ClientAddress& address) {
    const auto client = clients_.find(address);
    const std::size_t limit = address == kSocketClient ? limits_.of_socket : limits_.per_address;
    const bool is_crowded = client != clients_.end() && client->second.connections >= limit;
    return (!is_crowded || free_place(&address)) && (count() < limits_.connections || free_place(nullptr));
}

bool HttpPlaces::free_any() { return free_place(nullptr); }

/// Of the address that has the most connections; one that asks for nothing before one that waits for an answer; and of
/// these the one without progress for longest.
bool HttpPlaces::free_place(const ClientAddress* only) {
    const auto now = Clock::now();
    using Rank = std::tuple<std::size_t, bool, Clock::duration>;
    Rank best_rank;
    std::shared_ptr<HttpSession> best;
    for (const auto& [session, entry] : sessions_) {
        if ((only != nullptr && session->address() != *only) || !does_nothing(*session, now)) {
            continue;
        }
        const State state = session->state();
        const bool asks_nothing = state == State::kIdle || state == State::kHead || state == State::kLingering;
        const Rank rank(entry.client->connections, asks_nothing, now - session->progress_at());
        if (!best || rank > best_rank) {
            best = entry.session;
            best_rank = rank;
        }
    }
    if (best) {
        best->close();
    }
    return best != nullptr;
}

void HttpPlaces::add(std::shared_ptr<HttpSession> session) {
    Client& client = clients_[session->address()];
    ++client.connections;
    const HttpSession* const key = session.get();
    sessions_.emplace(key, Entry{std::move(session), &client});
}

void HttpPlaces::remove(HttpSession& session) {
    const auto found = sessions_.find(&session);
    ASSERT(found != sessions_.end());
    give_memory(session, session.bytes());
    const auto client = clients_.find(session.address());
    if (--client->second.connections == 0) {
        clients_.erase(client);
    }
    sessions_.erase(found);
}

HttpPlaces::Sessions HttpPlaces::all() const {
    Sessions out;
    out.reserve(sessions_.size());
    for (const auto& [session, entry] : sessions_) {
        out.push_back(entry.session);
    }
    return out;
}

bool HttpPlaces::take_memory(HttpSession& session, std::size_t bytes) {
    while (memory_used_ + bytes > limits_.memory) {
        if (!shed_memory(session.address())) {
            return false;
        }
    }
    add_memory(session, bytes);
    return true;
}

void HttpPlaces::add_memory(HttpSession& session, std::size_t bytes) {
    session.count_bytes(session.bytes() + bytes);
    clients_.at(session.address()).bytes += bytes;
    memory_used_ += bytes;
}

void HttpPlaces::give_memory(HttpSession& session, std::size_t bytes) {
    ASSERT(bytes <= session.bytes());
    session.count_bytes(session.bytes() - bytes);
    clients_.at(session.address()).bytes -= bytes;
    memory_used_ -= bytes;
}

bool HttpPlaces::shed_memory(const ClientAddress& except) {
    const auto most = std::max_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
        return a.second.bytes < b.second.bytes;
    });
    if (most == clients_.end() || most->first == except) {
        return false;
    }
    std::shared_ptr<HttpSession> largest;
    for (const auto& [session, entry] : sessions_) {
        if (session->address() == most->first && session->state() != State::kRunning && session->bytes() > 0 &&
            (!largest || session->bytes() > largest->bytes())) {
            largest = entry.session;
        }
    }
    if (largest) {
        largest->close();
    }
    return largest != nullptr;
}

bool HttpPlaces::holds_most(const ClientAddress& address) const {
    const std::size_t bytes = clients_.at(address).bytes;
    return std::all_of(clients_.begin(), clients_.end(), [&](const auto& client) {
        return client.second.bytes <= bytes;
    });
}

}  // namespace assay::http
