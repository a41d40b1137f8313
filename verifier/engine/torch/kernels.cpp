// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/kernels.hpp>

#include <cstring>
#include <stdexcept>

#ifdef ASSAY_WITH_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

#include <core/base/assert.hpp>
#include <verifier/engine/torch/residues.hpp>

namespace assay::engine {

using canonical::Node;
using canonical::Op;

namespace {

// A repeated dimension is not walked along.
cuda::Operand operand(const at::Tensor& x, canonical::Shape shape) {
    ASSERT(x.is_contiguous());
    const std::int64_t cols = x.size(1);
    return {
        .data = x.data_ptr(),
        .row_stride = x.size(0) == 1 && shape.rows != 1 ? 0 : cols,
        .col_stride = cols == 1 && shape.cols != 1 ? 0 : 1};
}

at::Tensor made(const at::Tensor& like, at::IntArrayRef sizes, at::ScalarType type) {
    return at::empty(sizes, like.options().dtype(type));
}

cuda::QuantiseCall call_for(const Quantised& q) {
    const at::Tensor& source = q.source();
    ASSERT(source.is_contiguous());
    cuda::QuantiseCall out;
    out.rows = source.size(0);
    out.cols = source.size(1);
    out.precision = q.precision;
    if (q.words.defined()) {
        out.words = q.words.data_ptr<std::int32_t>();
        return out;
    }
    ASSERT(q.e.is_contiguous());
    out.x = q.x.data_ptr<float>();
    out.e = q.e.data_ptr<std::int32_t>();
    out.e_row_stride = q.e.size(0) == 1 ? 0 : q.e.size(1);
    out.chunk = q.e.size(1) == 1 ? 0 : q.chunk;
    return out;
}

}  // namespace

std::unique_ptr<DeviceKernels> DeviceKernels::make(at::Device device, KernelChoice choice) {
    if (choice == KernelChoice::kLibrary) {
        return nullptr;
    }
    if (device.is_cpu() && choice == KernelChoice::kOwn) {
        return std::unique_ptr<DeviceKernels>(new DeviceKernels(cuda::make_host_kernels()));
    }
#ifdef ASSAY_WITH_CUDA
    if (device.is_cuda()) {
        return std::unique_ptr<DeviceKernels>(new DeviceKernels(cuda::make_cuda_kernels()));
    }
#endif
    if (choice == KernelChoice::kOwn) {
        throw std::runtime_error("engine: built without kernels for " + device.str());
    }
    return nullptr;
}

cuda::Kernels& DeviceKernels::on_stream_of([[maybe_unused]] at::Device device) {
#ifdef ASSAY_WITH_CUDA
    if (device.is_cuda()) {
        kernels_->use_stream(c10::cuda::getCurrentCUDAStream(device.index()).stream());
    }
#endif
    return *kernels_;
}

bool DeviceKernels::is_known(Op op) {
    return op == Op::kRowExponent || op == Op::kDequantise || cuda::is_elementwise(op);
}

at::Tensor DeviceKernels::compute(const Node& node, std::span<const at::Tensor> inputs) {
    const at::Tensor& x = inputs[0];
    ASSERT(x.is_contiguous());
    cuda::Kernels& kernels = on_stream_of(x.device());
    at::Tensor out = made(x, sizes_of(node.shape), scalar_type(node.dtype));
    if (node.op == Op::kRowExponent) {
        const std::int64_t chunk = node.attributes[0];
        kernels.row_exponent(x.data_ptr<float>(), x.size(0), x.size(1), chunk, out.data_ptr<std::int32_t>());
        return out;
    }
    if (node.op == Op::kDequantise) {
        const at::Tensor& e = inputs[1];
        ASSERT(e.is_contiguous() && e.size(1) == 1);
        kernels.dequantise(
            x.data_ptr<std::int64_t>(), e.data_ptr<std::int32_t>(), e.size(0) == 1 ? 0 : 1, x.size(0), x.size(1),
            node.attributes[0], out.data_ptr<float>()
        );
        return out;
    }
    cuda::ElementwiseCall call;
    call.op = node.op;
    call.dtype = node.dtype;
    call.attributes = node.attributes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        call.in[i] = operand(inputs[i], node.shape);
    }
    call.rows = node.shape.rows;
    call.cols = node.shape.cols;
    call.out = out.data_ptr();
    kernels.elementwise(call);
    return out;
}

void DeviceKernels::set_clock(const canonical::StepContext& context, at::Device device) {
    if (clock_.defined() && time_.seed == context.seed && time_.step == context.step) {
        return;
    }
    time_ = {.seed = context.seed, .step = context.step};
    const at::Tensor words = at::empty({2}, at::kLong);
    std::memcpy(words.data_ptr(), &time_, sizeof time_);
    if (clock_.defined()) {
        clock_.copy_(words);
    } else {
        clock_ = words.to(device).clone();
    }
}

at::Tensor DeviceKernels::draw(const Node& node, at::Device device) {
    at::Tensor out = at::empty(sizes_of(node.shape), at::TensorOptions(device).dtype(at::kFloat));
    const cuda::DrawCall call{
        .attribute = node.attributes[0],
        .tensor = node.attributes[1],
        .clock = static_cast<const cuda::Clock*>(clock_.data_ptr()),
        .count = out.numel(),
        .out = out.data_ptr<float>()};
    cuda::Kernels& kernels = on_stream_of(device);
    node.op == Op::kUniform ? kernels.uniform(call) : kernels.bernoulli(call);
    return out;
}

void DeviceKernels::find_not_finite(const at::Tensor& x, at::Tensor& found) {
    ASSERT(x.is_contiguous());
    cuda::Kernels& kernels = on_stream_of(x.device());
    auto* const out = found.data_ptr<std::int32_t>();
    if (x.scalar_type() == at::kFloat) {
        kernels.find_not_finite(static_cast<const std::uint32_t*>(x.data_ptr()), x.numel(), out);
    } else if (x.scalar_type() == at::kBFloat16) {
        kernels.find_not_finite(static_cast<const std::uint16_t*>(x.data_ptr()), x.numel(), out);
    }
}

at::Tensor DeviceKernels::quantised(const Quantised& q, at::ScalarType type) {
    if (q.words.defined() && type == at::kInt) {
        return q.words;
    }
    cuda::QuantiseCall call = call_for(q);
    at::Tensor out = made(q.source(), q.source().sizes(), type);
    call.form = type == at::kInt ? cuda::Form::kWords : type == at::kFloat ? cuda::Form::kFloats : cuda::Form::kDoubles;
    call.out = out.data_ptr();
    on_stream_of(out.device()).quantise(call);
    return out;
}

at::Tensor DeviceKernels::residues(const Quantised& q, std::int64_t groups, std::size_t count) {
    cuda::QuantiseCall call = call_for(q);
    call.form = cuda::Form::kResidues;
    call.count = count;
    call.groups = groups;
    call.padded_rows = padded_rows(call.rows / groups);
    call.padded_cols = padded_columns(call.cols);
    at::Tensor out =
        made(q.source(), {static_cast<std::int64_t>(count), groups, call.padded_rows, call.padded_cols}, at::kChar);
    call.out = out.data_ptr();
    on_stream_of(out.device()).quantise(call);
    return out;
}

void DeviceKernels::finish(
    const Node& node, const at::Tensor& e_left, const at::Tensor& e_right, const Sums& sums, std::int64_t index,
    at::Tensor& total, at::Tensor& out
) {
    ASSERT(e_left.is_contiguous() && e_right.is_contiguous());
    cuda::FinishCall call;
    if (sums.residues.defined()) {
        ASSERT(sums.residues.is_contiguous());
        call.residues = sums.residues.data_ptr<std::int32_t>();
        call.count = static_cast<std::size_t>(sums.residues.size(0));
        call.padded_rows = sums.residues.size(2);
        call.padded_cols = sums.residues.size(3);
    } else {
        ASSERT(sums.doubles.is_contiguous());
        call.sums = sums.doubles.data_ptr<double>();
        if (sums.upper.defined()) {
            ASSERT(sums.upper.is_contiguous());
            call.upper = sums.upper.data_ptr<double>();
        }
    }
    call.e_left = e_left.data_ptr<std::int32_t>();
    call.e_right = e_right.data_ptr<std::int32_t>();
    call.rows = node.shape.rows;
    call.cols = node.shape.cols;
    call.groups = canonical::group_count(node);
    call.chunks = e_left.size(1);
    call.index = index;
    call.precision = node.attributes[0];
    if (index + 1 == call.chunks) {
        out = made(e_left, sizes_of(node.shape), at::kFloat);
        call.out = out.data_ptr<float>();
    } else if (!total.defined()) {
        total = made(e_left, sizes_of(node.shape), at::kDouble);
    }
    call.total = total.defined() ? total.data_ptr<double>() : nullptr;
    on_stream_of(e_left.device()).finish(call);
}

}  // namespace assay::engine
