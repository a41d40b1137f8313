// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <contracts/state/environment.hpp>

/// What a launcher tells the worker that it starts: the environment which that worker states on the chain (ENV-4).
namespace assay::launcher {

/// A digest, a label or a statement is not what it has to be. what() says what is wrong and what to write instead.
class StatementError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Returns the digest in "sha256:" and 64 hex digits in lower case. Throws StatementError.
Hash256 decode_digest(const std::string& text);
std::string digest_text(const Hash256& digest);

/// Returns an environment with these labels in order. Throws StatementError unless it is sound (ENV-1); names the label
/// that is wrong.
contracts::Environment make_environment(const std::optional<Hash256>& image, std::vector<std::string> labels);

/// The statement as JSON: {"image": "sha256:...", "labels": ["key=value"]}; `image` may be null.
std::string statement_text(const contracts::Environment& environment);
/// Throws StatementError.
contracts::Environment decode_statement(const std::string& text);
/// decode_statement() of a file. Throws StatementError, which names the file.
contracts::Environment read_statement(const std::filesystem::path& file);

}  // namespace assay::launcher
