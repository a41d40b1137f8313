// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/meeting.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

namespace assay::cell {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
using std::chrono::milliseconds;

namespace {

/// Members ask several times a second; who has not asked for so long is gone or works.
constexpr milliseconds kPresent{3'000};
constexpr milliseconds kPoll{20};
constexpr milliseconds kRequest{5'000};
constexpr std::size_t kWordsMax = 65'536;  // of one session

http::HttpResponse json_answer(const Json& json) {
    return {.status = 200, .content_type = "application/json", .body = json.dump()};
}
http::HttpResponse refuse(unsigned status, const std::string& why) {
    return {.status = status, .content_type = "text/plain", .body = why + "\n"};
}

Json post(const MeetingPlace& place, const char* target, const Json& request) {
    http::HttpLimits limits = place.limits;
    limits.timeout = kRequest;
    const http::HttpResponse response = http::http_post(place.url + target, place.seal(target, request.dump()), limits);
    if (response.status != 200) {
        const std::string why = response.body.substr(0, response.body.find('\n'));
        throw std::runtime_error("the lead at " + place.url + " refuses: " + why);
    }
    Json out = Json::parse(response.body, nullptr, false);
    if (!out.is_object()) {
        throw std::runtime_error("what answers at " + place.url + " is no lead of a cell");
    }
    return out;
}

class MemberWords final : public engine::SharedWords {
  public:
    MemberWords(MeetingPlace place, std::uint64_t session, milliseconds timeout)
        : place_(std::move(place)), session_(session), timeout_(timeout) {}

    void set(const std::string& key, const Bytes& value) override {
        post(place_, "/set", {{"session", session_}, {"key", key}, {"value", to_hex(value)}});
    }
    Bytes get(const std::string& key) override {
        const auto end = Clock::now() + timeout_;
        while (Clock::now() < end) {
            const Json answer = post(place_, "/get", {{"session", session_}, {"key", key}});
            if (const auto value = answer.find("value"); value != answer.end() && value->is_string()) {
                if (auto bytes = from_hex(value->get<std::string>())) {
                    return *std::move(bytes);
                }
            }
            std::this_thread::sleep_for(kPoll);
        }
        throw std::runtime_error("a rank of the cell did not come");
    }

  private:
    MeetingPlace place_;
    std::uint64_t session_;
    milliseconds timeout_;
};

}  // namespace

struct Meeting::Table {
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    std::map<std::string, Clock::time_point> asked;  // by a member, and when
    std::set<std::string> left;
    std::uint64_t session = 0;
    std::vector<std::string> names;  // of ranks 1, 2, ... of the session
    std::uint64_t timeout_ms = 0;
    std::map<std::string, Bytes> words;  // of the session
};

class Meeting::Words final : public engine::SharedWords {
  public:
    Words(std::shared_ptr<Table> table, milliseconds timeout)
        : table_(std::move(table)), session_(table_->session), timeout_(timeout) {}

    void set(const std::string& key, const Bytes& value) override {
        const std::scoped_lock lock(table_->mutex);
        table_->words[key] = value;
        table_->changed.notify_all();
    }
    Bytes get(const std::string& key) override {
        std::unique_lock lock(table_->mutex);
        const bool is_there = table_->changed.wait_for(lock, timeout_, [&] {
            return table_->session != session_ || table_->words.contains(key);
        });
        if (!is_there || table_->session != session_) {
            throw std::runtime_error("a rank of the cell did not come");
        }
        return table_->words[key];
    }

  private:
    std::shared_ptr<Table> table_;
    std::uint64_t session_;
    milliseconds timeout_;
};

Meeting::Meeting(std::vector<std::string> names, OpenSeal open)
    : names_(std::move(names)), open_(std::move(open)), table_(std::make_shared<Table>()) {
    // A lead that starts again goes on counting, so that no member takes its session for the one it was in.
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    table_->session = static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(now).count());
}

// The table must be locked.
http::HttpResponse Meeting::seat_of(const std::string& name, const Json& request) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        return refuse(404, "\"" + name + "\" is no member of this cell");
    }
    table_->left.erase(name);
    const auto at = std::find(table_->names.begin(), table_->names.end(), name);
    const auto served = request.find("served");  // the session that the member was in last
    const bool has_served = served != request.end() && served->is_number_unsigned() && *served == table_->session;
    if (at == table_->names.end() || has_served) {
        table_->asked[name] = Clock::now();
        table_->changed.notify_all();
        return json_answer({{"session", 0}});
    }
    return json_answer(
        {{"session", table_->session},
         {"rank", at - table_->names.begin() + 1},
         {"names", table_->names},
         {"timeout_ms", table_->timeout_ms}}
    );
}

// The table must be locked.
http::HttpResponse Meeting::let_go(const std::string& name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        return refuse(404, "\"" + name + "\" is no member of this cell");
    }
    table_->left.insert(name);
    table_->asked.erase(name);
    table_->changed.notify_all();
    return json_answer(Json::object());
}

http::HttpResponse Meeting::answer(const std::string& target, const http::HttpRequest& request) {
    const auto opened = open_(target, request.body);
    if (!opened) {
        return refuse(403, "the secret is another, or who signed is no member");
    }
    const Json json = Json::parse(opened->body, nullptr, false);
    const auto text = [&](const char* key) {
        const auto at = json.find(key);
        return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    if (request.method != "POST" || !json.is_object()) {
        return refuse(400, "POST a JSON object");
    }
    const std::scoped_lock lock(table_->mutex);
    if (target == "/seat" || target == "/leave") {
        const std::string name = text("name");
        if (opened->name.value_or(name) != name) {
            return refuse(403, "that is the seat of another member");
        }
        return target == "/seat" ? seat_of(name, json) : let_go(name);
    }
    const auto session = json.find("session");
    if (session == json.end() || !session->is_number_unsigned() || session->get<std::uint64_t>() != table_->session) {
        return refuse(410, "that session is over");
    }
    if (target == "/get") {
        const auto word = table_->words.find(text("key"));
        return json_answer(word == table_->words.end() ? Json::object() : Json{{"value", to_hex(word->second)}});
    }
    const auto value = from_hex(text("value"));
    if (target != "/set" || !value || table_->words.size() >= kWordsMax) {
        return refuse(404, "no such page");
    }
    table_->words[text("key")] = *value;
    table_->changed.notify_all();
    return json_answer(Json::object());
}

std::vector<std::string> Meeting::waiting() const {
    const std::scoped_lock lock(table_->mutex);
    std::vector<std::string> out;
    for (const std::string& name : names_) {
        const auto asked = table_->asked.find(name);
        if (asked != table_->asked.end() && Clock::now() - asked->second < kPresent) {
            out.push_back(name);
        }
    }
    return out;
}

std::vector<std::string> Meeting::left() const {
    const std::scoped_lock lock(table_->mutex);
    return {table_->left.begin(), table_->left.end()};
}

std::vector<std::string> Meeting::wait_for_all(milliseconds limit) const {
    const auto end = Clock::now() + limit;
    auto out = waiting();
    while (out.size() < names_.size() && Clock::now() < end) {
        std::this_thread::sleep_for(kPoll);
        out = waiting();
    }
    return out;
}

std::uint64_t Meeting::open(const std::vector<std::string>& names, milliseconds timeout) {
    const std::scoped_lock lock(table_->mutex);
    ++table_->session;
    table_->timeout_ms = static_cast<std::uint64_t>(timeout.count());
    table_->words.clear();
    table_->names = names;
    for (const std::string& name : names) {
        table_->asked.erase(name);
    }
    table_->changed.notify_all();
    return table_->session;
}

std::shared_ptr<engine::SharedWords> Meeting::words(milliseconds timeout) {
    const std::scoped_lock lock(table_->mutex);
    return std::make_shared<Words>(table_, timeout);
}

MeetingPlace place_of(const Hosts& hosts) {
    return {.url = hosts.lead_url(), .seal = by_secret(hosts.secret).first, .limits = {}};
}

Seat ask_for_seat(const MeetingPlace& place, const std::string& name, std::uint64_t served) {
    const Json answer = post(place, "/seat", {{"name", name}, {"served", served}});
    const auto number = [&](const char* key) {
        const auto at = answer.find(key);
        return at != answer.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
    };
    Seat out{
        .session = number("session"),
        .rank = static_cast<std::uint32_t>(number("rank")),
        .timeout_ms = number("timeout_ms"),
        .names = {}};
    const auto names = answer.find("names");
    for (std::size_t i = 0; names != answer.end() && names->is_array() && i < names->size(); ++i) {
        out.names.push_back((*names)[i].is_string() ? (*names)[i].get<std::string>() : std::string());
    }
    if (out.session != 0 && (out.rank == 0 || out.rank > out.names.size())) {
        throw std::runtime_error("the lead at " + place.url + " has no rank for this member");
    }
    return out;
}

void leave_meeting(const MeetingPlace& place, const std::string& name) { post(place, "/leave", {{"name", name}}); }

std::shared_ptr<engine::SharedWords> words_of(
    const MeetingPlace& place, std::uint64_t session, std::chrono::milliseconds timeout
) {
    return std::make_shared<MemberWords>(place, session, timeout);
}

}  // namespace assay::cell
