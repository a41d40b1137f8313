// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/executor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>

#include <core/base/assert.hpp>
#include <core/canonical/partial.hpp>
#include <verifier/engine/fused/product.hpp>
#include <verifier/engine/fused/row_kernels.hpp>
#include <verifier/engine/fused/row_op.hpp>

namespace assay::engine::fused {

using canonical::DType;
using canonical::Input;
using canonical::Node;
using canonical::Source;
using canonical::StepContext;
using canonical::StepError;
using canonical::Tensor;

namespace {

// Adds the time from its making to its end.
class Stopwatch {
  public:
    explicit Stopwatch(double* total) : total_(total), start_(total == nullptr ? Clock::time_point{} : Clock::now()) {}
    ~Stopwatch() {
        if (total_ != nullptr) {
            *total_ += std::chrono::duration<double>(Clock::now() - start_).count();
        }
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    using Clock = std::chrono::steady_clock;
    double* total_;
    Clock::time_point start_;
};

constexpr std::uint32_t kNotShown = ~std::uint32_t{0};
constexpr std::uint32_t kRowsShown = 4 * canonical::kTileDim;  // at once, of a node that is a stage of its own

std::size_t bytes_of(const Input& input) { return input.shape.element_count() * canonical::size_of(input.dtype); }

}  // namespace

void Executor::Free::operator()(std::byte* memory) const {
    ::operator delete (memory, std::align_val_t{kTensorAlignment});
}

Executor::Memory Executor::allocate(std::size_t bytes) {
    return Memory(
        static_cast<std::byte*>(::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{kTensorAlignment}))
    );
}

Executor::Executor(Plan plan, std::shared_ptr<const canonical::RowSource> rows, ThreadPool& pool)
    : plan_(std::move(plan)), rows_(std::move(rows)), pool_(pool) {
    std::size_t scratch = 0;
    for (const Region& region : plan_.regions) {
        scratch = std::max(scratch, region.scratch_bytes);
    }
    for (std::size_t i = 0; i < pool_.size(); ++i) {
        scratch_.push_back(allocate(scratch));
    }
    arena_ = allocate(plan_.arena_bytes);
    const std::vector<Input>& next = plan_.graph.back().inputs;
    for (const Input& input : next) {
        state_.push_back(allocate(bytes_of(input)));
    }
    find_addresses();
    shown_as_.assign(plan_.graph.size(), kNotShown);
    for (std::uint32_t i = 0; i < plan_.observed.size(); ++i) {
        shown_as_[plan_.observed[i]] = i;
    }
    converted_.resize(pool_.size());
}

void Executor::find_addresses() {
    const std::size_t nodes = plan_.graph.size() - 1;
    addresses_.resize(plan_.values.size());
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
        const Value& value = plan_.values[i];
        if (i >= nodes) {
            addresses_[i] = state_[i - nodes].get();
        } else {
            const bool is_state = value.next_state != kNoState;
            addresses_[i] = is_state ? state_[value.next_state].get() : arena_.get() + value.offset;
        }
    }
}

void Executor::set_profiling(bool is_on) {
    is_profiling_ = is_on;
    profiles_.assign(pool_.size(), Profile{});
}

Executor::Profile Executor::profile() const {
    Profile sum{};
    for (const Profile& part : profiles_) {
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += part[i];
        }
    }
    return sum;
}

void Executor::set_state(std::size_t index, const Tensor& tensor) {
    if (state_[index] == nullptr) {
        state_[index] = allocate(tensor.data.size());
        find_addresses();
    }
    std::memcpy(state_[index].get(), tensor.data.data(), tensor.data.size());
}

Tensor Executor::state(std::size_t index) const {
    const Input& input = plan_.graph.back().inputs[index];
    Tensor out = canonical::make_tensor(input.dtype, input.shape);
    std::memcpy(out.data.data(), state_[index].get(), out.data.size());
    return out;
}

Tensor Executor::take_state(std::size_t index) {
    Tensor out = state(index);
    state_[index].reset();
    return out;
}

Tensor Executor::kept(std::uint32_t node_before) const {
    const std::uint32_t id = plan_.kept.at(node_before);
    const Value& value = plan_.values[id];
    Tensor out = canonical::make_tensor(node(id).dtype, value.shape);
    std::memcpy(out.data.data(), addresses_[id], out.data.size());
    return out;
}

// The numbers that a product multiplies are shown as the i32 that they stand for.
void Executor::show_rows(OutputObserver& observer, std::uint32_t id, OutputRows rows, std::size_t thread) {
    rows.node = shown_as_[id];
    if (rows.node == kNotShown) {
        return;
    }
    const Value& value = plan_.values[id];
    ASSERT(!is_laid_out(value.format));
    const std::size_t count = std::size_t{rows.count} * value.shape.cols;
    const auto convert = [&](const auto* from) {
        std::vector<std::int32_t>& out = converted_[thread];
        out.resize(std::max(out.size(), count));
        std::transform(from, from + count, out.begin(), [](auto x) { return static_cast<std::int32_t>(x); });
        rows.data = reinterpret_cast<const std::byte*>(out.data());
    };
    if (value.format == Format::kFloat) {
        convert(reinterpret_cast<const float*>(rows.data));
    } else if (value.format == Format::kShort) {
        convert(reinterpret_cast<const std::int16_t*>(rows.data));
    }
    observer.see(rows);
}

void Executor::show_whole(OutputObserver& observer, std::uint32_t id) {
    const Value& value = plan_.values[id];
    const std::size_t row_bytes = value.shape.cols * size_of(value.format);
    pool_.run((value.shape.rows + kRowsShown - 1) / kRowsShown, [&](std::size_t part, std::size_t thread) {
        const auto first = static_cast<std::uint32_t>(part) * kRowsShown;
        const OutputRows rows{
            .node = id,
            .first = first,
            .count = std::min(kRowsShown, value.shape.rows - first),
            .data = addresses_[id] + first * row_bytes};
        show_rows(observer, id, rows, thread);
    });
}

void Executor::run_region(const Region& region, const StepContext& context, OutputObserver* observer) {
    const std::size_t blocks = (region.rows + region.block_rows - 1) / region.block_rows;
    pool_.run(blocks, [&](std::size_t block, std::size_t thread) {
        const std::uint64_t first = block * region.block_rows;
        const std::size_t rows = std::min<std::size_t>(region.block_rows, region.rows - first);
        const auto locate = [&](const Operand& operand) {
            if (operand.place == Operand::Place::kScratch) {
                return scratch_[thread].get() + operand.scratch;
            }
            std::byte* base = addresses_[operand.value];
            const Value& value = plan_.values[operand.value];
            return operand.place == Operand::Place::kRows ? base + first * value.shape.cols * size_of(value.format)
                                                          : base;
        };
        for (const RegionOp& op : region.ops) {
            const Node& what = node(op.node);
            const Node& reads = op.sums_at_once ? node(what.inputs[0].index) : what;
            RowCall call{
                .node = what,
                .reads = reads,
                .context = context,
                .extent = {rows, what.shape.cols, first},
                .view = op.view.get(),
                .format = plan_.values[op.node].format,
            };
            for (std::size_t j = 0; j < reads.inputs.size(); ++j) {
                call.inputs[j] = locate(op.inputs[j]);
            }
            call.output = locate(op.output);
            const Stopwatch watch(is_profiling_ ? &profiles_[thread][static_cast<std::size_t>(what.op)] : nullptr);
            run_row_op(call);
            if (observer != nullptr) {
                const OutputRows shown{
                    .node = op.node,
                    .first = static_cast<std::uint32_t>(first),
                    .count = static_cast<std::uint32_t>(rows),
                    .data = call.output};
                show_rows(*observer, op.node, shown, thread);
            }
        }
    });
}

// NUM-19; each thread takes some of the columns, so that no two add to one place.
void Executor::run_scatter(std::uint32_t id) {
    const Node& scatter = node(id);
    const std::size_t depth = scatter.shape.cols;
    const std::size_t entries = scatter.inputs[1].shape.element_count();
    const auto* q = at<std::int32_t>(plan_.value_of(scatter.inputs[0]));
    const auto* index = at<std::int32_t>(plan_.value_of(scatter.inputs[1]));
    auto* out = at<std::int64_t>(id);
    std::fill_n(out, scatter.shape.element_count(), 0);
    const std::size_t parts = std::min<std::size_t>(pool_.size(), depth / canonical::kTileDim);
    pool_.run(parts, [&](std::size_t part, std::size_t) {
        scatter_add_rows(q, index, entries, scatter.shape, depth * part / parts, depth * (part + 1) / parts, out);
    });
}

// NUM-33
void Executor::run_batch(std::uint32_t id, const StepContext& context) {
    const Node& batch = node(id);
    const std::size_t row_bytes = std::size_t{batch.shape.cols} * 4;
    for (std::uint32_t r = 0; r < batch.shape.rows; ++r) {
        const std::uint64_t position = context.step * batch.shape.rows + r;
        const Bytes row = rows_->row(canonical::batch_row(context.seed, position, context.dataset.rows));
        ASSERT(row.size() == row_bytes);
        std::memcpy(addresses_[id] + r * row_bytes, row.data(), row_bytes);
    }
}

void Executor::run_product_stage(std::uint32_t id) {
    const Node& contract = node(id);
    const auto address = [&](std::size_t i) { return addresses_[plan_.value_of(contract.inputs[i])]; };
    const auto is_digits = [&](std::size_t i) {
        return is_laid_out(plan_.values[plan_.value_of(contract.inputs[i])].format);
    };
    const ProductOperands operands{
        .a = address(0),
        .exponent_a = reinterpret_cast<const std::int32_t*>(address(1)),
        .b = address(2),
        .exponent_b = reinterpret_cast<const std::int32_t*>(address(3)),
        .out = at<float>(id),
        .is_laid_out_a = is_digits(0),
        .is_laid_out_b = is_digits(2),
    };
    run_product(contract, operands, pool_);
}

// NUM-6
bool Executor::is_next_finite() {
    const std::vector<Input>& next = plan_.graph.back().inputs;
    std::atomic<bool> is_finite{true};
    pool_.run(next.size(), [&](std::size_t i, std::size_t) {
        const Input& input = next[i];
        const ValueId value = plan_.value_of(input);
        const std::size_t count = input.shape.element_count();
        if ((input.dtype == DType::kF32 && !all_finite(count, at<float>(value))) ||
            (input.dtype == DType::kBf16 && !all_finite(count, at<std::uint16_t>(value)))) {
            is_finite = false;
        }
    });
    return is_finite;
}

// Over the state before, which nothing reads any more. What other state tensors become is copied first.
void Executor::move_next() {
    const std::vector<Input>& next = plan_.graph.back().inputs;
    std::vector<Memory> moved(next.size());
    for (std::size_t i = 0; i < next.size(); ++i) {
        if (next[i].source == Source::kState && next[i].index != i) {
            moved[i] = allocate(bytes_of(next[i]));
            std::memcpy(moved[i].get(), state_[next[i].index].get(), bytes_of(next[i]));
        }
    }
    pool_.run(next.size(), [&](std::size_t i, std::size_t) {
        if (moved[i] != nullptr) {
            state_[i].swap(moved[i]);
        } else if (next[i].source == Source::kNode && addresses_[next[i].index] != state_[i].get()) {
            std::memcpy(state_[i].get(), addresses_[next[i].index], bytes_of(next[i]));
        }
    });
    find_addresses();
}

void Executor::run_stage(const Stage& stage, const StepContext& context, OutputObserver* observer) {
    if (stage.kind == Stage::Kind::kRegion) {
        return run_region(plan_.regions[stage.region], context, observer);
    }
    {
        const Stopwatch watch(is_profiling_ ? &profiles_[0][static_cast<std::size_t>(node(stage.node).op)] : nullptr);
        if (stage.kind == Stage::Kind::kProduct) {
            run_product_stage(stage.node);
        } else if (stage.kind == Stage::Kind::kScatter) {
            run_scatter(stage.node);
        } else {
            run_batch(stage.node, context);
        }
    }
    if (observer != nullptr) {
        show_whole(*observer, stage.node);
    }
}

Result<void, StepError> Executor::run_step(const StepContext& context, OutputObserver* observer) {
    ASSERT(observer == nullptr || !plan_.observed.empty());
    pool_.check_environments();
    for (const Stage& stage : plan_.stages) {
        run_stage(stage, context, observer);
        if (observer != nullptr && observer->is_done()) {
            return {};
        }
    }
    if (!is_next_finite()) {
        return Unexpected{StepError::kDiverged};
    }
    move_next();
    return {};
}

}  // namespace assay::engine::fused
