// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ssl/context.hpp>

namespace assay::http {

/// A server's certificate chain and key, which are read again when the files change. A renewal may replace the files
/// one after the other; so what is read is what has not changed since the last look, and what cannot be used leaves
/// what was used before.
class TlsFiles {
  public:
    /// Throws NetError as make_tls_context() does.
    TlsFiles(std::filesystem::path certificate, std::filesystem::path key);

    /// For the next connection. Earlier ones keep theirs.
    const std::shared_ptr<boost::asio::ssl::context>& context() const { return context_; }
    /// Returns nothing while there is nothing new, an empty text once new files are used, and why they cannot be used,
    /// once for each change.
    std::optional<std::string> look();

  private:
    /// Of each file: inode, size, and seconds and nanoseconds of its last change; zeros for a file that is not there.
    using Stamp = std::array<std::array<std::uint64_t, 4>, 2>;
    Stamp stamp() const;

    std::filesystem::path certificate_;
    std::filesystem::path key_;
    Stamp tried_{};
    Stamp seen_{};
    std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace assay::http
