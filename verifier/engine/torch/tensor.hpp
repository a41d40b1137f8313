// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <core/canonical/tile.hpp>

/// Inside engine only: tensors to and from a device.
namespace assay::engine {

at::Tensor to_device(const canonical::Tensor& tensor, at::Device device);
/// A matrix of one of the canonical types.
canonical::Tensor to_host(const at::Tensor& tensor);

}  // namespace assay::engine
