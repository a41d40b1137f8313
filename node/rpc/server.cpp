// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/server.hpp>

#include <atomic>

#include <net/http.hpp>
#include <node/rpc/jsonrpc.hpp>
#include <node/rpc/methods.hpp>

namespace assay::rpc {

namespace {

net::HttpResponse text_response(unsigned status, std::string text) {
    net::HttpResponse response;
    response.status = status;
    response.content_type = "text/plain";
    response.body = std::move(text);
    return response;
}

net::HttpServerOptions http_options(const RpcOptions& options) {
    net::HttpServerOptions out;
    out.address = options.address;
    out.port = options.port;
    out.body_max = options.body_max;
    out.connections_max = options.connections_max;
    out.idle_timeout = options.idle_timeout;
    out.too_large = net::HttpResponse{};
    out.too_large.status = 413;
    out.too_large.body =
        error_response(kLimitExceeded, "a request is at most " + std::to_string(options.body_max) + " bytes");
    return out;
}

}  // namespace

struct RpcServer::Impl {
    Impl(const RpcOptions& options, node::NodeApi& node_api)
        : api(node_api),
          dispatcher(make_dispatcher(api, stopping)),
          http(http_options(options), [this](const net::HttpRequest& request) { return answer(request); }) {}

    net::HttpResponse answer(const net::HttpRequest& request) {
        if (request.method == "POST" && request.target == "/") {
            net::HttpResponse response;
            response.body = dispatcher.handle(request.body);
            response.status = response.body.empty() ? 204 : 200;
            return response;
        }
        if (request.method != "GET" && request.method != "HEAD") {
            return text_response(request.target == "/" ? 405 : 404, "POST JSON-RPC to /\n");
        }
        if (request.target == "/") {
            return text_response(200, "assayd: JSON-RPC 2.0 over POST to this address. /livez and /readyz answer GET.\n");
        }
        if (request.target == "/livez") {
            return text_response(200, "ok\n");
        }
        if (request.target == "/readyz") {
            return ready();
        }
        return text_response(404, "not found\n");
    }

    net::HttpResponse ready() {
        net::HttpResponse response;
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
    std::atomic<bool> stopping{false};
    Dispatcher dispatcher;
    net::HttpServer http;
};

RpcServer::RpcServer(RpcOptions options, node::NodeApi& api) : impl_(std::make_unique<Impl>(options, api)) {}

RpcServer::~RpcServer() { stop(); }

std::uint16_t RpcServer::port() const { return impl_->http.port(); }

void RpcServer::stop() {
    impl_->stopping = true;
    impl_->http.stop();
}

}  // namespace assay::rpc
