// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Byte ranges of files (RFC 9110, section 14).
namespace assay::http {

/// Bytes first..last of a file, both included.
struct FileRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t size_bytes() const { return last - first + 1; }
    bool operator==(const FileRange&) const = default;
};

/// What a server does with the field Range of a request for a file of `file_bytes` bytes.
struct RangeDecision {
    bool is_satisfiable = true;        ///< otherwise the answer is 416
    std::optional<FileRange> range{};  ///< the answer is 206 with these bytes; without it, 200 with the whole file
};
/// A field that asks for several ranges, or in another unit than bytes, or that is malformed, is ignored as the RFC
/// allows: the answer is the whole file.
RangeDecision decide_range(std::string_view field, std::uint64_t file_bytes);

/// Returns the field Content-Range of an answer with 206, such as "bytes 0-9/100".
std::string content_range(const FileRange& range, std::uint64_t file_bytes);

/// Returns the range of a field Content-Range; nullopt if it is malformed.
std::optional<FileRange> decode_content_range(std::string_view field);

}  // namespace assay::http
