// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/sandbox/child.hpp>

/// The parsers of assay-parser, each the inner side of a function that its files name. What they answer is checked
/// there.
namespace assay::parser {

/// Answers with nothing: whoever asks wants to know that the sandbox works.
void parse_nothing(const sandbox::Input& input, const sandbox::Output& output);
void parse_program(const sandbox::Input& input, const sandbox::Output& output);      ///< artifacts::ProgramAnswer
void parse_safetensors(const sandbox::Input& input, const sandbox::Output& output);  ///< artifacts::LayoutAnswer
void parse_losses(const sandbox::Input& input, const sandbox::Output& output);       ///< artifacts::LossesAnswer
void parse_seats(const sandbox::Input& input, const sandbox::Output& output);        ///< artifacts::SeatsAnswer
void parse_onnx(const sandbox::Input& input, const sandbox::Output& output);         ///< taskdir::ModelAnswer
void parse_text(const sandbox::Input& input, const sandbox::Output& output);         ///< taskdir::TextAnswer

}  // namespace assay::parser
