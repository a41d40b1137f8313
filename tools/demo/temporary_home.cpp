// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/temporary_home.hpp>

#include <stdexcept>

namespace assay::demo {

TemporaryHome::TemporaryHome(const std::optional<std::filesystem::path>& given) {
    if (!given) {
        path_ = temporary_.emplace("assay-demo").path();
        return;
    }
    path_ = *given;
    if (std::filesystem::exists(path_) && !std::filesystem::is_empty(path_)) {
        throw std::runtime_error(path_.string() + " is not empty; give --home a new directory");
    }
    std::filesystem::create_directories(path_);
}

}  // namespace assay::demo
