// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <client/http/http_call.hpp>
#include <tests/unit/artifacts/files.hpp>

namespace assay::http {
namespace {

/// Remembers the field Authorization of the last request, which arrives by a Unix socket whatever host is named.
class Notary {
  public:
    Notary()
        : server_(options(home_), [this](const HttpRequest& request) {
              const std::lock_guard lock(mutex_);
              seen_ = request.authorization;
              host_ = request.host;
              return HttpResponse{.status = 200, .content_type = "text/plain", .body = "ok"};
          }) {}

    /// What a request is signed with that has the key and the time of Amazon's published examples.
    std::string sign(const std::string& target, const std::string& payload_sha256) {
        const HttpCall call{
            .url = "http://examplebucket.s3.amazonaws.com" + target,
            .fields = {{"x-amz-date", "20130524T000000Z"}},
            .signing =
                HttpSigning{
                    .key_id = "AKIAIOSFODNN7EXAMPLE",
                    .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                    .region = "us-east-1",
                    .payload_sha256 = payload_sha256},
            .socket = socket(home_)};
        REQUIRE(http_call(call, {}).status == 200);
        const std::lock_guard lock(mutex_);
        REQUIRE(host_ == "examplebucket.s3.amazonaws.com");
        return seen_;
    }

  private:
    static std::string socket(const test::TemporaryDirectory& home) { return (home.path() / "notary").string(); }
    static HttpServerOptions options(const test::TemporaryDirectory& home) {
        std::filesystem::create_directories(home.path());
        HttpServerOptions out;
        out.socket = socket(home);
        return out;
    }

    test::TemporaryDirectory home_;
    std::mutex mutex_;
    std::string seen_;
    std::string host_;
    HttpServer server_;
};

// The examples "GET Bucket Lifecycle" and "Get Bucket (List Objects)" of Amazon's page on signatures in a header.
TEST_CASE("requests carry the signatures that Amazon publishes for its examples") {
    constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const std::string head =
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=";
    Notary notary;
    CHECK(
        notary.sign("/?lifecycle=", kEmpty) == head + "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    );
    CHECK(
        notary.sign("/?max-keys=2&prefix=J", kEmpty) ==
        head + "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    );
}

}  // namespace
}  // namespace assay::http
