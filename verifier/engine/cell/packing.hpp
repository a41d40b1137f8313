// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>

namespace assay::engine::cell {

/// Returns the elements of an f32 tensor without loss, in few bits where they allow it: lines of them are written as
/// indices into a table of at most 16 values or magnitudes, as integers times a power of two, or as they are. A line is
/// a row of at least 8 elements; narrower tensors are cut into lines of 4,096. program::round_traffic counts the bits.
Bytes pack(const canonical::Tensor& tensor);

enum class [[nodiscard]] PackingError : std::uint8_t{kMalformed = 1};
/// Reads a tensor of this type, f32, from the front of `bytes` and removes what it has read.
Result<canonical::Tensor, PackingError> unpack(ByteView& bytes, const canonical::TensorType& type);

}  // namespace assay::engine::cell
