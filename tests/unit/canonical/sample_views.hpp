// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/unit/canonical/samples.hpp>

/// Random views: permutations, windows, and hostile ones.
namespace assay::canonical::test {

/// Makes `s` a node of kView.
void make_view(Sample& s, Random& random, Kind kind);

std::uint32_t hostile_bits(Random& random);
/// A tensor of any of the types.
Tensor any_type(Shape shape, Random& random, Kind kind);

}  // namespace assay::canonical::test
