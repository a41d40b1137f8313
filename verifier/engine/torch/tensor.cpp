// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/tensor.hpp>

#include <cstring>

#include <core/base/assert.hpp>
#include <verifier/engine/torch/math.hpp>

namespace assay::engine {

using canonical::DType;
using canonical::Shape;
using canonical::Tensor;

namespace {

DType dtype_of(at::ScalarType type) {
    for (const DType dtype : {DType::kF32, DType::kI32, DType::kI64, DType::kBf16}) {
        if (scalar_type(dtype) == type) {
            return dtype;
        }
    }
    ASSERT(type == at::kChar);
    return DType::kI8;
}

}  // namespace

at::Tensor to_device(const Tensor& tensor, at::Device device) {
    // libtorch has no tensors of constants; the copy only reads.
    void* data = const_cast<std::uint8_t*>(tensor.data.data());
    const at::Tensor view = at::from_blob(data, sizes_of(tensor.shape), scalar_type(tensor.dtype));
    return view.to(device, view.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
}

Tensor to_host(const at::Tensor& tensor) {
    const at::Tensor from = tensor.to(at::kCPU).contiguous();
    const DType dtype = dtype_of(from.scalar_type());
    const Shape shape{static_cast<std::uint32_t>(from.size(0)), static_cast<std::uint32_t>(from.size(1))};
    Tensor out = canonical::make_tensor(dtype, shape);
    ASSERT(from.nbytes() == out.data.size());
    std::memcpy(out.data.data(), from.data_ptr(), out.data.size());
    return out;
}

}  // namespace assay::engine
