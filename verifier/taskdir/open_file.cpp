// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/open_file.hpp>

#include <system_error>
#include <utility>

#include <verifier/taskdir/findings.hpp>

namespace assay::taskdir {

artifacts::StoredFile open_file(const std::filesystem::path& path) {
    std::error_code error;
    auto file = std::filesystem::is_regular_file(path, error) ? artifacts::StoredFile::open(path) : std::nullopt;
    if (!file) {
        throw TaskDirectoryError("cannot read " + path.string());
    }
    return *std::move(file);
}

}  // namespace assay::taskdir
