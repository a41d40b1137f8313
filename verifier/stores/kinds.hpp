// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <client/http/http_call.hpp>
#include <verifier/stores/store.hpp>

/// The kinds of stores, one file each. Others use open_store().
namespace assay::stores {

std::unique_ptr<Store> make_server_store(const Location& location);  ///< one that server_call() knows
std::unique_ptr<Store> make_directory_store(const DirectoryLocation& location);
std::unique_ptr<Store> make_s3_store(const S3Location& location, const std::optional<Credentials>& credentials);
std::unique_ptr<Store> make_ipfs_store(const IpfsLocation& location);

/// The name of an object below a store's root: the artifact's hex digits, or those in the folder "leaves".
std::string path_of(const ObjectName& object);
/// Of the file that says that an artifact is pinned.
std::string pin_path_of(const Hash256& artifact);

/// GET with a range at a URL. Hands over what status 200 or 206 brings.
ReadEnd read_url(
    const http::HttpCall& call, std::uint64_t first, std::optional<std::uint64_t> last, const http::BodySink& sink,
    const http::HttpLimits& limits
);
/// The size of what is at a URL, from the answer to a request for its first byte.
std::optional<std::uint64_t> size_at_url(const http::HttpCall& call, const http::HttpLimits& limits);

}  // namespace assay::stores
