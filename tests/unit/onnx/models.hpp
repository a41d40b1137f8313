// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/unit/onnx/model_builder.hpp>

/// Small models with a loss, their batch dimension open.
namespace assay::onnx::test {

ModelBuilder mlp();          ///< x f32 [6], label below 4
ModelBuilder cnn();          ///< image f32 [2,8,8], label below 3; batch normalization in training mode, groups
ModelBuilder transformer();  ///< tokens and targets [4] below 11; one block, its mask computed by the model

}  // namespace assay::onnx::test
