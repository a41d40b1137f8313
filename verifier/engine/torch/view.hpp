// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include <core/canonical/node.hpp>

/// Internal to the engine: a canonical::View with libtorch, on any device (NUM-34). Bits are copied unchanged (NUM-9).
namespace assay::engine {

/// A view, prepared once and applied to many tensors. If each coordinate moves in one direction only, the input is laid
/// out with fill between whole coordinates and beyond both ends of each axis; each output element then has a source
/// address that is linear in its indices, so the output is a strided tensor. Other views (coordinates of mixed
/// direction, or an axis that would grow too much) are copied by an address table.
class DeviceView {
  public:
    DeviceView(const canonical::Node& node, at::Device device);

    /// Returns the output as a strided tensor, which may share memory with `x`. `x` must be contiguous.
    at::Tensor apply(const at::Tensor& x) const;
    /// Whether apply() reads the input in place, without a new layout or an address table.
    bool is_in_place() const { return is_linear_ && !is_filled_; }

  private:
    struct Axis {
        std::int64_t size = 1;
        std::int64_t divisor = 1;
        std::int64_t below = 0;   ///< elements of the new layout before coordinate 0
        std::int64_t length = 1;  ///< length of the axis in the new layout
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
    std::int64_t fill_ = 0;  ///< the fill word
    bool is_linear_ = true;
    bool is_filled_ = false;  ///< if is_linear_: the input must be laid out anew
    at::Tensor table_;        ///< if not is_linear_: flat addresses, 0 where there is none
    at::Tensor is_inside_;
};

}  // namespace assay::engine
