// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <core/system/file.hpp>
#include <core/system/temporary_directory.hpp>

using namespace assay;
using system::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

/// Another place for temporary files, until it is destroyed.
class TemporaryPlace {
  public:
    explicit TemporaryPlace(const std::string& place) {
        if (const char* const before = std::getenv("TMPDIR")) {
            before_ = before;
        }
        ::setenv("TMPDIR", place.c_str(), 1);
    }
    ~TemporaryPlace() {
        if (before_) {
            ::setenv("TMPDIR", before_->c_str(), 1);
        } else {
            ::unsetenv("TMPDIR");
        }
    }
    TemporaryPlace(const TemporaryPlace&) = delete;
    TemporaryPlace& operator=(const TemporaryPlace&) = delete;

  private:
    std::optional<std::string> before_{};
};

}  // namespace

TEST_CASE("a temporary directory is this user's alone, and goes with all that is in it") {
    fs::path path;
    {
        const TemporaryDirectory one("assay-test");
        const TemporaryDirectory other("assay-test");
        path = one.path();
        CHECK(path != other.path());
        CHECK(path.parent_path() == fs::temp_directory_path());
        CHECK(path.filename().string().rfind("assay-test-", 0) == 0);
        CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
        fs::create_directories(path / "in" / "it");
        CHECK(system::write_file(path / "in" / "it" / "file", "text"));
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a temporary directory is made where somebody says, and stays if it is kept") {
    const TemporaryDirectory parent("assay-test");
    fs::path kept;
    {
        TemporaryDirectory inner("inner", parent.path());
        CHECK(inner.path().parent_path() == parent.path());
        inner.keep();
        kept = inner.path();
    }
    CHECK(fs::is_directory(kept));
}

TEST_CASE("a temporary directory that cannot be made says where, why and what to do") {
    const TemporaryDirectory parent("assay-test");
    const fs::path missing = parent.path() / "missing";
    const std::string failed = "cannot make a temporary directory in ";
    CHECK_THROWS_WITH_AS(
        TemporaryDirectory("inner", missing),
        (failed + missing.string() + ": No such file or directory; name a directory that you can write to").c_str(),
        std::runtime_error
    );
    const TemporaryPlace place(missing.string());
    CHECK_THROWS_WITH_AS(
        TemporaryDirectory("inner"), doctest::Contains("; set TMPDIR to a directory that you can write to"),
        std::runtime_error
    );
}
