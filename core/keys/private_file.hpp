// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <core/base/result.hpp>

/// Secrets in files and in memory.
namespace assay::crypto {

/// Text that is overwritten when it is given up.
class SecretText {
  public:
    SecretText() = default;
    /// Takes a copy and overwrites `text`.
    explicit SecretText(std::string& text);
    SecretText(SecretText&& other) noexcept;
    SecretText& operator=(SecretText&& other) noexcept;
    SecretText(const SecretText&) = delete;
    SecretText& operator=(const SecretText&) = delete;
    ~SecretText();

    std::string_view view() const noexcept { return text_; }
    bool empty() const noexcept { return text_.empty(); }
    void push_back(char c);
    /// Ends it before the first line break.
    void keep_first_line() noexcept;

  private:
    std::string text_;
};

enum class [[nodiscard]] PrivateFileError : std::uint8_t {
    kUnreadable = 1,
    kOpenToOthers = 2,  ///< its mode lets others than its owner read or write it
    kTooLong = 3,       ///< more than 64 KiB: not what it is taken for
};

/// The whole of a file that holds a key or a password.
Result<SecretText, PrivateFileError> read_private_file(const std::filesystem::path& file);
/// "<file>: cannot be read", or what to do about its mode.
std::string describe(PrivateFileError error, const std::filesystem::path& file);

}  // namespace assay::crypto
