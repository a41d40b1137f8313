// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <client/http/http.hpp>
#include <verifier/ui/activity.hpp>
#include <verifier/ui/api.hpp>
#include <verifier/ui/guard.hpp>
#include <verifier/ui/office.hpp>

namespace assay::ui {

/// The address and the port of "127.0.0.1:8080". Throws InputError for any other address than 127.0.0.1: who reaches
/// the page orders about money.
std::uint16_t loopback_port(const std::string& listen);

/// Serves the page and its API on loopback. Each start has a token of its own, which is in two files of mode 0600 that
/// are removed at the end: <home>/ui_url, and <home>/ui.html, a page that leads a browser there. So the token stands in
/// no command line, where other users would see it.
class Service {
  public:
    /// Throws http::NetError if the port cannot be bound, crypto::KeyFileError if the files cannot be written. All
    /// arguments must outlive this object.
    Service(
        const std::filesystem::path& home, std::uint16_t port, Office& office, Activity& activity,
        std::atomic<bool>& quit
    );
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    std::uint16_t port() const { return server_->port(); }
    /// The page without the token.
    std::string url() const;
    const std::filesystem::path& link_file() const { return link_file_; }

  private:
    Activity& activity_;
    const std::filesystem::path url_file_;
    const std::filesystem::path link_file_;
    std::unique_ptr<http::HttpServer> server_;
    std::atomic<Api*> api_{nullptr};
    std::optional<Guard> guard_{};
    std::optional<Api> answers_{};
};

}  // namespace assay::ui
