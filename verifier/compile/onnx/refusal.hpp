// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <verifier/compile/onnx/import.hpp>

/// Internal to the importer: an exception that ends an import. It is thrown where the reason is known, extended where
/// the node is known, and converted to a Result at the public functions.
namespace assay::onnx {

class Refusal : public std::exception {
  public:
    Refusal(ImportErrorKind kind, std::string message, std::string input = {})
        : error_{kind, std::move(message), {}, std::move(input)} {}

    const char* what() const noexcept override { return error_.message.c_str(); }
    const ImportError& error() const { return error_; }
    /// Prepends the place to the message and sets the operator; only the first call has an effect.
    void locate(const std::string& place, const std::string& op) {
        if (error_.op.empty()) {
            error_.message = place + ": " + error_.message;
            error_.op = op;
        }
    }

  private:
    ImportError error_;
};

[[noreturn]] inline void refuse(ImportErrorKind kind, std::string message) { throw Refusal(kind, std::move(message)); }
[[noreturn]] inline void refuse_unsupported(std::string message) {
    refuse(ImportErrorKind::kUnsupported, std::move(message));
}
[[noreturn]] inline void refuse_invalid(std::string message) { refuse(ImportErrorKind::kInvalid, std::move(message)); }
[[noreturn]] inline void refuse_too_large(std::string message) {
    refuse(ImportErrorKind::kTooLarge, std::move(message));
}

/// Formats dimensions, as in "[2,3,4]".
std::string to_text(const program::Dims& dims);

}  // namespace assay::onnx
