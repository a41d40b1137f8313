// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/native/native_engine.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>

#include <core/base/assert.hpp>
#include <verifier/engine/native/lowering.hpp>
#include <verifier/engine/native/native_ops.hpp>
#include <verifier/engine/torch/runtime.hpp>
#include <verifier/engine/torch/tensor.hpp>

namespace assay::engine {

using canonical::DType;
using canonical::Graph;
using canonical::Node;
using canonical::Op;
using canonical::Source;
using canonical::StepContext;
using canonical::StepError;
using canonical::Tensor;

namespace {

// Whether products may use TensorFloat-32, for one step: it is a setting of the whole process.
class PrecisionGuard {
  public:
    explicit PrecisionGuard(bool allow_tf32)
        : before_(at::globalContext().allowTF32CuBLAS()), is_other_(allow_tf32 != before_) {
        if (is_other_) {
            at::globalContext().setAllowTF32CuBLAS(allow_tf32);
        }
    }
    ~PrecisionGuard() {
        if (is_other_) {
            at::globalContext().setAllowTF32CuBLAS(before_);
        }
    }
    PrecisionGuard(const PrecisionGuard&) = delete;
    PrecisionGuard& operator=(const PrecisionGuard&) = delete;

  private:
    bool before_;
    bool is_other_;
};

}  // namespace

struct NativeEngine::Impl {
    Impl(Graph of, std::shared_ptr<const canonical::RowSource> from, NativeOptions how)
        : graph(std::move(of)), rows(std::move(from)), options(std::move(how)), operations(graph, options) {}

    Graph graph;
    std::shared_ptr<const canonical::RowSource> rows;
    NativeOptions options;
    native::Operations operations;
    std::set<std::uint32_t> kept;
    std::vector<native::Instruction> program;
    std::vector<std::vector<std::uint32_t>> expired;  // outputs that nobody reads after this instruction
    std::vector<at::Tensor> state;
    std::vector<at::Tensor> outputs;  // of nodes, while they are needed
    std::map<std::uint32_t, at::Tensor> scalars;

    void plan();
    at::Tensor batch(const Node& node, const StepContext& context) const;
    const at::Tensor& value(const canonical::Input& input) const {
        const at::Tensor& found = input.source == Source::kNode ? outputs[input.index] : state[input.index];
        ASSERT(found.defined());
        return found;
    }
    void execute(const native::Instruction& instruction, const StepContext& context);
};

void NativeEngine::Impl::plan() {
    program = native::lower(graph, std::vector<std::uint32_t>(kept.begin(), kept.end()));
    std::map<std::uint32_t, std::size_t> last;
    for (std::size_t i = 0; i < program.size(); ++i) {
        last[program[i].node] = i;
        for (const canonical::Input& input : program[i].inputs) {
            if (input.source == Source::kNode) {
                last[input.index] = i;
            }
        }
    }
    for (const canonical::Input& input : graph.back().inputs) {
        if (input.source == Source::kNode) {
            last.erase(input.index);
        }
    }
    expired.resize(program.size());
    for (const auto& [node, at] : last) {
        expired[at].push_back(node);
    }
    outputs.resize(graph.size() - 1);
}

// NUM-33
at::Tensor NativeEngine::Impl::batch(const Node& node, const StepContext& context) const {
    Tensor out = canonical::make_tensor(DType::kI32, node.shape);
    const std::size_t row_bytes = std::size_t{node.shape.cols} * 4;
    for (std::uint64_t r = 0; r < node.shape.rows; ++r) {
        const std::uint64_t position = context.step * node.shape.rows + r;
        const Bytes row = rows->row(canonical::batch_row(context.seed, position, context.dataset.rows));
        ASSERT(row.size() == row_bytes);
        std::memcpy(out.data.data() + r * row_bytes, row.data(), row_bytes);
    }
    return to_device(out, operations.device());
}

void NativeEngine::Impl::execute(const native::Instruction& instruction, const StepContext& context) {
    const Node& node = graph[instruction.node];
    if (node.op == Op::kBatchRows) {
        outputs[instruction.node] = batch(node, context);
        return;
    }
    std::vector<at::Tensor> inputs;
    for (const canonical::Input& input : instruction.inputs) {
        inputs.push_back(value(input));
    }
    outputs[instruction.node] = operations.run(instruction, inputs, context);
    ASSERT(outputs[instruction.node].sizes() == sizes_of(node.shape));
}

NativeEngine::NativeEngine(Graph graph, std::shared_ptr<const canonical::RowSource> rows, NativeOptions options) {
    const c10::InferenceMode no_autograd;
    ASSERT(!graph.empty() && graph.back().op == Op::kCommit);
    impl_ = std::make_unique<Impl>(std::move(graph), std::move(rows), std::move(options));
}

NativeEngine::~NativeEngine() = default;
NativeEngine::NativeEngine(NativeEngine&&) noexcept = default;
NativeEngine& NativeEngine::operator=(NativeEngine&&) noexcept = default;

void NativeEngine::set_state(std::span<const Tensor> state) {
    const c10::InferenceMode no_autograd;
    impl_->state.clear();
    for (const Tensor& tensor : state) {
        impl_->state.push_back(to_device(tensor, impl_->operations.device()));
    }
}

std::vector<Tensor> NativeEngine::state() const {
    const c10::InferenceMode no_autograd;
    std::vector<Tensor> out;
    for (const at::Tensor& tensor : impl_->state) {
        out.push_back(to_host(tensor));
    }
    return out;
}

Result<void, StepError> NativeEngine::run_step(const StepContext& context) {
    const c10::InferenceMode no_autograd;
    Impl& impl = *impl_;
    set_threads(impl.options.threads, impl.options.threads);
    const PrecisionGuard precision(impl.options.allow_tf32);
    if (impl.program.empty()) {
        impl.plan();
    }
    for (std::size_t i = 0; i < impl.program.size(); ++i) {
        impl.execute(impl.program[i], context);
        const std::uint32_t node = impl.program[i].node;
        if (impl.kept.contains(node)) {
            impl.scalars[node] = impl.outputs[node].clone();
        }
        for (const std::uint32_t dead : impl.expired[i]) {
            impl.outputs[dead].reset();
            impl.operations.forget(dead);
        }
    }
    std::vector<at::Tensor> next;
    at::Tensor is_finite = at::ones({}, at::TensorOptions(impl.operations.device()).dtype(at::kBool));
    for (const canonical::Input& input : impl.graph.back().inputs) {
        next.push_back(impl.value(input).contiguous());
        if (input.dtype == DType::kF32 || input.dtype == DType::kBf16) {
            is_finite = is_finite.logical_and(at::isfinite(next.back()).all());
        }
    }
    std::fill(impl.outputs.begin(), impl.outputs.end(), at::Tensor{});
    if (!is_finite.item<bool>()) {
        return Unexpected{StepError::kDiverged};
    }
    impl.state = std::move(next);
    return {};
}

float NativeEngine::scalar(std::uint32_t node) const {
    const auto found = impl_->scalars.find(node);
    ASSERT(found != impl_->scalars.end());
    return found->second.flatten()[0].item<float>();
}

void NativeEngine::keep(std::uint32_t node) {
    ASSERT(node + 1 < impl_->graph.size() && impl_->graph[node].dtype == DType::kF32 && impl_->program.empty());
    impl_->kept.insert(node);
}

std::string NativeEngine::description() const {
    const int threads = impl_->options.threads;
    return "libtorch " + torch_version() + " " + impl_->options.device + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads") + ", native";
}

}  // namespace assay::engine
