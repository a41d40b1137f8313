// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include <core/base/assert.hpp>
#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/fused/product.hpp>
#include <verifier/engine/fused/row_kernels.hpp>
#include <verifier/engine/fused/row_op.hpp>
#include <verifier/engine/fused/thread_pool.hpp>

namespace assay::engine {
namespace {

using canonical::DType;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;

struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{fused::kTensorAlignment}); }
};

// Memory that outlives a tensor: a step allocates the same sizes again and again, and fresh pages cost more than the
// arithmetic of a small model. What a large one frees is given back, since other sizes are needed next.
class Pool {
  public:
    using Block = std::unique_ptr<std::byte, Free>;

    void clear() {
        free_.clear();
        free_bytes_ = 0;
    }

    std::shared_ptr<std::byte> take(std::size_t size) {
        Block block;
        if (std::vector<Block>& list = free_[size]; !list.empty()) {
            block = std::move(list.back());
            list.pop_back();
            free_bytes_ -= size;
        } else {
            block.reset(static_cast<std::byte*>(
                ::operator new (std::max<std::size_t>(size, 1), std::align_val_t{fused::kTensorAlignment})
            ));
        }
        return {block.release(), [this, size](std::byte* memory) { give(Block(memory), size); }};
    }

  private:
    static constexpr std::size_t kFreeBytesMax = std::size_t{256} << 20U;

    void give(Block block, std::size_t size) {
        if (free_bytes_ + size <= kFreeBytesMax) {
            free_[size].push_back(std::move(block));
            free_bytes_ += size;
        }
    }

    std::map<std::size_t, std::vector<Block>> free_;
    std::size_t free_bytes_ = 0;
};

struct HostTensor {
    DType dtype = DType::kF32;
    Shape shape;
    std::shared_ptr<std::byte> memory;

    std::size_t size_bytes() const { return shape.element_count() * canonical::size_of(dtype); }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(memory.get());
    }
};

struct HostBackendNoRows final : canonical::RowSource {
    canonical::DatasetShape shape() const override { return {}; }
    Bytes row(std::uint64_t) const override { return {}; }
};

class HostBackend final : public Backend {
  public:
    HostBackend(std::size_t slots, int threads) : threads_(threads), slots_(slots) {}

    void store(Slot slot, const Tensor& tensor) override {
        slots_[slot] = make(tensor.dtype, tensor.shape);
        ASSERT(tensor.data.size() == slots_[slot].size_bytes());
        std::memcpy(slots_[slot].memory.get(), tensor.data.data(), tensor.data.size());
    }

    Tensor load(Slot slot) const override {
        const HostTensor& from = held(slot);
        Tensor out = canonical::make_tensor(from.dtype, from.shape);
        std::memcpy(out.data.data(), from.memory.get(), out.data.size());
        return out;
    }

    void release(Slot slot) override { slots_[slot].memory.reset(); }
    void give_back() override { pool_.clear(); }

    bool is_finite(Slot slot) const override {
        const std::size_t count = held(slot).shape.element_count();
        switch (held(slot).dtype) {
            case DType::kF32:
                return fused::all_finite(count, held(slot).as<float>());
            case DType::kBf16:
                return fused::all_finite(count, held(slot).as<std::uint16_t>());
            default:
                return true;
        }
    }

    void move_all(std::span<const Slot> from, std::span<const Slot> to) override {
        std::vector<HostTensor> moved;
        for (const Slot slot : from) {
            moved.push_back(held(slot));
        }
        for (std::size_t i = 0; i < to.size(); ++i) {
            slots_[to[i]] = std::move(moved[i]);
        }
    }

    void execute(const Task& task) override {
        HostTensor out = make(task.node.dtype, task.node.shape);
        if (task.node.op == Op::kContract) {
            contract(task, out);
        } else if (task.node.op == Op::kScatterAddRows) {
            scatter(task, out);
        } else {
            work_by_rows(task, out);
        }
        slots_[task.output] = std::move(out);
    }

    void accumulate(const Task& task) override {
        const auto node = task.is_bounded ? fused::accumulating(task.node) : std::nullopt;
        if (!node) {
            return Backend::accumulate(task);
        }
        HostTensor out = make(DType::kI64, task.node.shape);
        std::memset(out.memory.get(), 0, out.size_bytes());
        const fused::Format format = fused::product_format(*node);
        const auto a = converted(input(task, 0), format);
        const auto b = converted(input(task, 2), format);
        fused::accumulate_product(*node, a.get(), b.get(), out.as<std::int64_t>(), threads_);
        slots_[task.output] = std::move(out);
    }

    void draw(const Task& task, const canonical::StepContext& context) override {
        store(task.output, canonical::execute_node(task.node, context, HostBackendNoRows{}, {}));
    }

  private:
    const HostTensor& held(Slot slot) const {
        ASSERT(slots_[slot].memory != nullptr);
        return slots_[slot];
    }
    const HostTensor& input(const Task& task, std::size_t i) const { return held(task.inputs[i]); }
    HostTensor make(DType dtype, Shape shape) {
        return {dtype, shape, pool_.take(shape.element_count() * canonical::size_of(dtype))};
    }

    void work_by_rows(const Task& task, HostTensor& out) {
        const canonical::StepContext no_context;  // sources that ask for one are the engine's
        std::optional<fused::ViewRows> view;
        if (task.node.view) {
            view.emplace(*task.node.view);
        }
        fused::RowCall call{
            .node = task.node,
            .reads = task.node,
            .context = no_context,
            .extent = {task.node.shape.rows, task.node.shape.cols, 0},
            .view = view ? &*view : nullptr,
        };
        for (std::size_t i = 0; i < task.inputs.size(); ++i) {
            call.inputs[i] = input(task, i).memory.get();
        }
        call.output = out.memory.get();
        fused::run_row_op(call);
    }

    void scatter(const Task& task, HostTensor& out) {
        std::memset(out.memory.get(), 0, out.size_bytes());
        fused::scatter_add_rows(
            input(task, 0).as<std::int32_t>(), input(task, 1).as<std::int32_t>(), input(task, 1).shape.element_count(),
            out.shape, 0, out.shape.cols, out.as<std::int64_t>()
        );
    }

    template <class T>
    std::shared_ptr<std::byte> converted(const HostTensor& q) {
        auto memory = pool_.take(q.shape.element_count() * sizeof(T));
        const auto* from = q.as<std::int32_t>();
        std::transform(from, from + q.shape.element_count(), reinterpret_cast<T*>(memory.get()), [](std::int32_t x) {
            return static_cast<T>(x);
        });
        return memory;
    }

    std::shared_ptr<std::byte> converted(const HostTensor& q, fused::Format format) {
        return format == fused::Format::kShort ? converted<std::int16_t>(q) : converted<float>(q);
    }

    // Operands that nothing bounds are summed by the definition: no sum of theirs need be exact in doubles.
    void contract(const Task& task, HostTensor& out) {
        const fused::Format format = fused::product_format(task.node);
        if (!task.is_bounded || format == fused::Format::kWords) {
            return define(task, out);
        }
        const auto a = converted(input(task, 0), format);
        const auto b = converted(input(task, 2), format);
        const fused::ProductOperands operands{
            .a = a.get(),
            .exponent_a = input(task, 1).as<std::int32_t>(),
            .b = b.get(),
            .exponent_b = input(task, 3).as<std::int32_t>(),
            .out = out.as<float>(),
        };
        fused::run_product(task.node, operands, threads_);
    }

    void define(const Task& task, HostTensor& out) {
        std::vector<Tensor> tensors;
        tensors.reserve(task.inputs.size());
        for (const Slot slot : task.inputs) {
            tensors.push_back(load(slot));
        }
        std::vector<const Tensor*> inputs;
        inputs.reserve(tensors.size());
        for (const Tensor& tensor : tensors) {
            inputs.push_back(&tensor);
        }
        const Tensor result = canonical::execute_node(task.node, {}, HostBackendNoRows{}, inputs);
        std::memcpy(out.memory.get(), result.data.data(), result.data.size());
    }

    fused::ThreadPool threads_;
    Pool pool_;  // before the slots, whose memory returns to it
    std::vector<HostTensor> slots_;
};

}  // namespace

void Backend::accumulate(const Task& task) {
    const Tensor a = load(task.inputs[0]);
    const Tensor b = load(task.inputs[2]);
    Tensor out = canonical::make_tensor(DType::kI64, task.node.shape);
    const std::size_t groups = canonical::group_count(task.node);
    const std::size_t rows = task.node.shape.rows / groups;
    const std::size_t cols = task.node.shape.cols;
    const std::size_t depth = a.shape.cols;
    const auto* left = reinterpret_cast<const std::int32_t*>(a.data.data());
    const auto* right = reinterpret_cast<const std::int32_t*>(b.data.data());
    auto* to = reinterpret_cast<std::uint64_t*>(out.data.data());
    for (std::size_t i = 0; i < rows * groups; ++i) {
        for (std::size_t j = 0; j < cols; ++j) {
            const std::int32_t* x = left + i * depth;
            const std::int32_t* y = right + (i / rows * cols + j) * depth;
            std::uint64_t sum = 0;
            for (std::size_t k = 0; k < depth; ++k) {
                sum += static_cast<std::uint64_t>(std::int64_t{x[k]} * y[k]);
            }
            to[i * cols + j] = sum;
        }
    }
    store(task.output, out);
}

std::unique_ptr<Backend> make_host_backend(std::size_t slots, int threads) {
    return std::make_unique<HostBackend>(slots, threads);
}

}  // namespace assay::engine
