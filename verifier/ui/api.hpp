// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <span>
#include <string_view>

#include <client/http/http.hpp>
#include <verifier/ui/guard.hpp>
#include <verifier/ui/office.hpp>

namespace assay::ui {

/// The longest body of a request, in bytes.
inline constexpr std::uint64_t kBodyMax = 16U << 10U;

/// "GET /api/state" and so on: what docs/operations/ui.md describes, each once.
std::span<const std::string_view> api_routes();

/// Answers the page's requests: files of the site to anybody of this machine, /api to who has the token. Thread-safe.
class Api {
  public:
    /// `quit` is set when the owner ends the program. All must outlive this object.
    Api(Office& office, Activity& activity, Guard& guard, std::atomic<bool>& quit)
        : office_(office), activity_(activity), guard_(guard), quit_(quit) {}
    http::HttpResponse answer(const http::HttpRequest& request);

  private:
    http::HttpResponse call(const http::HttpRequest& request);
    nlohmann::ordered_json order(std::string_view path, const nlohmann::json& body);
    nlohmann::ordered_json order_key(std::string_view path, const nlohmann::json& body);
    void order_money(std::string_view path, const nlohmann::json& body);

    Office& office_;
    Activity& activity_;
    Guard& guard_;
    std::atomic<bool>& quit_;
};

}  // namespace assay::ui
