// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <core/canonical/tile.hpp>

/// Internal to the engine: copies tensors to and from a device.
namespace assay::engine {

at::Tensor to_device(const canonical::Tensor& tensor, at::Device device);
/// `tensor` is a matrix of a canonical type.
canonical::Tensor to_host(const at::Tensor& tensor);

}  // namespace assay::engine
