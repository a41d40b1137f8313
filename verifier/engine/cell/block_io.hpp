// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/bytes.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/plan/placement.hpp>

/// Internal to the cell: parts of tensors. A local tensor has the rows and columns of a block, and nothing else.
namespace assay::engine::cell {

/// Returns the elements of `part` of the local tensor with block `held`, row by row, and appends them to `out`.
void append_block(const canonical::Tensor& local, const plan::Block& held, const plan::Block& part, Bytes& out);
/// Writes the elements of `part` into the local tensor with block `held`; `bytes` are as append_block() appends them.
void write_block(canonical::Tensor& local, const plan::Block& held, const plan::Block& part, ByteView bytes);
/// Returns the local tensor with block `wanted`, all of which is in `held`.
canonical::Tensor take_block(const canonical::Tensor& local, const plan::Block& held, const plan::Block& wanted);

/// The low `width` bytes of each of the integers, little-endian; and back, with the sign.
void append_narrow(const std::int64_t* values, std::size_t count, std::uint32_t width, Bytes& out);
/// Adds them to `sums`, modulo 2^64.
void add_narrow(ByteView bytes, std::uint32_t width, std::int64_t* sums);

}  // namespace assay::engine::cell
