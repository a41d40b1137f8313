// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <verifier/taskdir/task_file.hpp>
#include <verifier/taskdir/toml_section.hpp>

namespace assay::taskdir {

/// Reads [model]: the model family that "kind" names, with its keys. Adds findings for errors.
Model read_model(const TomlSection& section);

/// Sets the profile of the model's contractions. Does nothing for an ONNX model, which has none of its own.
void set_profile(Model& model, const program::Profile& profile);

/// Returns an explanation of a check_model error for the author of [model].
std::string explain(program::ModelError error);

}  // namespace assay::taskdir
