// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace assay::client {

/// Where a node's JSON-RPC is, and what lets its callers in.
struct NodeAddress {
    /// "http://HOST:PORT", "https://HOST:PORT", or "unix:///PATH" of its socket.
    std::string url = "http://127.0.0.1:26600";
    std::filesystem::path token_file{};   ///< whose first line is the node's token; empty: it has none
    std::filesystem::path authorities{};  ///< certificates to trust in place of the system's, in PEM
};

/// Returns the first line of a file that only its owner can read. Throws crypto::KeyFileError, also if it is no token:
/// 16 or more printable characters without spaces.
std::string read_token(const std::filesystem::path& file);

}  // namespace assay::client
