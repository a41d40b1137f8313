// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <core/base/result.hpp>

/// Handling of secrets in files and in memory.
namespace assay::crypto {

/// Text that is overwritten in memory when it is released.
class SecretText {
  public:
    SecretText() = default;
    /// Takes a copy of `text` and overwrites the original.
    explicit SecretText(std::string& text);
    SecretText(SecretText&& other) noexcept;
    SecretText& operator=(SecretText&& other) noexcept;
    SecretText(const SecretText&) = delete;
    SecretText& operator=(const SecretText&) = delete;
    ~SecretText();

    std::string_view view() const noexcept { return text_; }
    bool empty() const noexcept { return text_.empty(); }
    void push_back(char c);
    /// Truncates the text before the first line break.
    void keep_first_line() noexcept;

  private:
    std::string text_;
};

enum class [[nodiscard]] PrivateFileError : std::uint8_t{
    kUnreadable = 1,
    kOpenToOthers = 2,  ///< its mode lets others read or write it
    kTooLong = 3,       ///< larger than 64 KiB: cannot be a secret
};

/// Reads a whole file that contains a key or a password.
Result<SecretText, PrivateFileError> read_private_file(const std::filesystem::path& file);
/// An error message: "<file>: cannot be read", or how to fix its mode.
std::string describe(PrivateFileError error, const std::filesystem::path& file);

}  // namespace assay::crypto
