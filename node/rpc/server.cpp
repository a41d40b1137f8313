// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/server.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <client/http/http.hpp>
#include <node/explorer/explorer.hpp>
#include <node/rpc/access_token.hpp>
#include <node/rpc/block_waits.hpp>
#include <node/rpc/describe/errors.hpp>
#include <node/rpc/host_names.hpp>
#include <node/rpc/jsonrpc.hpp>
#include <node/rpc/methods.hpp>
#include <node/rpc/readiness.hpp>
#include <node/rpc/subscriptions.hpp>

namespace assay::rpc {

namespace {

http::HttpResponse text_response(unsigned status, std::string text) {
    http::HttpResponse response;
    response.status = status;
    response.content_type = "text/plain";
    response.body = std::move(text);
    return response;
}

http::HttpServerOptions http_options(const RpcOptions& options) {
    http::HttpServerOptions out;
    out.address = options.address;
    out.port = options.port;
    out.body_max = options.body_max;
    out.connections_max = options.connections_max;
    out.connections_per_address = options.connections_per_address;
    out.idle_timeout = options.idle_timeout;
    out.socket = options.socket;
    out.tls_certificate = options.tls_certificate;
    out.tls_key = options.tls_key;
    out.on_tls_files = options.on_tls_files;
    out.too_large = http::HttpResponse{};
    out.too_large.status = 413;
    out.too_large.body =
        error_response(kLimitExceeded, "a request is at most " + std::to_string(options.body_max) + " bytes");
    return out;
}

Dispatcher make_observed(node::NodeApi& api, const RpcOptions& options) {
    Dispatcher out = make_dispatcher(api);
    if (options.on_call) {
        out.observe([on_call = options.on_call](const CallReport& report) {
            on_call(report.method, report.code == 0 ? "ok" : describe::name_of(report.code), report.time);
        });
    }
    return out;
}

http::HttpResponse unauthorized(bool has_token) {
    http::HttpResponse response;
    response.status = 401;
    response.fields.emplace_back("WWW-Authenticate", "Bearer");
    response.body = error_response(
        kUnauthorized, has_token ? "the token is not this node's" : "this node answers only callers that send its token"
    );
    return response;
}

Fault rate_limited(describe::RateClass rate_class, std::uint32_t rate, std::chrono::milliseconds wait) {
    return {
        kRateLimited,
        std::string("this node takes ") + std::to_string(rate) + " " + describe::rate_class_name(rate_class) +
            " per second from one client",
        {{"class", describe::rate_class_name(rate_class)}, {"retry_after_ms", wait.count()}}};
}

std::chrono::milliseconds wait_of(const Fault& fault) {
    return std::chrono::milliseconds(fault.data.at("retry_after_ms").get<std::int64_t>());
}

/// The field says when in whole seconds, data.retry_after_ms exactly.
void say_when(http::HttpResponse& response, std::chrono::milliseconds wait) {
    response.fields.emplace_back("Retry-After", std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()));
}

http::HttpResponse refuse_rate(const Fault& fault) {
    http::HttpResponse response;
    response.status = 429;
    response.body = error_response(fault.code, fault.what(), fault.data);
    say_when(response, wait_of(fault));
    return response;
}

std::map<std::string, describe::RateClass> rate_classes() {
    std::map<std::string, describe::RateClass> out;
    for (const describe::Method& method : describe::methods()) {
        out.emplace(method.name, describe::rate_class_of(method));
    }
    return out;
}

std::uint64_t unix_ms_now() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count()
    );
}

}  // namespace

struct RpcServer::Impl {
    Impl(const RpcOptions& options, node::NodeApi& node_api)
        : api(node_api),
          hosts(options.hosts),
          token(options.token.empty() ? std::nullopt : std::optional(AccessToken(options.token))),
          rates(options.rates),
          limiter(options.rates),
          classes(rate_classes()),
          engine_state(options.engine_state),
          dispatcher(make_observed(api, options)),
          waits(api),
          subscriptions(api),
          http(http_options(options), [this](const auto& request, const auto& exchange) {
              return request.method == "POST" && request.target == "/" && is_acceptable(request)
                         ? call(request, exchange)
                         : std::optional(answer(request));
          }) {}

    bool is_acceptable(const http::HttpRequest& request) const {
        return is_host_allowed(request.host, hosts) && is_json(request.content_type) && is_authorized(request);
    }

    /// Whoever may connect to the Unix socket may read the token as well.
    bool is_authorized(const http::HttpRequest& request) const {
        return !token || request.client == http::kSocketClient || token->admits(request.authorization);
    }

    /// Throws a Fault if the client has made too many calls of the class.
    void admit(const http::ClientAddress& client, describe::RateClass rate_class) {
        if (const auto wait = limiter.take(client, rate_class)) {
            throw rate_limited(rate_class, rates.of(rate_class), *wait);
        }
    }

    std::optional<http::HttpResponse> call(
        const http::HttpRequest& request, const std::shared_ptr<http::HttpExchange>& exchange
    ) {
        std::chrono::milliseconds wait{0};
        const auto admission = [&](const std::string& method) {
            const auto found = classes.find(method);
            try {
                admit(request.client, found == classes.end() ? describe::RateClass::kRead : found->second);
            } catch (const Fault& fault) {
                wait = std::max(wait, wait_of(fault));
                throw;
            }
        };
        Work work([&exchange] { return exchange->is_over(); }, admission);
        http::HttpResponse response;
        response.body = dispatcher.handle(request.body, work);
        if (work.waiting()) {
            waits.add(*work.waiting(), exchange);
            return std::nullopt;
        }
        response.status = response.body.empty() ? 204 : 200;
        if (wait.count() > 0) {
            say_when(response, wait);
            // Of a batch some calls may have been answered.
            response.status = response.body.starts_with('{') ? 429 : response.status;
        }
        return response;
    }

    http::HttpResponse answer(const http::HttpRequest& request) {
        if (!is_host_allowed(request.host, hosts)) {
            return text_response(
                403, "this node is not called by that name (Host: " + shown(request.host) +
                         "): use its IP address or localhost, or name it in rpc.hosts\n"
            );
        }
        const bool is_events = request.target == "/events" || request.target.starts_with("/events?");
        const bool is_secret = request.target == "/ws" || is_events || (request.method == "POST");
        if (is_secret && !is_authorized(request)) {
            return unauthorized(!request.authorization.empty());
        }
        if (request.method == "POST" && request.target == "/") {
            return text_response(
                415, "JSON-RPC needs Content-Type: application/json, and it was " +
                         (request.content_type.empty() ? "missing" : "\"" + shown(request.content_type) + "\"") + "\n"
            );
        }
        if (request.method != "GET" && request.method != "HEAD") {
            return text_response(request.target == "/" ? 405 : 404, "POST JSON-RPC to /\n");
        }
        if (auto file = explorer::answer(request)) {
            return std::move(*file);
        }
        if (request.target == "/ws" || is_events) {
            return is_events ? event_stream(request) : web_socket(request);
        }
        if (request.target == "/livez" || request.target == "/healthz") {
            return text_response(200, "ok\n");
        }
        if (request.target == "/readyz") {
            return ready();
        }
        return text_response(404, "not found\n");
    }

    /// A browser lets any page open a WebSocket to any host; Origin says whose page it is.
    http::HttpResponse web_socket(const http::HttpRequest& request) {
        if (!request.is_upgrade) {
            return text_response(
                426, "/ws is a WebSocket (docs/rpc.md); /events?topic=blocks is for readers of HTTP\n"
            );
        }
        if (!is_same_origin(request.origin, request.host)) {
            return text_response(403, "another site's page may not open a WebSocket to this node\n");
        }
        http::HttpResponse response;
        try {
            admit(request.client, describe::RateClass::kWait);
        } catch (const Fault& fault) {
            return refuse_rate(fault);
        }
        response.push = subscriptions.web_socket();
        return response;
    }

    http::HttpResponse event_stream(const http::HttpRequest& request) {
        http::HttpResponse response;
        try {
            admit(request.client, describe::RateClass::kWait);
            const std::size_t question = request.target.find('?');
            Json params = query_arguments(
                question == std::string::npos ? std::string_view()
                                              : std::string_view(request.target).substr(question + 1)
            );
            if (!request.last_event_id.empty()) {
                params.update(query_arguments("after=" + request.last_event_id));
            }
            response.push = subscriptions.event_stream(params);
        } catch (const Fault& fault) {
            if (fault.code == kRateLimited) {
                return refuse_rate(fault);
            }
            response.status = fault.code == kUnavailable ? 410 : 400;
            response.body = error_response(fault.code, fault.what());
        }
        return response;
    }

    http::HttpResponse ready() {
        const node::NodeStatus status = api.status();
        const EngineState engine = engine_state && !stopping ? engine_state() : EngineState{.is_catching_up = false};
        const std::vector<NotReady> reasons = why_not_ready(
            {.is_stopping = stopping,
             .is_restoring = engine.is_restoring,
             .is_catching_up = engine.is_catching_up.value_or(false),
             .has_engine = engine.is_catching_up.has_value(),
             .awaits_blocks =
                 engine_state && !engine.is_inspected && (engine.makes_empty_blocks || status.mempool_txs > 0),
             .block_interval_ms = status.block_interval_ms,
             .block_at_ms = status.time_ms,
             .now_ms = unix_ms_now()}
        );
        http::HttpResponse response;
        response.status = reasons.empty() ? 200 : 503;
        Json body{
            {"ready", reasons.empty()},
            {"height", status.height.value},
            {"reasons", Json::array()},
            {"details", Json::array()}};
        for (const NotReady& reason : reasons) {
            body["reasons"].push_back(reason.name);
            body["details"].push_back(reason.text);
        }
        response.body = body.dump() + "\n";
        return response;
    }

    node::NodeApi& api;
    std::vector<std::string> hosts;
    std::optional<AccessToken> token;
    RateLimits rates;
    RateLimiter limiter;
    std::map<std::string, describe::RateClass> classes;
    std::function<EngineState()> engine_state;
    std::atomic<bool> stopping{false};
    Dispatcher dispatcher;
    BlockWaits waits;
    Subscriptions subscriptions;
    http::HttpServer http;
};

RpcServer::RpcServer(const RpcOptions& options, node::NodeApi& api) : impl_(std::make_unique<Impl>(options, api)) {}

RpcServer::~RpcServer() { stop(); }

std::uint16_t RpcServer::port() const { return impl_->http.port(); }

std::size_t RpcServer::connections() const { return impl_->http.connections(); }

std::size_t RpcServer::subscribers() const { return impl_->subscriptions.count(); }

void RpcServer::stop() {
    impl_->stopping = true;
    impl_->waits.stop();
    impl_->subscriptions.stop();
    impl_->http.stop();
}

}  // namespace assay::rpc
