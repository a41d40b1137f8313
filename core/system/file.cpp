// SPDX-License-Identifier: Apache-2.0
#include <core/system/file.hpp>

#include <fstream>
#include <iterator>

namespace assay::system {

std::optional<std::string> read_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    // A directory opens and then fails to be read.
    return in.is_open() && !in.bad() ? std::optional(std::move(text)) : std::nullopt;
}

bool write_file(const std::filesystem::path& file, std::string_view text) {
    std::ofstream out(file, std::ios::trunc | std::ios::binary);
    out << text;
    out.close();
    return out.good();
}

}  // namespace assay::system
