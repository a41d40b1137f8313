// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/temporary_home.hpp>

#include <unistd.h>

#include <stdexcept>
#include <string>
#include <system_error>

namespace assay::demo {

TemporaryHome::TemporaryHome(const std::optional<std::filesystem::path>& given) : kept_(given.has_value()) {
    if (given) {
        path_ = *given;
        if (std::filesystem::exists(path_) && !std::filesystem::is_empty(path_)) {
            throw std::runtime_error(path_.string() + " is not empty; give --home a new directory");
        }
        std::filesystem::create_directories(path_);
        return;
    }
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-demo-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("cannot make a temporary directory " + pattern);
    }
    path_ = pattern;
}

TemporaryHome::~TemporaryHome() {
    if (!kept_) {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
}

}  // namespace assay::demo
