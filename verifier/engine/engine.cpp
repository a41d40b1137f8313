// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/engine.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>

#include <core/base/assert.hpp>
#include <verifier/canonical/partial.hpp>
#include <verifier/engine/backend.hpp>
#include <verifier/engine/torch_runtime.hpp>

namespace assay::engine {

using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;
using canonical::StepContext;
using canonical::StepError;
using canonical::Tensor;

namespace {

void require_canonical_environment() {
    if (!canonical::floating_point_is_canonical()) {
        throw std::runtime_error("engine: this thread does not round to nearest, or flushes denormals to zero");
    }
}

bool is_quantised_to(const Graph& graph, const Input& input, std::uint32_t precision) {
    return input.source == Source::kNode && graph[input.index].op == Op::kQuantise &&
           graph[input.index].attributes[0] <= precision;
}

// Whether every value of an i32 tensor is within +-2^precision.
bool is_within(const Tensor& q, std::uint32_t precision) {
    const std::int64_t limit = std::int64_t{1} << precision;
    for (std::size_t at = 0; at < q.data.size(); at += sizeof(std::int32_t)) {
        std::int32_t x = 0;
        std::memcpy(&x, q.data.data() + at, sizeof x);
        if (x > limit || x < -limit) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool fits_double(const Node& contract, std::uint32_t bits) {
    const auto [precision, chunk] = contract.attributes;
    const std::uint32_t depth = std::min(chunk, contract.inputs[0].shape.cols);
    return precision + bits + static_cast<std::uint32_t>(std::bit_width(depth - 1)) <= 53;
}

std::unique_ptr<Backend> make_backend(std::size_t slots, const EngineOptions& options) {
    if (options.device == "cpu" && !options.portable) {
        return make_host_backend(slots);
    }
    return make_torch_backend(slots, options.device);
}

struct Engine::Impl {
    Graph graph;
    std::shared_ptr<const canonical::RowSource> rows;
    EngineOptions options;
    std::vector<Task> tasks;                 // one per node, kCommit excepted
    std::vector<std::vector<Slot>> expired;  // node outputs that nobody reads after this node
    std::vector<Slot> next;                  // where the next state comes from
    std::vector<Slot> state;
    std::set<std::uint32_t> kept;
    std::map<std::uint32_t, float> scalars;
    std::unique_ptr<Backend> backend;

    Slot slot_of(const Input& input) const {
        return input.source == Source::kNode ? input.index
                                             : static_cast<Slot>(graph.size() - 1) + input.index;
    }

    void plan();
    void batch(const Task& task, const StepContext& context);
    void execute(const Task& task, const StepContext& context);
    void tamper_with(const Task& task, std::uint64_t step, const Tamper& tamper);
    bool is_task_bounded(const Task& task) const;
};

void Engine::Impl::plan() {
    const std::size_t count = graph.size() - 1;
    std::vector<std::size_t> last_use(count);
    for (std::size_t i = 0; i < count; ++i) {
        Task task{.node = graph[i], .inputs = {}, .output = static_cast<Slot>(i)};
        last_use[i] = i;
        for (const Input& input : graph[i].inputs) {
            task.inputs.push_back(slot_of(input));
            if (input.source == Source::kNode) {
                last_use[input.index] = i;
            }
        }
        if (task.node.op == Op::kContract) {
            const std::uint32_t precision = task.node.attributes[0];
            task.is_bounded = is_quantised_to(graph, task.node.inputs[0], precision) &&
                              is_quantised_to(graph, task.node.inputs[2], precision);
        }
        tasks.push_back(std::move(task));
    }
    for (std::size_t i = 0; i < graph.back().inputs.size(); ++i) {
        const Input& input = graph.back().inputs[i];
        next.push_back(slot_of(input));
        state.push_back(static_cast<Slot>(count + i));
        if (input.source == Source::kNode) {
            last_use[input.index] = count;
        }
    }
    expired.resize(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
        expired[last_use[i]].push_back(static_cast<Slot>(i));
    }
}

void Engine::Impl::batch(const Task& task, const StepContext& context) {
    const Node& node = task.node;
    const std::size_t row_bytes = std::size_t{node.shape.cols} * 4;
    Tensor out = canonical::make_tensor(node.dtype, node.shape);
    for (std::uint32_t r = 0; r < node.shape.rows; ++r) {
        const std::uint64_t tile = std::uint64_t{r / canonical::kTileDim} * canonical::tile_cols(node.shape);
        const auto index = canonical::dataset_row_of(node, tile, r % canonical::kTileDim, context);
        ASSERT(index.has_value());
        const ByteView row = rows->row(*index);
        ASSERT(row.size() == row_bytes);
        std::memcpy(out.data.data() + r * row_bytes, row.data(), row_bytes);
    }
    backend->store(task.output, out);
}

void Engine::Impl::execute(const Task& task, const StepContext& context) {
    if (task.node.op == Op::kBatchRows) {
        batch(task, context);
    } else if (task.node.op == Op::kUniform) {
        backend->store(task.output, canonical::execute_node(task.node, context, *rows, {}));  // initialisation only
    } else {
        backend->execute(task);
    }
}

bool Engine::Impl::is_task_bounded(const Task& task) const {
    const std::uint32_t precision = task.node.attributes[0];
    return task.is_bounded && is_within(backend->load(task.inputs[0]), precision) &&
           is_within(backend->load(task.inputs[2]), precision);
}

void Engine::Impl::tamper_with(const Task& task, std::uint64_t step, const Tamper& tamper) {
    const Tensor honest = backend->load(task.output);
    Tensor output = honest;
    tamper(step, task.output, output);
    if (output != honest) {
        ASSERT(output.dtype == honest.dtype && output.shape == honest.shape);
        backend->store(task.output, output);
    }
}

Engine::Engine(Graph graph, std::shared_ptr<const canonical::RowSource> rows, EngineOptions options)
    : impl_(std::make_unique<Impl>()) {
    ASSERT(!graph.empty() && graph.back().op == Op::kCommit);
    require_canonical_environment();
    impl_->graph = std::move(graph);
    impl_->rows = std::move(rows);
    impl_->options = std::move(options);
    set_threads(impl_->options.threads);
    check_contractions(impl_->graph, impl_->options);
    impl_->plan();
    const std::size_t slots = impl_->tasks.size() + std::size_t{canonical::kMaxStateTensors};
    impl_->backend = make_backend(slots, impl_->options);
}

Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::set_state(std::span<const Tensor> state) {
    ASSERT(state.size() <= canonical::kMaxStateTensors);
    for (std::size_t i = 0; i < state.size(); ++i) {
        impl_->backend->store(static_cast<Slot>(impl_->tasks.size() + i), state[i]);
    }
}

std::vector<Tensor> Engine::state() const {
    std::vector<Tensor> out;
    out.reserve(impl_->state.size());
    for (const Slot slot : impl_->state) {
        out.push_back(impl_->backend->load(slot));
    }
    return out;
}

Result<void, StepError> Engine::run_step(
    const StepContext& context, const Tamper& tamper, const canonical::NodeObserver& observe
) {
    require_canonical_environment();
    Impl& impl = *impl_;
    bool is_stopped = false;
    for (std::uint32_t i = 0; i < impl.tasks.size() && !is_stopped; ++i) {
        if (tamper && impl.tasks[i].node.op == Op::kContract) {
            Task checked = impl.tasks[i];
            checked.is_bounded = impl.is_task_bounded(checked);
            impl.execute(checked, context);
        } else {
            impl.execute(impl.tasks[i], context);
        }
        if (tamper) {
            impl.tamper_with(impl.tasks[i], context.step, tamper);
        }
        is_stopped = observe && !observe(i, impl.backend->load(i));
        if (impl.kept.contains(i)) {
            const Tensor value = impl.backend->load(i);
            std::memcpy(&impl.scalars[i], value.data.data(), sizeof(float));
        }
        for (const Slot slot : impl.expired[i]) {
            impl.backend->release(slot);
        }
    }
    const bool is_finite = !is_stopped && std::all_of(impl.next.begin(), impl.next.end(), [&](Slot slot) {
        return impl.backend->is_finite(slot);
    });
    if (is_finite) {
        impl.backend->move_all(impl.next, impl.state);
    }
    for (Slot slot = 0; slot < impl.tasks.size(); ++slot) {
        impl.backend->release(slot);
    }
    if (!is_finite && !is_stopped) {
        return Unexpected{StepError::kDiverged};
    }
    return {};
}

float Engine::scalar(std::uint32_t node) const {
    const auto found = impl_->scalars.find(node);
    ASSERT(found != impl_->scalars.end());
    return found->second;
}

void Engine::keep(std::uint32_t node) {
    ASSERT(node < impl_->tasks.size() && impl_->graph[node].dtype == DType::kF32);
    impl_->kept.insert(node);
}

std::string Engine::description() const {
    const int threads = impl_->options.threads;
    return "libtorch " + torch_version() + " " + impl_->options.device + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
}

}  // namespace assay::engine
