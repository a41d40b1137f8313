// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/engine.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include <core/base/assert.hpp>
#include <core/canonical/partial.hpp>
#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/backend/recorder.hpp>
#include <verifier/engine/backend/step_tasks.hpp>
#include <verifier/engine/fused/steps.hpp>
#include <verifier/engine/torch/runtime.hpp>

namespace assay::engine {

using canonical::DType;
using canonical::Graph;
using canonical::Node;
using canonical::Op;
using canonical::StepContext;
using canonical::StepError;
using canonical::Tensor;

namespace {

void require_canonical_environment() {
    if (!canonical::floating_point_is_canonical()) {
        throw std::runtime_error("engine: this thread does not round to nearest, or flushes denormals to zero");
    }
}

constexpr std::uint32_t kRowsShown = canonical::kTileDim;  // at once

constexpr std::size_t kTrimBytes = std::size_t{64} << 20U;

// Sources whose values depend on the seed and the step.
bool is_numbered(Op op) { return op == Op::kUniform || op == Op::kBernoulli || op == Op::kStepCount; }

// Sources that a device cannot compute by itself.
bool is_from_host(Op op) { return op == Op::kBatchRows || op == Op::kStepCount; }

// Whether every value of an i32 tensor is one that a quantisation to `precision` bits may leave.
bool is_within(const Tensor& q, std::uint32_t precision) {
    const std::int32_t limit = quantised_limit(precision);
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
        return make_host_backend(slots, options.threads);
    }
    return make_torch_backend(slots, options);
}

struct Engine::Impl : StepTasks {
    Graph graph;
    std::shared_ptr<const canonical::RowSource> rows;
    EngineOptions options;
    std::set<std::uint32_t> kept;
    std::map<std::uint32_t, float> scalars;
    std::unique_ptr<Backend> backend;
    std::optional<fused::Steps> fast;         ///< on the CPU
    std::unique_ptr<fused::ThreadPool> pool;  ///< where there is no `fast`, which has its own
    std::size_t state_size = 0;  ///< tensors that there are; an initialisation may begin with fewer than it makes
    bool is_state_fast = false;  ///< the state is in `fast`, else in `backend`
    bool has_run_nodes = false;  ///< a whole step from a whole state
    bool is_recorded = false;
    StepContext now{};  ///< of the step that is recorded or repeated

    fused::ThreadPool& threads() {
        if (fast) {
            return fast->pool();
        }
        if (pool == nullptr) {
            pool = std::make_unique<fused::ThreadPool>(options.threads);
        }
        return *pool;
    }
    /// On the CPU the pool's threads call the BLAS themselves.
    void use_threads() const {
        const bool is_torch = options.device != "cpu" || options.portable;
        set_threads(is_torch ? options.threads : 1, is_torch ? options.threads : 1);
    }
    Tensor take_tensor(std::size_t index);
    template <class Take>
    void take_all(Take take);
    void move_state(bool to_fast);
    std::vector<Tensor> load_state() const;
    void store_state(std::span<const Tensor> tensors);
    Tensor load_tensor(std::size_t index) const;
    void store_tensor(std::size_t index, const Tensor& tensor);
    Result<void, StepError> run_fast(const StepContext& context, OutputObserver* observer);
    Result<void, StepError> run_nodes(const StepContext& context, const Tamper& tamper, OutputObserver* observer);
    Result<void, StepError> run_recorded(const StepContext& context);
    bool can_repeat() const;
    void record();
    void keep_scalar(std::uint32_t node);
    void release_outputs();
    void batch(const Task& task, const StepContext& context);
    void execute(const Task& task, const StepContext& context);
    void show(std::uint32_t node, OutputObserver& observer);
    void tamper_with(const Task& task, std::uint64_t step, const Tamper& tamper);
    bool is_task_bounded(const Task& task) const;
};

Tensor Engine::Impl::load_tensor(std::size_t index) const {
    return is_state_fast ? fast->state(index) : backend->load(static_cast<Slot>(tasks.size() + index));
}

void Engine::Impl::store_tensor(std::size_t index, const Tensor& tensor) {
    is_state_fast ? fast->set_state(index, tensor) : backend->store(static_cast<Slot>(tasks.size() + index), tensor);
}

Tensor Engine::Impl::take_tensor(std::size_t index) {
    if (is_state_fast) {
        return fast->take_state(index);
    }
    const auto slot = static_cast<Slot>(tasks.size() + index);
    Tensor tensor = backend->load(slot);
    backend->release(slot);
    return tensor;
}

// One tensor after another, so that the state is not there twice.
template <class Take>
void Engine::Impl::take_all(Take take) {
    std::size_t taken_bytes = 0;
    for (std::size_t i = 0; i < state_size; ++i) {
        Tensor tensor = take_tensor(i);
        taken_bytes += tensor.data.size();
        take(i, std::move(tensor));
        if (taken_bytes > kTrimBytes || i + 1 == state_size) {
            backend->give_back();
            fused::give_back_free_memory();
            taken_bytes = 0;
        }
    }
}

void Engine::Impl::move_state(bool to_fast) {
    if (to_fast == is_state_fast) {
        return;
    }
    if (to_fast) {
        take_all([&](std::size_t i, const Tensor& tensor) { fast->set_state(i, tensor); });
    } else {
        take_all([&](std::size_t i, const Tensor& tensor) {
            backend->store(static_cast<Slot>(tasks.size() + i), tensor);
        });
        fast->release();  // with its arena
    }
    is_state_fast = to_fast;
}

Result<void, StepError> Engine::Impl::run_fast(const StepContext& context, OutputObserver* observer) {
    TRY(fast->run_step(context, observer));
    if (observer != nullptr && observer->is_done()) {
        return {};
    }
    state_size = state.size();
    for (const auto& [node, value] : fast->kept()) {
        std::memcpy(&scalars[node], value.data.data(), sizeof(float));
    }
    return {};
}

void Engine::Impl::batch(const Task& task, const StepContext& context) {
    const Node& node = task.node;
    const std::size_t row_bytes = std::size_t{node.shape.cols} * 4;
    Tensor out = canonical::make_tensor(node.dtype, node.shape);
    for (std::uint32_t r = 0; r < node.shape.rows; ++r) {
        const std::uint64_t position = context.step * node.shape.rows + r;
        const Bytes row = rows->row(canonical::batch_row(context.seed, position, context.dataset.rows));
        ASSERT(row.size() == row_bytes);
        std::memcpy(out.data.data() + r * row_bytes, row.data(), row_bytes);
    }
    backend->store(task.output, out);
}

void Engine::Impl::execute(const Task& task, const StepContext& context) {
    if (task.node.op == Op::kBatchRows) {
        batch(task, context);
    } else if (is_numbered(task.node.op)) {
        backend->draw(task, context);
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
    impl_->use_threads();
    if (impl_->options.device == "cpu" && !impl_->options.portable) {
        impl_->fast.emplace(impl_->graph, impl_->rows, impl_->options);
    }
    check_contractions(impl_->graph, impl_->options);
    static_cast<StepTasks&>(*impl_) = tasks_of(impl_->graph);
    const std::size_t slots = impl_->tasks.size() + std::size_t{canonical::kMaxTensorsBefore};
    impl_->backend = make_backend(slots, impl_->options);
}

Engine::~Engine() {
    if (impl_ != nullptr) {
        impl_.reset();
        fused::give_back_free_memory();
    }
}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::set_state(std::span<const Tensor> state) {
    ASSERT(state.size() <= canonical::kMaxTensorsBefore);
    impl_->state_size = state.size();
    for (std::size_t i = 0; i < state.size(); ++i) {
        impl_->store_tensor(i, state[i]);
    }
}

void Engine::set_state(std::size_t count, const std::function<Tensor(std::size_t)>& tensor) {
    ASSERT(count <= canonical::kMaxTensorsBefore);
    impl_->state_size = count;
    for (std::size_t i = 0; i < count; ++i) {
        impl_->store_tensor(i, tensor(i));
    }
}

Tensor Engine::tensor(std::size_t index) const {
    ASSERT(index < impl_->state_size);
    return impl_->load_tensor(index);
}

std::size_t Engine::state_size() const { return impl_->state_size; }

std::vector<Tensor> Engine::state() const {
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < impl_->state_size; ++i) {
        out.push_back(impl_->load_tensor(i));
    }
    return out;
}

std::vector<Tensor> Engine::take_state() {
    std::vector<Tensor> out;
    impl_->take_all([&](std::size_t, Tensor tensor) { out.push_back(std::move(tensor)); });
    impl_->state_size = 0;
    return out;
}

Result<void, StepError> Engine::run_step(const StepContext& context, const Tamper& tamper, OutputObserver* observer) {
    require_canonical_environment();
    if (!tamper && impl_->fast && impl_->fast->prepare(context.step, impl_->state_size, observer != nullptr)) {
        impl_->move_state(true);
        impl_->use_threads();
        return impl_->run_fast(context, observer);
    }
    impl_->move_state(false);
    impl_->use_threads();
    if (!tamper && observer == nullptr && impl_->can_repeat()) {
        return impl_->run_recorded(context);
    }
    return impl_->run_nodes(context, tamper, observer);
}

void Engine::Impl::show(std::uint32_t node, OutputObserver& observer) {
    const Tensor output = backend->load(node);
    const std::size_t row_bytes = std::size_t{output.shape.cols} * canonical::size_of(output.dtype);
    const std::size_t parts = (std::size_t{output.shape.rows} + kRowsShown - 1) / kRowsShown;
    threads().run(parts, [&](std::size_t part, std::size_t) {
        const auto first = static_cast<std::uint32_t>(part) * kRowsShown;
        observer.see({
            .node = node,
            .first = first,
            .count = std::min(kRowsShown, output.shape.rows - first),
            .data = reinterpret_cast<const std::byte*>(output.data.data() + first * row_bytes),
        });
    });
}

Result<void, StepError> Engine::Impl::run_nodes(
    const StepContext& context, const Tamper& tamper, OutputObserver* observer
) {
    bool is_stopped = false;
    for (std::uint32_t i = 0; i < tasks.size() && !is_stopped; ++i) {
        if (tamper && tasks[i].node.op == Op::kContract) {
            Task checked = tasks[i];
            checked.is_bounded = is_task_bounded(checked);
            execute(checked, context);
        } else {
            execute(tasks[i], context);
        }
        if (tamper) {
            tamper_with(tasks[i], context.step, tamper);
        }
        if (observer != nullptr) {
            show(i, *observer);
            is_stopped = observer->is_done();
        }
        if (kept.contains(i)) {
            keep_scalar(i);
        }
        for (const Slot slot : expired[i]) {
            backend->release(slot);
        }
    }
    const bool is_finite =
        !is_stopped && std::all_of(next.begin(), next.end(), [&](Slot slot) { return backend->is_finite(slot); });
    if (is_finite) {
        has_run_nodes = state_size == state.size();
        backend->move_all(next, state);
        state_size = state.size();
    }
    release_outputs();
    if (!is_finite && !is_stopped) {
        return Unexpected{StepError::kDiverged};
    }
    return {};
}

void Engine::Impl::keep_scalar(std::uint32_t node) {
    const Tensor value = backend->load(node);
    std::memcpy(&scalars[node], value.data.data(), sizeof(float));
}

void Engine::Impl::release_outputs() {
    for (Slot slot = 0; slot < tasks.size(); ++slot) {
        backend->release(slot);
    }
}

// The first step of an engine finds out what a record takes for granted, and many engines execute no second one.
bool Engine::Impl::can_repeat() const {
    return backend->recorder() != nullptr && has_run_nodes && state_size == state.size();
}

void Engine::Impl::record() {
    std::vector<Slot> inputs;
    for (const Task& task : tasks) {
        if (is_from_host(task.node.op)) {
            inputs.push_back(task.output);
        }
    }
    const std::vector<Slot> outputs(kept.begin(), kept.end());
    backend->recorder()->record(now, {.inputs = inputs, .state = state, .next = next, .kept = outputs}, [this] {
        for (std::uint32_t i = 0; i < tasks.size(); ++i) {
            if (!is_from_host(tasks[i].node.op)) {
                execute(tasks[i], now);
            }
            for (const Slot slot : expired[i]) {
                if (!kept.contains(slot)) {
                    backend->release(slot);
                }
            }
        }
    });
    is_recorded = true;
}

Result<void, StepError> Engine::Impl::run_recorded(const StepContext& context) {
    now = context;
    for (const Task& task : tasks) {
        if (is_from_host(task.node.op)) {
            execute(task, context);
        }
    }
    if (!is_recorded) {
        record();
    }
    const bool is_finite = backend->recorder()->replay(context);
    for (const std::uint32_t node : kept) {
        keep_scalar(node);
    }
    release_outputs();
    if (!is_finite) {
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
    ASSERT(!impl_->fast || !impl_->fast->is_prepared());
    impl_->kept.insert(node);
    impl_->is_recorded = false;
    if (impl_->fast) {
        impl_->fast->keep(node);
    }
}

void Engine::start_profile() {
    if (impl_->fast) {
        impl_->fast->start_profile();
    }
}

StepProfile Engine::profile() const {
    StepProfile out;
    if (!impl_->fast) {
        return out;
    }
    const fused::Executor::Profile seconds = impl_->fast->profile();
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        switch (static_cast<Op>(i)) {
            case Op::kContract:
                out.products += seconds[i];
                break;
            case Op::kRowExponent:
            case Op::kQuantise:
                out.quantisation += seconds[i];
                break;
            case Op::kBatchRows:
            case Op::kView:
            case Op::kGatherRows:
            case Op::kScatterAddRows:
                out.movement += seconds[i];
                break;
            default:
                out.elementwise += seconds[i];
                break;
        }
    }
    return out;
}

std::string Engine::description() const {
    const int threads = impl_->options.threads;
    return "libtorch " + torch_version() + " " + impl_->options.device + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
}

}  // namespace assay::engine
