// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace assay::explorer {

/// A file of the site as the build embedded it (embed.cmake).
struct SiteFile {
    std::string_view target;  ///< "/main.js"
    std::string_view etag;    ///< the SHA-256 of the bytes in hex, in quotation marks
    const unsigned char* bytes;
    std::size_t size;  ///< in bytes
};

/// All files, in no particular order.
std::span<const SiteFile> site_files();

}  // namespace assay::explorer
