// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <client/http/http.hpp>
#include <verifier/cell/hosts.hpp>
#include <verifier/cell/seal.hpp>
#include <verifier/engine/cell/shared_words.hpp>

namespace assay::cell {

/// What a member is told when it asks for work.
struct Seat {
    std::uint64_t session = 0;  ///< 0: there is none for it yet
    std::uint32_t rank = 0;
    std::uint64_t timeout_ms = 0;      ///< how long a rank waits for another one's message
    std::vector<std::string> names{};  ///< of ranks 1, 2, ...
    std::uint32_t size() const { return static_cast<std::uint32_t>(names.size() + 1); }
};
/// Reads a lead's answer to /seat, which may be anything; nullopt if it is no seat: names of up to 63 other ranks, a
/// rank among them if there is a session, and a time of at most a day.
std::optional<Seat> decode_seat(const std::string& answer);

/// Where the members of a cell ask the lead for work: who waits, and the table by which the ranks of a session find
/// each other. Thread-safe.
class Meeting {
  public:
    /// `names` are those of the members. `open` tells what a request says and who may have said it. If it tells whose a
    /// request is, members set no words but place_word() of their rank.
    Meeting(std::vector<std::string> names, OpenSeal open);

    /// Answers a member's request for `target`: /seat, /leave, /get or /set.
    http::HttpResponse answer(const std::string& target, const http::HttpRequest& request);

    /// The members that have asked for work within the last seconds, in their order.
    std::vector<std::string> waiting() const;
    /// The members that have said that they leave, and have not asked for work since.
    std::vector<std::string> left() const;
    /// Waits until all members wait, or for so long.
    std::vector<std::string> wait_for_all(std::chrono::milliseconds limit) const;
    /// Begins a session with the members `names`, which become ranks 1, 2, ... Returns its number.
    std::uint64_t open(const std::vector<std::string>& names, std::chrono::milliseconds timeout);
    /// The table of the session that was opened last, for rank 0.
    std::shared_ptr<engine::SharedWords> words(std::chrono::milliseconds timeout);

  private:
    struct Table;
    class Words;
    http::HttpResponse seat_of(const std::string& name, const nlohmann::json& request);
    http::HttpResponse let_go(const std::string& name);
    http::HttpResponse set_word(const std::string& key, const std::string& hex, const std::optional<std::string>& name);

    std::vector<std::string> names_;
    OpenSeal open_;
    std::shared_ptr<Table> table_;
};

/// A member's way to a meeting.
struct MeetingPlace {
    std::string url;  ///< before /seat, /leave, /get and /set
    Seal seal;
    http::HttpLimits limits{};
};
/// Of a cell.
MeetingPlace place_of(const Hosts& hosts);

/// Asks the lead for work as member `name`, which was in session `served` last. Throws http::NetError if it cannot be
/// reached, std::runtime_error if it does not know the member or the secret, or what answers is no lead.
Seat ask_for_seat(const MeetingPlace& place, const std::string& name, std::uint64_t served);
/// Tells the lead that member `name` takes part in no further session, until it asks again. Throws as ask_for_seat().
void leave_meeting(const MeetingPlace& place, const std::string& name);
/// The table of `session`, for a member.
std::shared_ptr<engine::SharedWords> words_of(
    const MeetingPlace& place, std::uint64_t session, std::chrono::milliseconds timeout
);

}  // namespace assay::cell
