// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/meeting.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include <verifier/cell/hosts_error.hpp>
#include <verifier/cell/link_frames.hpp>
#include <verifier/plan/index_set.hpp>

namespace assay::cell {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
using std::chrono::milliseconds;

namespace {

/// Members ask several times a second; who has not asked for so long is gone or works.
constexpr milliseconds kPresent{3'000};
constexpr milliseconds kPoll{20};
constexpr milliseconds kRequest{5'000};
constexpr std::size_t kWordsMax = 65'536;      // of one session
constexpr std::size_t kWordMax = 65'536;       // bytes of a word's key, and of its value
constexpr std::size_t kTableMax = 64U << 20U;  // bytes of all of them
constexpr std::size_t kAnswerMax = 1U << 20U;  // bytes of a lead's answer
constexpr std::uint64_t kTimeoutMaxMs = 86'400'000;

http::HttpResponse json_answer(const Json& json) {
    return {.status = 200, .content_type = "application/json", .body = json.dump()};
}
http::HttpResponse refuse(unsigned status, const std::string& why) {
    return {.status = status, .content_type = "text/plain", .body = why + "\n"};
}

std::runtime_error no_lead(const MeetingPlace& place) {
    return std::runtime_error("what answers at " + place.url + " is no lead of a cell");
}

std::string post_text(const MeetingPlace& place, const char* target, const Json& request) {
    http::HttpLimits limits = place.limits;
    limits.timeout = kRequest;
    limits.body_max = kAnswerMax;
    http::HttpResponse response = http::http_post(place.url + target, place.seal(target, request.dump()), limits);
    if (response.status != 200) {
        const std::string why = response.body.substr(0, response.body.find('\n'));
        const std::string text = "the lead at " + place.url + " refuses: " + why;
        if (response.status == 403 || response.status == 404) {
            throw HostsError(text);
        }
        throw std::runtime_error(text);
    }
    return std::move(response.body);
}

Json post(const MeetingPlace& place, const char* target, const Json& request) {
    Json out = Json::parse(post_text(place, target, request), nullptr, false);
    if (!out.is_object()) {
        throw no_lead(place);
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
    std::size_t word_bytes = 0;          // of their keys and values

    // Returns false if there is no room for it.
    bool put(const std::string& key, Bytes value) {
        const auto before = words.find(key);
        const bool is_new = before == words.end();
        const std::size_t others = word_bytes - (is_new ? 0 : key.size() + before->second.size());
        const std::size_t size = key.size() + value.size();
        if ((is_new && words.size() >= kWordsMax) || size > kTableMax - others) {
            return false;
        }
        word_bytes = others + size;
        words.insert_or_assign(key, std::move(value));
        changed.notify_all();
        return true;
    }
};

class Meeting::Words final : public engine::SharedWords {
  public:
    Words(std::shared_ptr<Table> table, milliseconds timeout)
        : table_(std::move(table)), session_(table_->session), timeout_(timeout) {}

    void set(const std::string& key, const Bytes& value) override {
        const std::scoped_lock lock(table_->mutex);
        if (!table_->put(key, value)) {
            throw std::runtime_error("the session of the cell has too many words");
        }
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
    return target == "/set" ? set_word(text("key"), text("value"), opened->name) : refuse(404, "no such page");
}

// The table must be locked.
http::HttpResponse Meeting::set_word(
    const std::string& key, const std::string& hex, const std::optional<std::string>& name
) {
    if (name) {
        const auto at = std::find(table_->names.begin(), table_->names.end(), *name);
        const auto rank = static_cast<std::uint32_t>(at - table_->names.begin() + 1);
        if (at == table_->names.end() || key != place_word(rank)) {
            return refuse(403, "that is the word of another member");
        }
    }
    auto value = from_hex(hex);
    if (!value || key.size() > kWordMax || value->size() > kWordMax) {
        return refuse(400, "a word has a key, and a value in hex, of at most 64 KiB each");
    }
    if (!table_->put(key, *std::move(value))) {
        return refuse(403, "the session has too many words");
    }
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
    table_->word_bytes = 0;
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

std::optional<Seat> decode_seat(const std::string& answer) {
    const Json json = Json::parse(answer, nullptr, false);
    if (!json.is_object()) {
        return std::nullopt;
    }
    const auto number = [&](const char* key, std::uint64_t most) -> std::optional<std::uint64_t> {
        const auto at = json.find(key);
        if (at == json.end()) {
            return 0;
        }
        const bool is_number = at->is_number_unsigned() && at->get<std::uint64_t>() <= most;
        return is_number ? std::optional(at->get<std::uint64_t>()) : std::nullopt;
    };
    const auto session = number("session", std::numeric_limits<std::uint64_t>::max());
    const auto rank = number("rank", plan::kMaxRanks - 1);
    const auto timeout_ms = number("timeout_ms", kTimeoutMaxMs);
    if (!session || !rank || !timeout_ms) {
        return std::nullopt;
    }
    Seat out{.session = *session, .rank = static_cast<std::uint32_t>(*rank), .timeout_ms = *timeout_ms, .names = {}};
    const auto names = json.find("names");
    const bool has_names = names != json.end() && names->is_array() && names->size() < plan::kMaxRanks;
    for (std::size_t i = 0; has_names && i < names->size(); ++i) {
        if (!(*names)[i].is_string()) {
            return std::nullopt;
        }
        out.names.push_back((*names)[i].get<std::string>());
    }
    if (out.session != 0 && (out.rank == 0 || out.rank > out.names.size())) {
        return std::nullopt;
    }
    return out;
}

Seat ask_for_seat(const MeetingPlace& place, const std::string& name, std::uint64_t served) {
    auto seat = decode_seat(post_text(place, "/seat", {{"name", name}, {"served", served}}));
    if (!seat) {
        throw no_lead(place);
    }
    return *std::move(seat);
}

void leave_meeting(const MeetingPlace& place, const std::string& name) { post(place, "/leave", {{"name", name}}); }

std::shared_ptr<engine::SharedWords> words_of(
    const MeetingPlace& place, std::uint64_t session, std::chrono::milliseconds timeout
) {
    return std::make_shared<MemberWords>(place, session, timeout);
}

}  // namespace assay::cell
