// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/stores/credentials.hpp>

namespace assay::stores {
namespace {

TEST_CASE("credentials are read from a file by profile, and no error prints a secret") {
    const test::TemporaryDirectory home;
    std::filesystem::create_directories(home.path());
    const auto file = home.path() / "credentials";
    std::ofstream(file) << "[default]\naws_access_key_id = ID\naws_secret_access_key = hidden/+=\n"
                        << "[temporary]\naws_access_key_id=T\naws_secret_access_key=S\naws_session_token=token\n"
                        << "[half]\naws_access_key_id = H\n";
    CHECK(credentials_in_file(file, "default")->key_id == "ID");
    CHECK(credentials_in_file(file, "default")->secret == "hidden/+=");
    CHECK(credentials_in_file(file, "temporary")->session_token == "token");
    CHECK(!credentials_in_file(file, "other"));
    CHECK(!credentials_in_file(home.path() / "nowhere", "default"));
    CHECK_THROWS_AS(credentials_in_file(file, "half"), std::runtime_error);
    std::ofstream(file) << "[default]\nhidden\n";
    try {
        static_cast<void>(credentials_in_file(file, "default"));
        FAIL("a line without a key was taken");
    } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find("hidden") == std::string::npos);
        CHECK(std::string(error.what()).find("line 2") != std::string::npos);
    }
}

}  // namespace
}  // namespace assay::stores
