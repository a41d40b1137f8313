// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tests/unit/engine/equality.hpp>

namespace assay::test {

/// A well-formed step of 20 to 60 nodes made at random, the same on every machine: few shapes, so that nodes share
/// rows; reductions, views, products and scatters between chains of elementwise operations; values that are read often,
/// late or never; a next state that takes nodes' outputs, passes tensors through and exchanges them.
Case random_graph(std::uint64_t seed);

}  // namespace assay::test
