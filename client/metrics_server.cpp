// SPDX-License-Identifier: Apache-2.0
#include <client/metrics_server.hpp>

#include <utility>

#include <core/system/metrics/registry.hpp>

namespace assay::client {
namespace {

/// Whoever scrapes needs few connections, and a scrape is computed while the node makes blocks.
constexpr std::uint32_t kConnectionsMax = 16;

http::HttpResponse text_response(unsigned status, std::string text) {
    http::HttpResponse out;
    out.status = status;
    out.content_type = "text/plain";
    out.body = std::move(text);
    return out;
}

http::HttpServerOptions options_of(const std::string& address, std::uint16_t port) {
    http::HttpServerOptions out;
    out.address = address;
    out.port = port;
    out.body_max = 1'024;
    out.connections_max = kConnectionsMax;
    out.threads = 1;
    out.too_large = text_response(413, "a scrape has no body\n");
    return out;
}

http::HttpResponse answer_scrape(const http::HttpRequest& request, const MetricsServer::Scrape& scrape) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path != "/metrics") {
        return text_response(path == "/" ? 200 : 404, "metrics for Prometheus are at /metrics\n");
    }
    if (request.method != "GET" && request.method != "HEAD") {
        return text_response(405, "GET /metrics\n");
    }
    http::HttpResponse out;
    out.content_type = metrics::kContentType;
    out.body = scrape();
    return out;
}

}  // namespace

MetricsServer::MetricsServer(const std::string& address, std::uint16_t port, Scrape scrape)
    : address_(address),
      http_(options_of(address, port), http::HttpServer::Handler([scrape = std::move(scrape)](const auto& request) {
                return answer_scrape(request, scrape);
            })) {}

std::string MetricsServer::url() const {
    const bool is_v6 = address_.find(':') != std::string::npos;
    return "http://" + (is_v6 ? "[" + address_ + "]" : address_) + ":" + std::to_string(port()) + "/metrics";
}

}  // namespace assay::client
