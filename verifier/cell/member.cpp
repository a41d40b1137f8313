// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/member.hpp>

#include <stdexcept>
#include <thread>

#include <client/http/http.hpp>
#include <core/system/log/log.hpp>
#include <verifier/cell/meeting.hpp>
#include <verifier/cell/ranks.hpp>
#include <verifier/cell/session_log.hpp>
#include <verifier/engine/cell/session.hpp>

namespace assay::cell {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskAgain{200};
constexpr milliseconds kRetry{1'000};
constexpr milliseconds kConnect{10'000};  // for the ranks to find each other

void serve(const MemberOptions& options, const std::string& address, std::uint32_t gpu, const Seat& seat) {
    const milliseconds timeout(seat.timeout_ms);
    const milliseconds connect = connect_limit(options.hosts, kConnect);
    auto collective = connect_ranks(
        options.hosts, words_of(place_of(options.hosts), seat.session, connect),
        {.session = seat.session,
         .rank = seat.rank,
         .size = seat.size(),
         .address = address,
         .gpu = gpu,
         .connect = connect,
         .timeout = timeout}
    );
    log::info("a session begins", {{"rank", std::uint64_t{seat.rank}}, {"ranks", std::uint64_t{seat.size()}}});
    const engine::Served served = engine::serve_cell(std::move(collective), options.engine);
    log_session(served);
}

}  // namespace

void log_session(const engine::Served& served) {
    log::info(
        "the session is over", {{"layout", plan::to_string(served.layout)},
                                {"nodes", served.nodes},
                                {"steps", served.steps},
                                {"state_bytes", served.state_bytes},
                                {"sent_bytes", served.sent_bytes}}
    );
}

void run_member(const MemberOptions& options, const std::atomic<bool>& stop) {
    const Member* self = options.hosts.find(options.name);
    if (self == nullptr) {
        throw std::runtime_error("the hosts have no member \"" + options.name + "\"");
    }
    const std::uint32_t gpu = prepare_links(options.hosts, options.name, options.engine.device);
    const MeetingPlace place = place_of(options.hosts);
    std::uint64_t served = 0;
    bool is_reached = true;
    while (!stop) {
        try {
            const Seat seat = ask_for_seat(place, options.name, served);
            is_reached = true;
            if (seat.session == 0) {
                std::this_thread::sleep_for(kAskAgain);
                continue;
            }
            served = seat.session;
            try {
                serve(options, self->address, gpu, seat);
            } catch (const std::runtime_error& error) {
                log::warning("the session broke off", {{"why", error.what()}});
            }
        } catch (const http::NetError& error) {
            if (is_reached) {
                log::info("waiting for the lead", {{"lead", options.hosts.lead_url()}, {"why", error.what()}});
            }
            is_reached = false;
            std::this_thread::sleep_for(kRetry);
        }
    }
}

}  // namespace assay::cell
