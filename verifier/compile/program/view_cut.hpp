// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/compile/program/array.hpp>

/// Internal to the program module: shared by compositions and adjoints of views.
namespace assay::program {

/// Range of the numerators of an axis' coordinate, both ends included.
struct CoordinateRange {
    std::int64_t low = 0;
    std::int64_t high = 0;
};
CoordinateRange range_of(const canonical::ViewAxis& axis, const Dims& dims);
bool is_always_inside(const canonical::ViewAxis& axis, const Dims& dims);
bool fits_i32(std::int64_t value);

/// Splits axis `at` into one of size / inner and one of size inner, if the coordinate is inner * a + b with integers a
/// and b, b always in 0 .. inner-1. Returns whether it did.
bool cut_axis(canonical::View& view, std::size_t at, std::uint32_t inner);

}  // namespace assay::program
