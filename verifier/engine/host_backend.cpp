// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include <core/base/assert.hpp>
#include <verifier/engine/backend.hpp>
#include <verifier/engine/host_kernels.hpp>
#include <verifier/engine/torch_runtime.hpp>

namespace assay::engine {
namespace {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;

constexpr std::align_val_t kAlignment{64};

struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
};

// Memory that outlives a tensor: a step allocates the same sizes again and again, and fresh pages cost more than the
// arithmetic of a small model.
class Pool {
  public:
    using Block = std::unique_ptr<std::byte, Free>;

    std::shared_ptr<std::byte> take(std::size_t size) {
        Block block;
        if (std::vector<Block>& list = free_[size]; !list.empty()) {
            block = std::move(list.back());
            list.pop_back();
        } else {
            block.reset(static_cast<std::byte*>(::operator new(std::max<std::size_t>(size, 1), kAlignment)));
        }
        return {block.release(), [this, size](std::byte* memory) { free_[size].emplace_back(memory); }};
    }

  private:
    std::map<std::size_t, std::vector<Block>> free_;
};

struct HostTensor {
    DType dtype = DType::kF32;
    Shape shape;
    std::shared_ptr<std::byte> memory;

    std::size_t size_bytes() const { return shape.element_count() * canonical::size_of(dtype); }
    template <class T>
    In<T> in() const {
        return {reinterpret_cast<const T*>(memory.get()), shape};
    }
    template <class T>
    View<T> out() const {
        return {reinterpret_cast<T*>(memory.get()), shape};
    }
};

float as_f32(std::uint32_t bits) { return std::bit_cast<float>(bits); }

class HostBackend final : public Backend {
  public:
    explicit HostBackend(std::size_t slots) : slots_(slots) {}

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

    bool is_finite(Slot slot) const override {
        return held(slot).dtype != DType::kF32 || engine::is_finite(held(slot).in<float>());
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
        const Node& node = task.node;
        HostTensor out = make(node.dtype, node.shape);
        switch (node.op) {
            case Op::kFill:
            case Op::kTranspose:
            case Op::kSliceCols:
            case Op::kGatherRows:
            case Op::kScatterAddRows:
            case Op::kOneHot:
                move_data(task, out);
                break;
            case Op::kRowMax:
            case Op::kRowExponent:
            case Op::kRowSum:
                reduce(task, out);
                break;
            case Op::kQuantise:
            case Op::kDequantise:
                convert(task, out);
                break;
            case Op::kContract:
                contract(task, out);
                break;
            default:
                compute(task, out);
                break;
        }
        slots_[task.output] = std::move(out);
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

    void compute(const Task& task, HostTensor& out) {
        if (task.inputs.size() == 2) {
            binary(task.node.op, input(task, 0).in<float>(), input(task, 1).in<float>(), out.out<float>());
        } else {
            unary(task.node.op, input(task, 0).in<float>(), as_f32(task.node.attributes[0]), out.out<float>());
        }
    }

    void move_data(const Task& task, HostTensor& out) {
        const bool is_wide = out.dtype == DType::kI64;
        switch (task.node.op) {
            case Op::kFill:
                return fill(task.node.attributes[0], out.out<float>());
            case Op::kTranspose:
                return is_wide ? transpose(input(task, 0).in<std::uint64_t>(), out.out<std::uint64_t>())
                               : transpose(input(task, 0).in<std::uint32_t>(), out.out<std::uint32_t>());
            case Op::kSliceCols: {
                const std::size_t first = task.node.attributes[0];
                return is_wide ? slice_cols(input(task, 0).in<std::uint64_t>(), first, out.out<std::uint64_t>())
                               : slice_cols(input(task, 0).in<std::uint32_t>(), first, out.out<std::uint32_t>());
            }
            case Op::kGatherRows:
                return gather_rows(input(task, 0).in<float>(), input(task, 1).in<std::int32_t>(), out.out<float>());
            case Op::kScatterAddRows:
                return scatter_add_rows(
                    input(task, 0).in<std::int32_t>(), input(task, 1).in<std::int32_t>(), out.out<std::int64_t>()
                );
            default:
                return one_hot(input(task, 0).in<std::int32_t>(), out.out<float>());
        }
    }

    void reduce(const Task& task, HostTensor& out) {
        const HostTensor& x = input(task, 0);
        if (task.node.op == Op::kRowSum) {
            return row_sum(x.in<std::int32_t>(), out.out<std::int64_t>());
        }
        if (task.node.op == Op::kRowExponent) {
            return row_exponent(x.in<float>(), task.node.attributes[0], out.out<std::int32_t>());
        }
        return x.dtype == DType::kF32 ? row_max(x.in<float>(), out.out<float>())
                                      : row_max(x.in<std::int32_t>(), out.out<std::int32_t>());
    }

    void convert(const Task& task, HostTensor& out) {
        const HostTensor& x = input(task, 0);
        const I32 exponent = input(task, 1).in<std::int32_t>();
        const auto [precision, chunk] = task.node.attributes;
        if (task.node.op == Op::kDequantise) {
            return dequantise(x.in<std::int64_t>(), exponent, precision, out.out<float>());
        }
        quantise(
            x.in<float>(), exponent, precision, exponent.cols() == 1 ? x.shape.cols : chunk, out.out<std::int32_t>()
        );
    }

    std::shared_ptr<std::byte> widened(const HostTensor& q) {
        auto memory = pool_.take(q.shape.element_count() * sizeof(double));
        to_double(q.in<std::int32_t>(), reinterpret_cast<double*>(memory.get()));
        return memory;
    }

    void contract(const Task& task, HostTensor& out) {
        const auto [precision, chunk_cols] = task.node.attributes;
        const I32 qa = input(task, 0).in<std::int32_t>();
        const I32 ea = input(task, 1).in<std::int32_t>();
        const I32 qb = input(task, 2).in<std::int32_t>();
        const I32 eb = input(task, 3).in<std::int32_t>();
        const bool in_doubles = task.is_bounded && fits_double(task.node, precision);
        const auto exact = pool_.take(out.shape.element_count() * sizeof(double));
        const auto sums = pool_.take(out.shape.element_count() * sizeof(double));
        const View<double> total{reinterpret_cast<double*>(sums.get()), out.shape};
        std::shared_ptr<std::byte> wide_a;
        std::shared_ptr<std::byte> wide_b;
        if (in_doubles) {
            wide_a = widened(input(task, 0));
            wide_b = widened(input(task, 2));
        }
        for (Chunk chunk; chunk.first < qa.cols(); chunk.first += chunk_cols, ++chunk.index) {
            chunk.count = std::min<std::size_t>(chunk_cols, qa.cols() - chunk.first);
            if (!in_doubles) {
                auto* product = reinterpret_cast<std::int64_t*>(exact.get());
                multiply_exact(qa, qb, chunk, product);
                add_chunk(product, ea, eb, chunk, precision, total);
                continue;
            }
            auto* product = reinterpret_cast<double*>(exact.get());
            const auto stride = static_cast<std::int64_t>(qa.cols());
            multiply_nt(Product{
                .a = reinterpret_cast<const double*>(wide_a.get()) + chunk.first,
                .b = reinterpret_cast<const double*>(wide_b.get()) + chunk.first,
                .out = product,
                .m = static_cast<std::int64_t>(qa.rows()),
                .n = static_cast<std::int64_t>(qb.rows()),
                .k = static_cast<std::int64_t>(chunk.count),
                .a_stride = stride,
                .b_stride = stride,
            });
            add_chunk(product, ea, eb, chunk, precision, total);
        }
        round_sums({total.data, total.shape}, out.out<float>());
    }

    Pool pool_;  // before the slots, whose memory returns to it
    std::vector<HostTensor> slots_;
};

}  // namespace

std::unique_ptr<Backend> make_host_backend(std::size_t slots) { return std::make_unique<HostBackend>(slots); }

}  // namespace assay::engine
