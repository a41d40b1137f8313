// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/server.hpp>

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include <client/http/http.hpp>
#include <node/explorer/explorer.hpp>
#include <node/rpc/block_waits.hpp>
#include <node/rpc/describe/errors.hpp>
#include <node/rpc/host_names.hpp>
#include <node/rpc/jsonrpc.hpp>
#include <node/rpc/methods.hpp>
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

}  // namespace

struct RpcServer::Impl {
    Impl(const RpcOptions& options, node::NodeApi& node_api)
        : api(node_api),
          hosts(options.hosts),
          dispatcher(make_observed(api, options)),
          waits(api),
          subscriptions(api),
          http(http_options(options), [this](const auto& request, const auto& exchange) {
              return request.method == "POST" && request.target == "/" && is_acceptable(request)
                         ? call(request, exchange)
                         : std::optional(answer(request));
          }) {}

    bool is_acceptable(const http::HttpRequest& request) const {
        return is_host_allowed(request.host, hosts) && is_json(request.content_type);
    }

    std::optional<http::HttpResponse> call(
        const http::HttpRequest& request, const std::shared_ptr<http::HttpExchange>& exchange
    ) {
        Work work([&exchange] { return exchange->is_over(); });
        http::HttpResponse response;
        response.body = dispatcher.handle(request.body, work);
        if (work.waiting()) {
            waits.add(*work.waiting(), exchange);
            return std::nullopt;
        }
        response.status = response.body.empty() ? 204 : 200;
        return response;
    }

    http::HttpResponse answer(const http::HttpRequest& request) {
        if (!is_host_allowed(request.host, hosts)) {
            return text_response(
                403, "this node is not called by that name (Host: " + shown(request.host) +
                         "): use its IP address or localhost, or name it in rpc.hosts\n"
            );
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
        if (request.target == "/ws") {
            return web_socket(request);
        }
        if (request.target == "/events" || request.target.starts_with("/events?")) {
            return event_stream(request);
        }
        if (request.target == "/livez") {
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
        response.push = subscriptions.web_socket();
        return response;
    }

    http::HttpResponse event_stream(const http::HttpRequest& request) {
        http::HttpResponse response;
        try {
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
            response.status = fault.code == kUnavailable ? 410 : 400;
            response.body = error_response(fault.code, fault.what());
        }
        return response;
    }

    http::HttpResponse ready() {
        http::HttpResponse response;
        const bool is_ready = !stopping;
        response.status = is_ready ? 200 : 503;
        Json body{{"ready", is_ready}, {"height", api.status().height.value}, {"reasons", Json::array()}};
        if (!is_ready) {
            body["reasons"].push_back("stopping");
        }
        response.body = body.dump() + "\n";
        return response;
    }

    node::NodeApi& api;
    std::vector<std::string> hosts;
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
