// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <verifier/compile/onnx/import.hpp>

/// Inside onnx only: how an import ends early. Thrown where the reason is known, completed where the node is known,
/// and a Result at the room's door.
namespace assay::onnx {

class Refusal : public std::exception {
  public:
    Refusal(ImportErrorKind kind, std::string message, std::string input = {})
        : error_{kind, std::move(message), {}, std::move(input)} {}

    const char* what() const noexcept override { return error_.message.c_str(); }
    const ImportError& error() const { return error_; }
    /// Puts the place before the reason, once.
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

/// "[2,3,4]"
std::string to_text(const program::Dims& dims);

}  // namespace assay::onnx
