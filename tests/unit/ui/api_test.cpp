// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/api.hpp>

#include <atomic>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/address.hpp>
#include <core/keys/mnemonic.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>

namespace assay::ui {
namespace {

using cli_test::read_text;
using cli_test::TemporaryDirectory;
using nlohmann::json;

constexpr const char* kPassword = "correct horse";
constexpr const char* kPhrase =
    "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner "
    "thank "
    "year wave sausage worth title";

/// Workers that only say whether they run.
class FakeMachine final : public Machine {
  public:
    void check(const Settings& settings) const override {
        if (settings.relay == "nowhere") {
            throw InputError("\"nowhere\" is no relay");
        }
    }
    nlohmann::ordered_json measure(const Settings& settings) override {
        if (settings.device != "cpu") {
            throw std::runtime_error("no such device");
        }
        return {{"score", 12'345}, {"class", 1}};
    }
    void start(const Settings& settings, const crypto::SecretKey& key, bool resets_breaker) override {
        resets = resets_breaker;
        is_on = true;
        ++starts;
        last = settings;
        account = key.account();
    }
    void stop() override { is_on = false; }
    bool is_running() const override { return is_on; }
    nlohmann::ordered_json failures() const override { return nlohmann::ordered_json::object(); }

    std::atomic<bool> is_on{false};
    int starts = 0;
    bool resets = false;
    Settings last;
    AccountId account;
};

/// The client of a home whose node cannot be reached.
struct Client {
    explicit Client(const std::filesystem::path& home)
        : office(home, place(), machine, activity, {.n = 2, .r = 1, .p = 1}) {}
    static Place place() { return {.node = {.url = "http://127.0.0.1:1"}, .chain_id = {}, .genesis_hash = {}}; }

    http::HttpResponse ask(const std::string& method, const std::string& path, const std::string& body = {}) {
        http::HttpRequest request;
        request.method = method;
        request.target = path;
        request.host = "127.0.0.1:80";
        request.authorization = "Bearer token";
        request.content_type = "application/json";
        request.body = body;
        now += std::chrono::seconds(1);
        return api.answer(request);
    }
    json post(const std::string& path, const json& body, unsigned status = 200) {
        const auto response = ask("POST", path, body.dump());
        CAPTURE(path);
        CAPTURE(response.body);
        CHECK(response.status == status);
        return json::parse(response.body);
    }
    json state() { return json::parse(ask("GET", "/api/state").body); }

    Guard::Time now{};
    FakeMachine machine;
    Activity activity;
    Office office;
    Guard guard{"token", 80, [this] { return now; }};
    std::atomic<bool> quit{false};
    Api api{office, activity, guard, quit};
};

std::string account_of_phrase() { return crypto::to_address(crypto::key_of_phrase(kPhrase)->account()); }

std::string everything_in(const std::filesystem::path& home) {
    std::string out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home)) {
        out += entry.is_regular_file() ? read_text(entry.path()) : std::string();
    }
    return out;
}

}  // namespace

TEST_CASE("ui: a new key is made when the words were shown to be written down, and they are in no file") {
    const TemporaryDirectory home;
    Client client(home.path());
    CHECK(client.state().at("account").is_null());
    const json made = client.post("/api/key/new", json::object());
    REQUIRE(made.at("words").size() == 24);
    REQUIRE(made.at("asked").size() == Keyring::kAsked);
    json answers;
    std::string phrase;
    for (const auto& word : made.at("words")) {
        phrase += (phrase.empty() ? "" : " ") + word.get<std::string>();
    }
    for (const auto& number : made.at("asked")) {
        answers[std::to_string(number.get<int>())] = made.at("words").at(number.get<std::size_t>() - 1);
    }
    json wrong = answers;
    wrong.begin().value() = "zzz";
    client.post("/api/key/confirm", {{"answers", wrong}, {"password", kPassword}}, 400);
    client.post("/api/key/confirm", {{"answers", json::object()}, {"password", kPassword}}, 400);
    client.post("/api/key/confirm", {{"answers", answers}, {"password", "short"}}, 400);
    CHECK(client.state().at("account").is_null());
    const json account = client.post("/api/key/confirm", {{"answers", answers}, {"password", kPassword}}).at("account");
    CHECK(client.state().at("account") == account);
    CHECK(account == crypto::to_address(crypto::key_of_phrase(phrase)->account()));
    // Once confirmed it is gone.
    client.post("/api/key/confirm", {{"answers", answers}, {"password", kPassword}}, 400);
    client.post("/api/key/new", json::object(), 400);
    client.post("/api/key/restore", {{"phrase", kPhrase}, {"password", kPassword}}, 400);
    const std::string files = everything_in(home.path());
    CHECK(files.find(phrase.substr(0, phrase.find(' ', 20))) == std::string::npos);
    CHECK(files.find(kPassword) == std::string::npos);
}

TEST_CASE("ui: a phrase restores its account, and what is no phrase is refused without repeating it") {
    const TemporaryDirectory home;
    Client client(home.path());
    const json refused = client.post("/api/key/restore", {{"phrase", "legal winner"}, {"password", kPassword}}, 400);
    CHECK(refused.at("error").at("reason") == "input");
    CHECK(refused.dump().find("winner") == std::string::npos);
    const json made = client.post("/api/key/restore", {{"phrase", kPhrase}, {"password", kPassword}});
    CHECK(made.at("account") == account_of_phrase());
}

TEST_CASE("ui: workers start with the password, and settings that they depend on start them again") {
    const TemporaryDirectory home;
    Client client(home.path());
    client.post("/api/start", {{"password", kPassword}}, 400);  // no key
    client.post("/api/key/restore", {{"phrase", kPhrase}, {"password", kPassword}});
    client.post("/api/start", {{"password", "another one"}}, 400);
    CHECK(client.machine.starts == 0);
    client.post("/api/start", {{"password", kPassword}});
    CHECK(crypto::to_address(client.machine.account) == account_of_phrase());
    client.post("/api/start", json::object());
    CHECK(client.machine.starts == 1);
    client.post("/api/settings", {{"least_price", 7}, {"celsius_max", 0}});
    CHECK(client.machine.starts == 1);
    client.post("/api/settings", {{"threads", 2}});
    CHECK(client.machine.starts == 2);
    CHECK(client.machine.last.threads == 2);
    client.post("/api/measure", json::object(), 400);  // while they run
    client.post("/api/stop", json::object());
    CHECK_FALSE(client.state().at("is_running").get<bool>());
    CHECK_FALSE(client.machine.resets);
    client.post("/api/start", {{"reset_breaker", true}});  // the key is still open
    CHECK(client.machine.starts == 3);
    CHECK(client.machine.resets);
}

TEST_CASE("ui: what workers could not start with is refused, and whom this account works for starts them again") {
    const TemporaryDirectory home;
    Client client(home.path());
    client.post("/api/key/restore", {{"phrase", kPhrase}, {"password", kPassword}});
    client.post("/api/start", {{"password", kPassword}});
    client.post("/api/settings", {{"relay", "nowhere"}, {"labels", "a=b"}}, 400);
    CHECK(client.state().at("settings").at("labels") == "");
    client.post("/api/settings", {{"owner", account_of_phrase()}}, 400);
    CHECK(client.machine.starts == 1);
    const std::string owner = crypto::to_address(AccountId{{7}});
    client.post("/api/settings", {{"owner", owner}, {"labels", "a=b"}, {"relay", "r.example:1"}});
    CHECK(client.machine.starts == 2);
    CHECK(client.machine.last.owner == owner);
    CHECK(client.machine.last.labels == "a=b");
    CHECK(client.machine.last.relay == "r.example:1");
    CHECK(client.state().at("account") == account_of_phrase());
    CHECK(client.state().at("settings").at("owner") == owner);
}

TEST_CASE("ui: a pause is kept over a restart of the program, and closes") {
    const TemporaryDirectory home;
    {
        Client client(home.path());
        client.post("/api/key/restore", {{"phrase", kPhrase}, {"password", kPassword}});
        client.post("/api/start", {{"password", kPassword}});
        CHECK_FALSE(client.office.closed().has_value());
        client.post("/api/pause", json::object());
        CHECK(client.office.closed().has_value());
        CHECK(client.state().at("is_running") == true);  // what is owed is finished
    }
    Client client(home.path());
    const json state = client.state();
    CHECK(state.at("account") == account_of_phrase());
    CHECK(state.at("settings").at("is_started") == true);
    CHECK(state.at("settings").at("is_paused") == true);
    CHECK(state.at("is_running") == false);
    CHECK(state.at("closed").is_string());
    client.post("/api/resume", json::object());
    CHECK(client.state().at("closed").is_null());
}

TEST_CASE("ui: measuring keeps the score of the device, and a device that fails is named") {
    const TemporaryDirectory home;
    Client client(home.path());
    client.post("/api/measure", json::object());
    CHECK(client.state().at("settings").at("score") == 12'345);
    client.post("/api/settings", {{"device", "cuda:3"}});
    CHECK(client.state().at("settings").at("score") == 0);
    const json refused = client.post("/api/measure", json::object(), 400);
    CHECK(refused.at("error").at("message").get<std::string>().find("cuda:3") != std::string::npos);
    client.post("/api/settings", {{"score", 99'999}}, 400);
    client.post("/api/settings", {{"is_paused", true}}, 400);
}

TEST_CASE("ui: orders about money need the password, an id and a whole amount, and nothing is sent without the node") {
    const TemporaryDirectory home;
    Client client(home.path());
    client.post("/api/key/restore", {{"phrase", kPhrase}, {"password", kPassword}});
    const json good = {{"id", "order-0001"}, {"role", "solver"}, {"amount", "5 ASY"}, {"password", kPassword}};
    for (const auto& [name, value] : std::vector<std::pair<std::string, json>>{
             {"password", "a stolen token has none"},
             {"password", nullptr},
             {"amount", "5"},
             {"amount", "0 ASY"},
             {"amount", "-5 ASY"},
             {"amount", 5},
             {"role", "validator"},
             {"id", "x"},
             {"id", "UPPER-CASE-1"}}) {
        json order = good;
        order[name] = value;
        CAPTURE(order.dump());
        client.post("/api/bond", order, 400);
        client.post("/api/unbond", order, 400);
    }
    const json refused = client.post("/api/bond", good, 400);
    CHECK(refused.at("error").at("message").get<std::string>().find("nothing was sent") != std::string::npos);
    CHECK(client.state().at("orders").at("pending").is_null());
    json send = good;
    send["to"] = "assay1notanaddress";
    client.post("/api/transfer", send, 400);
}

TEST_CASE("ui: other methods, bodies and paths are refused") {
    const TemporaryDirectory home;
    Client client(home.path());
    CHECK(client.ask("GET", "/api/quit").status == 404);
    CHECK(client.ask("POST", "/api/state", "{}").status == 404);
    CHECK(client.ask("POST", "/api/quit", "[]").status == 400);
    CHECK(client.ask("POST", "/api/quit", "{").status == 400);
    CHECK(client.ask("POST", "/index.html", "").status == 405);
    CHECK(client.ask("GET", "/../settings.json").status == 404);
    CHECK_FALSE(client.quit);
    http::HttpRequest form;
    form.method = "POST";
    form.target = "/api/quit";
    form.host = "127.0.0.1:80";
    form.authorization = "Bearer token";
    form.content_type = "text/plain";
    form.body = "{}";
    CHECK(client.api.answer(form).status == 415);
    CHECK_FALSE(client.quit);
    client.post("/api/quit", json::object());
    CHECK(client.quit);
}

TEST_CASE("ui: the page's files are served with a policy that runs no text of strangers") {
    const TemporaryDirectory home;
    Client client(home.path());
    const auto page = client.ask("GET", "/");
    CHECK(page.status == 200);
    bool has_policy = false;
    for (const auto& [name, value] : page.fields) {
        has_policy = has_policy || (name == "Content-Security-Policy" && value.find("default-src 'none'") == 0 &&
                                    value.find("unsafe") == std::string::npos);
        CHECK(name != "Access-Control-Allow-Origin");
    }
    CHECK(has_policy);
    for (const char* file : {"/main.js", "/style.css", "/dom.js", "/ui.css"}) {
        CHECK(client.ask("GET", file).status == 200);
    }
}

TEST_CASE("ui: the document of the API has every route") {
    const std::string text = read_text(std::filesystem::path(folders::source()) / "docs/operations/ui.md");
    for (const std::string_view route : api_routes()) {
        CAPTURE(route);
        CHECK(text.find("`" + std::string(route) + "`") != std::string::npos);
    }
}

}  // namespace assay::ui
