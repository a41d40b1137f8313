// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/service.hpp>

#include <charconv>
#include <system_error>

namespace assay::ui {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

http::HttpServerOptions options_of(std::uint16_t port) {
    http::HttpServerOptions out;
    out.address = kLoopback;
    out.port = port;
    out.body_max = kBodyMax;
    out.connections_max = 64;
    out.threads = 4;
    out.too_large = refusal(413, "too_large", "a request's body has at most " + std::to_string(kBodyMax) + " bytes");
    return out;
}

/// A page that a browser opens from the disk.
std::string link_page(const std::string& url) {
    return "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"referrer\" "
           "content=\"no-referrer\">"
           "<title>Assay worker</title><meta http-equiv=\"refresh\" content=\"0;url=" +
           url + "\"></head><body><p><a href=\"" + url +
           "\">Open the page of this machine's Assay worker</a></p></body></html>\n";
}

}  // namespace

std::uint16_t loopback_port(const std::string& listen) {
    const std::string prefix = std::string(kLoopback) + ":";
    std::uint16_t port = 0;
    if (listen.starts_with(prefix)) {
        const char* const first = listen.data() + prefix.size();
        const char* const last = listen.data() + listen.size();
        const auto [end, error] = std::from_chars(first, last, port);
        if (error == std::errc{} && end == last && first != last) {
            return port;
        }
    }
    throw InputError(
        "\"" + listen +
        "\" cannot be listened on: the page orders about money, so it is served on 127.0.0.1:PORT only; "
        "to see it from another machine, forward that port with ssh -L"
    );
}

Service::Service(
    const std::filesystem::path& home, std::uint16_t port, Office& office, Activity& activity, std::atomic<bool>& quit
)
    : activity_(activity), url_file_(home / "ui_url"), link_file_(home / "ui.html") {
    // The port is in the Host field that the guard asks for, and is known when it is bound.
    server_ = std::make_unique<http::HttpServer>(
        options_of(port), http::HttpServer::Handler([this](const http::HttpRequest& request) {
            Api* const api = api_;
            return api != nullptr ? api->answer(request) : refusal(503, "starting", "it is starting: try again");
        })
    );
    const std::string token = new_token();
    guard_.emplace(token, server_->port());
    answers_.emplace(office, activity, *guard_, quit);
    const std::string link = url() + "#token=" + token;
    replace_private_file(url_file_, link + "\n");
    replace_private_file(link_file_, link_page(link));
    api_ = &*answers_;
}

Service::~Service() {
    std::error_code none;
    std::filesystem::remove(url_file_, none);
    std::filesystem::remove(link_file_, none);
    activity_.end_streams();
    server_->stop();
}

std::string Service::url() const { return "http://" + std::string(kLoopback) + ":" + std::to_string(port()) + "/"; }

}  // namespace assay::ui
