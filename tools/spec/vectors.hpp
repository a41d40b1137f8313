// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/canonical/tile.hpp>

/// How vectors write values.
namespace assay::spec {

/// Without the zero bytes at the end.
Bytes without_zeros(Bytes bytes);

/// Type, shape, and the bits of each element as a hexadecimal number.
nlohmann::ordered_json tensor_json(const canonical::Tensor& tensor);

}  // namespace assay::spec
