// SPDX-License-Identifier: Apache-2.0
#include <core/system/temporary_directory.hpp>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace assay::system {
namespace {

[[noreturn]] void fail(const std::string& where, bool is_given, const std::error_code& why) {
    const char* const advice =
        is_given ? "name a directory that you can write to" : "set TMPDIR to a directory that you can write to";
    throw std::runtime_error("cannot make a temporary directory in " + where + ": " + why.message() + "; " + advice);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory(std::string_view name, const std::filesystem::path& parent) {
    std::error_code error;
    const std::filesystem::path where = parent.empty() ? std::filesystem::temp_directory_path(error) : parent;
    if (error) {
        fail("TMPDIR", false, error);
    }
    std::string pattern = (where / (std::string(name) + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        fail(where.string(), !parent.empty(), std::error_code(errno, std::generic_category()));
    }
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    if (!is_kept_) {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
}

}  // namespace assay::system
