// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/scratch.hpp>

#include <stdexcept>
#include <string>
#include <system_error>

#include <unistd.h>

namespace assay::bench {

Scratch::Scratch(const std::filesystem::path& parent) {
    const auto where = parent.empty() ? std::filesystem::temp_directory_path() : parent;
    std::string name = (where / "assay-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("cannot make a directory in " + where.string());
    }
    path_ = name;
}

Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace assay::bench
