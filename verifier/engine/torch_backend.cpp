// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <core/base/assert.hpp>
#include <verifier/engine/backend.hpp>
#include <verifier/engine/torch_contract.hpp>
#include <verifier/engine/torch_math.hpp>
#include <verifier/engine/torch_random.hpp>
#include <verifier/engine/torch_reduction.hpp>
#include <verifier/engine/torch_tensor.hpp>
#include <verifier/engine/torch_view.hpp>

namespace assay::engine {
namespace {

using canonical::Node;
using canonical::Op;
using canonical::Tensor;

constexpr std::int64_t kInfinity = 0x7f800000;

class TorchBackend final : public Backend {
  public:
    TorchBackend(std::size_t slots, const EngineOptions& options)
        : slots_(slots), math_(at::Device(options.device)), contractor_(math_, options.products) {}

    void store(Slot slot, const Tensor& tensor) override {
        const c10::InferenceMode no_autograd;
        slots_[slot] = to_device(tensor, math_.device());
    }
    Tensor load(Slot slot) const override {
        const c10::InferenceMode no_autograd;
        return to_host(held(slot));
    }
    void release(Slot slot) override { slots_[slot].reset(); }

    bool is_finite(Slot slot) const override {
        const c10::InferenceMode no_autograd;
        const at::Tensor& x = held(slot);
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
        const c10::InferenceMode no_autograd;
        at::Tensor out = compute(task).contiguous();
        ASSERT(out.scalar_type() == scalar_type(task.node.dtype) && out.sizes() == sizes_of(task.node.shape));
        slots_[task.output] = std::move(out);
    }

    void draw(const Task& task, const canonical::StepContext& context) override {
        const c10::InferenceMode no_autograd;
        slots_[task.output] = engine::draw(math_, task.node, context).contiguous();
    }

  private:
    const at::Tensor& held(Slot slot) const {
        ASSERT(slots_[slot].defined());
        return slots_[slot];
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
        std::array<at::Tensor, 4> in;
        for (std::size_t i = 0; i < task.inputs.size(); ++i) {
            in[i] = held(task.inputs[i]);
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
            case Op::kContract:
                return contractor_.contract(node, task.is_bounded, in);
            default:
                return math_.elementwise(node, {in.data(), task.inputs.size()});
        }
    }

    std::vector<at::Tensor> slots_;
    DeviceMath math_;
    Contractor contractor_;
    std::map<Slot, DeviceView> views_;  // by output
};

}  // namespace

std::unique_ptr<Backend> make_torch_backend(std::size_t slots, const EngineOptions& options) {
    return std::make_unique<TorchBackend>(slots, options);
}

}  // namespace assay::engine
