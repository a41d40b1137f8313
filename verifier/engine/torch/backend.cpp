// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <core/base/assert.hpp>
#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/torch/contract.hpp>
#include <verifier/engine/torch/math.hpp>
#include <verifier/engine/torch/random.hpp>
#include <verifier/engine/torch/reduction.hpp>
#include <verifier/engine/torch/tensor.hpp>
#include <verifier/engine/torch/view.hpp>

namespace assay::engine {
namespace {

using canonical::Node;
using canonical::Op;
using canonical::Tensor;

// Nothing records gradients, and kernels of our own find the device current.
class Scope {
  public:
    explicit Scope(at::Device device) {
        if (device.has_index()) {
            device_.reset_device(device);
        }
    }

  private:
    c10::InferenceMode no_autograd_;
    c10::OptionalDeviceGuard device_;
};

class TorchBackend final : public Backend {
  public:
    TorchBackend(std::size_t slots, const EngineOptions& options)
        : slots_(slots),
          math_(at::Device(options.device)),
          kernels_(make_kernels(math_.device(), options.kernels)),
          contractor_(math_, kernels_.get(), options.products) {}

    void store(Slot slot, const Tensor& tensor) override {
        const Scope scope(math_.device());
        pending_.erase(slot);
        slots_[slot] = to_device(tensor, math_.device());
    }
    Tensor load(Slot slot) const override {
        const Scope scope(math_.device());
        return to_host(held(slot));
    }
    void release(Slot slot) override {
        pending_.erase(slot);
        slots_[slot].reset();
    }

    bool is_finite(Slot slot) const override {
        const Scope scope(math_.device());
        const at::Tensor& x = held(slot);
        if (x.scalar_type() == at::kBFloat16) {
            const at::Tensor halves = x.contiguous().view(at::kShort).bitwise_and(kInfinity >> 16U);
            return halves.amax().item<std::int16_t>() < kInfinity >> 16U;
        }
        return x.scalar_type() != at::kFloat || DeviceMath::magnitude(x).amax().item<std::int32_t>() < kInfinity;
    }

    void move_all(std::span<const Slot> from, std::span<const Slot> to) override {
        std::vector<at::Tensor> moved;
        for (const Slot slot : from) {
            moved.push_back(held(slot));
        }
        for (std::size_t i = 0; i < to.size(); ++i) {
            slots_[to[i]] = std::move(moved[i]);
        }
    }

    void execute(const Task& task) override {
        const Scope scope(math_.device());
        if (task.node.op == Op::kQuantise && kernels_ != nullptr) {
            pending_[task.output] = {
                .words = {},
                .x = held(task.inputs[0]),
                .e = held(task.inputs[1]),
                .chunk = task.node.attributes[1],
                .precision = task.node.attributes[0]};
            return;
        }
        at::Tensor out = compute(task).contiguous();
        ASSERT(out.scalar_type() == scalar_type(task.node.dtype) && out.sizes() == sizes_of(task.node.shape));
        slots_[task.output] = std::move(out);
    }

    void draw(const Task& task, const canonical::StepContext& context) override {
        const Scope scope(math_.device());
        const bool is_random = task.node.op != Op::kStepCount;
        slots_[task.output] = kernels_ != nullptr && is_random ? kernels_->draw(task.node, context, math_.device())
                                                               : engine::draw(math_, task.node, context).contiguous();
    }

  private:
    static std::unique_ptr<DeviceKernels> make_kernels(at::Device device, KernelChoice choice) {
        const Scope scope(device);
        return DeviceKernels::make(device, choice);
    }

    const at::Tensor& held(Slot slot) const {
        if (const auto found = pending_.find(slot); found != pending_.end()) {
            slots_[slot] = kernels_->quantised(found->second, at::kInt);
            pending_.erase(found);
        }
        ASSERT(slots_[slot].defined());
        return slots_[slot];
    }

    Quantised quantised(Slot slot, std::uint32_t precision) const {
        if (const auto found = pending_.find(slot); found != pending_.end()) {
            return found->second;
        }
        return {.words = held(slot), .x = {}, .e = {}, .precision = precision};
    }

    at::Tensor contract(const Task& task) {
        const std::uint32_t precision = task.node.attributes[0];
        const ContractOperands operands{
            .left = quantised(task.inputs[0], precision),
            .e_left = held(task.inputs[1]),
            .right = quantised(task.inputs[2], precision),
            .e_right = held(task.inputs[3])};
        return contractor_.contract(task.node, task.is_bounded, operands);
    }

    const DeviceView& view_of(const Task& task) {
        auto found = views_.find(task.output);
        if (found == views_.end()) {
            found = views_.emplace(task.output, DeviceView(task.node, math_.device())).first;
        }
        return found->second;
    }

    at::Tensor compute(const Task& task) {
        const Node& node = task.node;
        if (node.op == Op::kContract) {
            return contract(task);
        }
        std::array<at::Tensor, 4> in;
        for (std::size_t i = 0; i < task.inputs.size(); ++i) {
            in[i] = held(task.inputs[i]);
        }
        if (kernels_ != nullptr && DeviceKernels::is_known(node.op)) {
            return kernels_->compute(node, {in.data(), task.inputs.size()});
        }
        switch (node.op) {
            case Op::kFill:
                return math_.canon(math_.f32(node.attributes[0])).expand(sizes_of(node.shape));
            case Op::kView:
                return view_of(task).apply(in[0]);
            case Op::kGatherRows:
                return gather_rows(in[0], in[1], node.shape);
            case Op::kScatterAddRows:
                return scatter_add_rows(in[0], in[1], node.shape);
            case Op::kOneHot:
                return one_hot(math_, in[0], node.shape.cols);
            case Op::kRowMax:
                return row_max(math_, in[0]);
            case Op::kRowArgMax:
                return row_arg_max(math_, in[0]);
            case Op::kRowExponent:
                return row_exponent(in[0], node.attributes[0]);
            case Op::kRowSum:
                return in[0].sum(1, true, at::kLong);
            case Op::kQuantise:
                return quantise(math_, node, in[0], in[1]);
            case Op::kDequantise:
                return dequantise(math_, in[0], in[1], node.attributes[0]);
            default:
                return math_.elementwise(node, {in.data(), task.inputs.size()});
        }
    }

    mutable std::vector<at::Tensor> slots_;
    // Quantised tensors that were not asked for as words yet; a contraction makes of them what it multiplies.
    mutable std::map<Slot, Quantised> pending_;
    DeviceMath math_;
    std::unique_ptr<DeviceKernels> kernels_;  // nothing where libtorch's operations do everything
    Contractor contractor_;
    std::map<Slot, DeviceView> views_;  // by output
};

}  // namespace

std::unique_ptr<Backend> make_torch_backend(std::size_t slots, const EngineOptions& options) {
    return std::make_unique<TorchBackend>(slots, options);
}

}  // namespace assay::engine
