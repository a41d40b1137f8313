// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What S3 services answer, which is XML.
namespace assay::stores {

struct S3Object {
    std::string key;
    std::uint64_t size_bytes = 0;
    std::optional<std::uint64_t> written_s{};  ///< Unix time in seconds
};
struct S3Listing {
    std::vector<S3Object> objects;
    std::string next{};  ///< the token for the rest; empty: there is none
};

/// An upload in parts that has not ended.
struct S3OpenUpload {
    std::string key;
    std::string id;
    std::uint64_t begun_s = 0;  ///< Unix time in seconds; 0: not known
};
struct S3Part {
    std::uint64_t number = 0;  ///< from 1 on
    std::uint64_t size_bytes = 0;
    std::string tag;  ///< its ETag, with the quotation marks
};
struct S3Parts {
    std::vector<S3Part> parts;
    std::optional<std::uint64_t> next{};  ///< the number after which the rest follows; nullopt: there is none
};

/// Each returns nullopt if the text is not the answer it should be.
std::optional<S3Listing> decode_s3_listing(const std::string& xml);
std::optional<std::string> decode_s3_upload_id(const std::string& xml);
std::optional<std::vector<S3OpenUpload>> decode_s3_uploads(const std::string& xml);
std::optional<S3Parts> decode_s3_parts(const std::string& xml);
/// The code and message of an error; a service may answer a completion with status 200 and one of these.
std::optional<std::string> decode_s3_error(const std::string& xml);

/// Seconds since 1970 of a time such as 2026-11-28T20:03:28.000Z.
std::optional<std::uint64_t> decode_s3_time(const std::string& text);

}  // namespace assay::stores
