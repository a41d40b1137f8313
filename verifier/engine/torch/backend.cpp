// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <core/base/assert.hpp>
#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/backend/recorder.hpp>
#include <verifier/engine/torch/contract.hpp>
#include <verifier/engine/torch/math.hpp>
#include <verifier/engine/torch/random.hpp>
#include <verifier/engine/torch/reduction.hpp>
#include <verifier/engine/torch/step_graph.hpp>
#include <verifier/engine/torch/tensor.hpp>
#include <verifier/engine/torch/view.hpp>

namespace assay::engine {
namespace {

using canonical::Node;
using canonical::Op;
using canonical::Tensor;

// Nothing records gradients, and kernels of our own find the device and the stream current.
class Scope {
  public:
    Scope(at::Device device, const std::optional<c10::Stream>& stream) {
        if (device.has_index()) {
            device_.reset_device(device);
        }
        if (stream) {
            stream_.reset_stream(*stream);
        }
    }

  private:
    c10::InferenceMode no_autograd_;
    c10::OptionalDeviceGuard device_;
    c10::OptionalStreamGuard stream_;
};

// A step cannot be recorded on the default stream, and what is stored is to be there before a step reads it.
std::optional<c10::Stream> stream_for(at::Device device) {
    if (device.is_cpu()) {
        return std::nullopt;
    }
    return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

class TorchBackend final : public Backend, public Recorder {
  public:
    TorchBackend(std::size_t slots, const EngineOptions& options)
        : slots_(slots),
          stream_(stream_for(at::Device(options.device))),
          math_(make_math(at::Device(options.device), stream_)),
          kernels_(make_kernels(math_.device(), options.kernels)),
          contractor_(math_, kernels_.get(), options.products),
          may_record_(
              kernels_ != nullptr && (options.recording == RecordChoice::kAlways ||
                                      (options.recording == RecordChoice::kAutomatic && !math_.device().is_cpu()))
          ) {}

    Recorder* recorder() override { return may_record_ ? this : nullptr; }

    void store(Slot slot, const Tensor& tensor) override {
        const Scope scope(math_.device(), stream_);
        put(slot, to_device(tensor, math_.device()));
    }
    Tensor load(Slot slot) const override {
        const Scope scope(math_.device(), stream_);
        return to_host(held(slot));
    }
    void release(Slot slot) override {
        pending_.erase(slot);
        if (!fixed_.contains(slot)) {
            slots_[slot].reset();
        }
    }

    bool is_finite(Slot slot) const override {
        const Scope scope(math_.device(), stream_);
        const at::Tensor& x = held(slot);
        if (x.scalar_type() == at::kBFloat16) {
            const at::Tensor halves = x.contiguous().view(at::kShort).bitwise_and(kInfinity >> 16U);
            return halves.amax().item<std::int16_t>() < kInfinity >> 16U;
        }
        return x.scalar_type() != at::kFloat || DeviceMath::magnitude(x).amax().item<std::int32_t>() < kInfinity;
    }

    void move_all(std::span<const Slot> from, std::span<const Slot> to) override {
        const Scope scope(math_.device(), stream_);
        std::vector<at::Tensor> moved;
        for (std::size_t i = 0; i < from.size(); ++i) {
            const at::Tensor& x = held(from[i]);
            moved.push_back(is_in_fixed(x) && !x.is_same(slots_[to[i]]) ? x.clone() : x);
        }
        for (std::size_t i = 0; i < to.size(); ++i) {
            put(to[i], std::move(moved[i]));
        }
    }

    void record(const canonical::StepContext& context, const Outline& outline, const std::function<void()>& step)
        override {
        const Scope scope(math_.device(), stream_);
        forget();
        for (const std::span<const Slot> slots : {outline.inputs, outline.state}) {
            for (const Slot slot : slots) {
                fix(slot);
            }
        }
        kernels_->set_clock(context, math_.device());
        if (!not_finite_.defined()) {
            not_finite_ = at::zeros({1}, at::TensorOptions(math_.device()).dtype(at::kInt));
        }
        next_.assign(outline.next.begin(), outline.next.end());
        state_.assign(outline.state.begin(), outline.state.end());
        kept_.assign(outline.kept.begin(), outline.kept.end());
        step_ = StepGraph::make(math_.device());
        step_->record([this, step] {
            not_finite_.zero_();
            step();
            for (const Slot slot : next_) {
                kernels_->find_not_finite(held(slot), not_finite_);
            }
            remember();
        });
        move_ = StepGraph::make(math_.device());
        move_->record([this] {
            recall();
            move_all(next_, state_);
        });
    }

    bool replay(const canonical::StepContext& context) override {
        const Scope scope(math_.device(), stream_);
        kernels_->set_clock(context, math_.device());
        step_->replay();
        recall();
        const bool is_finite = not_finite_.item<std::int32_t>() == 0;
        if (is_finite) {
            move_->replay();
        }
        return is_finite;
    }

    void execute(const Task& task) override {
        const Scope scope(math_.device(), stream_);
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
        put(task.output, std::move(out));
    }

    void draw(const Task& task, const canonical::StepContext& context) override {
        const Scope scope(math_.device(), stream_);
        if (kernels_ == nullptr || task.node.op == Op::kStepCount) {
            return put(task.output, engine::draw(math_, task.node, context).contiguous());
        }
        kernels_->set_clock(context, math_.device());
        put(task.output, kernels_->draw(task.node, math_.device()));
    }

  private:
    // Its constants are made on the stream that reads them.
    static DeviceMath make_math(at::Device device, const std::optional<c10::Stream>& stream) {
        const Scope scope(device, stream);
        return DeviceMath(device);
    }
    static std::unique_ptr<DeviceKernels> make_kernels(at::Device device, KernelChoice choice) {
        const Scope scope(device, std::nullopt);
        return DeviceKernels::make(device, choice);
    }

    void put(Slot slot, at::Tensor tensor) {
        pending_.erase(slot);
        if (!fixed_.contains(slot)) {
            slots_[slot] = std::move(tensor);
        } else if (!tensor.is_same(slots_[slot])) {
            slots_[slot].copy_(tensor);
        }
    }

    // A place of its own: two slots may have had one tensor.
    void fix(Slot slot) {
        if (fixed_.insert(slot).second) {
            slots_[slot] = held(slot).clone();
        }
    }
    // Views of a tensor share its memory.
    bool is_in_fixed(const at::Tensor& x) const {
        return std::any_of(fixed_.begin(), fixed_.end(), [&](Slot slot) {
            return slots_[slot].defined() && slots_[slot].is_alias_of(x);
        });
    }

    // What the last record of a step left, which each replay computes again in the same place.
    void remember() {
        outputs_.clear();
        for (const std::vector<Slot>* slots : {&next_, &kept_}) {
            for (const Slot slot : *slots) {
                outputs_[slot] = held(slot);
            }
        }
    }
    void recall() {
        for (const auto& [slot, tensor] : outputs_) {
            pending_.erase(slot);
            slots_[slot] = tensor;
        }
    }
    void forget() {
        step_.reset();
        move_.reset();
        outputs_.clear();
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
    std::optional<c10::Stream> stream_;
    DeviceMath math_;
    std::unique_ptr<DeviceKernels> kernels_;  // nothing where libtorch's operations do everything
    Contractor contractor_;
    std::map<Slot, DeviceView> views_;  // by output
    bool may_record_;
    std::set<Slot> fixed_;  // slots whose tensors stay where they are
    std::unique_ptr<StepGraph> step_;
    std::unique_ptr<StepGraph> move_;  // the next state to where the state is
    std::vector<Slot> next_;
    std::vector<Slot> state_;
    std::vector<Slot> kept_;
    std::map<Slot, at::Tensor> outputs_;  // of the recorded step
    at::Tensor not_finite_;               // i32 [1]: 1 if something of the next state is not
};

}  // namespace

std::unique_ptr<Backend> make_torch_backend(std::size_t slots, const EngineOptions& options) {
    return std::make_unique<TorchBackend>(slots, options);
}

}  // namespace assay::engine
