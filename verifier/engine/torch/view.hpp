// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include <core/canonical/node.hpp>

/// Inside engine only: a canonical::View over libtorch, on any device (NUM-34). Bits are moved as they are (NUM-9).
namespace assay::engine {

/// A view prepared once and applied to many tensors.
///
/// Where every coordinate moves one way only, the input is laid out with the elements between whole coordinates and
/// beyond both ends of each axis filled; every element of the output then has a source, at an address that is linear
/// in its indices. Only what is left out of that (coordinates that mix directions, or an axis blown up beyond reason)
/// is copied by a table of addresses.
class DeviceView {
  public:
    DeviceView(const canonical::Node& node, at::Device device);

    /// The output as a strided tensor, which may share memory with `x`; `x` is contiguous.
    at::Tensor apply(const at::Tensor& x) const;
    /// Whether apply() reads the input in place, without laying it out or looking addresses up.
    bool is_in_place() const { return is_linear_ && !is_filled_; }

  private:
    struct Axis {
        std::int64_t size = 1;
        std::int64_t divisor = 1;
        std::int64_t below = 0;   ///< elements of the laid out axis before coordinate 0
        std::int64_t length = 1;  ///< of the laid out axis
        bool is_flipped = false;
    };

    void plan_axes(const canonical::View& view);
    void plan_table(const canonical::View& view, at::Device device);
    at::Tensor lay_out(const at::Tensor& words) const;

    std::vector<std::int64_t> shape_;
    std::vector<std::int64_t> dims_;
    std::vector<std::int64_t> strides_;
    std::int64_t start_ = 0;
    std::vector<Axis> axes_;
    std::int64_t fill_ = 0;  ///< the word itself
    bool is_linear_ = true;
    bool is_filled_ = false;  ///< is_linear_: the input must be laid out anew
    at::Tensor table_;        ///< not is_linear_: flat addresses, 0 where there is none
    at::Tensor is_inside_;
};

}  // namespace assay::engine
