// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <verifier/taskdir/task_file.hpp>
#include <verifier/taskdir/toml_section.hpp>

namespace assay::taskdir {

/// [model]: the family that "kind" names, with its keys. Findings for what is wrong.
Model read_model(const TomlSection& section);

/// The profile of a model's contractions. An ONNX model has none of its own.
void set_profile(Model& model, const program::Profile& profile);

/// Why check_model refused, for whoever wrote [model].
std::string explain(program::ModelError error);

}  // namespace assay::taskdir
