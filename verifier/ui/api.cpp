// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/api.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <client/http/site.hpp>
#include <core/base/amount.hpp>
#include <core/crypto/address.hpp>
#include <core/keys/key_file.hpp>
#include <verifier/ui/site_files.hpp>

namespace assay::ui {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::array<std::string_view, 16> kRoutes{
    "GET /api/state",        "GET /api/events",    "POST /api/key/new", "POST /api/key/confirm",
    "POST /api/key/restore", "POST /api/settings", "POST /api/measure", "POST /api/start",
    "POST /api/stop",        "POST /api/pause",    "POST /api/resume",  "POST /api/bond",
    "POST /api/unbond",      "POST /api/transfer", "POST /api/forget",  "POST /api/quit"};

http::HttpResponse json_answer(const Json& body) {
    http::HttpResponse out;
    out.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    out.fields = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
    return out;
}

/// A text member of the body; overwrites nothing, so what is secret is not logged and not kept.
std::string text(const nlohmann::json& body, const char* name) {
    const auto found = body.find(name);
    if (found == body.end() || !found->is_string()) {
        throw InputError(std::string("\"") + name + "\" is missing, or no text");
    }
    return found->get<std::string>();
}

std::string text_or_empty(const nlohmann::json& body, const char* name) {
    return body.contains(name) ? text(body, name) : std::string();
}

Amount amount_of(const nlohmann::json& body) {
    const std::string said = text(body, "amount");
    const auto amount = decode_amount(said);
    if (!amount || amount->grains == 0) {
        throw InputError("an amount is a number above zero with a unit, as in \"12.5 ASY\"");
    }
    return *amount;
}

contracts::Role role_of(const nlohmann::json& body) {
    const std::string said = text(body, "role");
    for (const auto role : {contracts::Role::kSolver, contracts::Role::kVerifier, contracts::Role::kWhistleblower}) {
        if (said == contracts::to_string(role)) {
            return role;
        }
    }
    throw InputError("a role is solver, verifier or whistleblower");
}

std::string order_id(const nlohmann::json& body) {
    constexpr std::size_t kLeast = 8;
    constexpr std::size_t kMost = 64;
    std::string id = text(body, "id");
    const bool is_plain = std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!is_plain || id.size() < kLeast || id.size() > kMost) {
        throw InputError("an order's id is 8 to 64 lower-case letters, digits and hyphens");
    }
    return id;
}

}  // namespace

std::span<const std::string_view> api_routes() { return kRoutes; }

Json Api::order_key(std::string_view path, const nlohmann::json& body) {
    if (path == "/api/key/new") {
        const auto made = office_.keys().begin();
        return {{"words", made.words}, {"asked", made.asked}};
    }
    const std::string password = text(body, "password");
    AccountId account;
    if (path == "/api/key/restore") {
        account = office_.keys().restore(text(body, "phrase"), text_or_empty(body, "passphrase"), password);
    } else {
        std::map<std::size_t, std::string> answers;
        const auto given = body.find("answers");
        if (given == body.end() || !given->is_object() || given->size() > Keyring::kAsked) {
            throw InputError("\"answers\" has the words that were asked, by number");
        }
        for (const auto& [number, word] : given->items()) {
            const bool is_number =
                !number.empty() && number.size() < 3 && number.find_first_not_of("0123456789") == std::string::npos;
            if (!is_number || !word.is_string()) {
                throw InputError("\"answers\" has the words that were asked, by number");
            }
            answers[std::stoul(number)] = word.get<std::string>();
        }
        account = office_.keys().confirm(answers, password);
    }
    office_.note_key();
    return {{"account", crypto::to_address(account)}};
}

void Api::order_money(std::string_view path, const nlohmann::json& body) {
    Order order{.id = order_id(body), .what = {}, .action = contracts::Bond{}};
    const Amount amount = amount_of(body);
    if (path == "/api/transfer") {
        const auto to = crypto::decode_address(text(body, "to"));
        if (!to) {
            throw InputError("\"to\" is not the address of an account: compare it with where you copied it from");
        }
        order.what = {{"action", "transfer"}, {"amount", to_text(amount)}, {"to", crypto::to_address(*to)}};
        order.action = contracts::Transfer{.to = *to, .amount = amount};
    } else {
        const contracts::Role role = role_of(body);
        const bool is_bond = path == "/api/bond";
        order.what = {
            {"action", is_bond ? "bond" : "unbond"}, {"amount", to_text(amount)}, {"role", contracts::to_string(role)}};
        if (is_bond) {
            order.action = contracts::Bond{.role = role, .amount = amount};
        } else {
            order.action = contracts::Unbond{.role = role, .amount = amount};
        }
    }
    office_.send(order, text(body, "password"));
}

Json Api::order(std::string_view path, const nlohmann::json& body) {
    if (path.starts_with("/api/key/")) {
        return order_key(path, body);
    }
    if (path == "/api/settings") {
        office_.change(body);
    } else if (path == "/api/measure") {
        office_.measure();
    } else if (path == "/api/start") {
        const auto resets = body.find("reset_breaker");
        office_.start(text_or_empty(body, "password"), resets != body.end() && *resets == true);
    } else if (path == "/api/stop") {
        office_.stop();
    } else if (path == "/api/pause" || path == "/api/resume") {
        office_.set_paused(path == "/api/pause");
    } else if (path == "/api/forget") {
        office_.forget(text(body, "id"));
    } else if (path == "/api/quit") {
        quit_ = true;
    } else {
        order_money(path, body);
    }
    return Json::object();
}

http::HttpResponse Api::call(const http::HttpRequest& request) {
    const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
    const std::string route = request.method + " " + std::string(path);
    if (std::find(kRoutes.begin(), kRoutes.end(), route) == kRoutes.end()) {
        return refusal(404, "not_found", "there is no " + route.substr(0, 100));
    }
    if (path == "/api/state") {
        Json state = office_.snapshot();
        state["refused_requests"] = guard_.refused();
        return json_answer(state);
    }
    if (path == "/api/events") {
        http::HttpResponse out;
        out.push = activity_.stream();
        return out;
    }
    if (!request.content_type.starts_with("application/json")) {
        return refusal(415, "content_type", "a request's body is application/json");
    }
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    if (!body.is_object()) {
        return refusal(400, "body", "a request's body is a JSON object");
    }
    return json_answer(order(path, body));
}

http::HttpResponse Api::answer(const http::HttpRequest& request) {
    const bool is_call = request.target.starts_with("/api/");
    if (auto refused = guard_.refuse(request, is_call)) {
        return *std::move(refused);
    }
    try {
        if (is_call) {
            return call(request);
        }
        if (request.method != "GET" && request.method != "HEAD") {
            return refusal(405, "method", "files are fetched with GET");
        }
        auto file = http::answer_site(site_files(), kContentSecurityPolicy, request);
        return file ? *std::move(file) : refusal(404, "not_found", "there is no such page");
    } catch (const InputError& error) {
        return refusal(400, "input", error.what());
    } catch (const crypto::KeyFileError& error) {
        return refusal(500, "file", error.what());
    } catch (const std::exception& error) {
        return refusal(500, "failed", error.what());
    }
}

}  // namespace assay::ui
