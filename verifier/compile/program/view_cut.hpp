// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/compile/program/array.hpp>

/// Inside program only: what compositions and adjoints of views share.
namespace assay::program {

/// The numerators that an axis' coordinate takes.
struct CoordinateRange {
    std::int64_t low = 0;
    std::int64_t high = 0;
};
CoordinateRange range_of(const canonical::ViewAxis& axis, const Dims& dims);
bool is_always_inside(const canonical::ViewAxis& axis, const Dims& dims);
bool fits_i32(std::int64_t value);

/// Cuts axis `at` into one of size / inner and one of size inner, if the coordinate is inner * a + b with whole a and b
/// and b always in 0 .. inner-1.
bool cut_axis(canonical::View& view, std::size_t at, std::uint32_t inner);

}  // namespace assay::program
