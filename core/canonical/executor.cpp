// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/executor.hpp>

#include <memory>

#include <core/base/assert.hpp>
#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

// A tile of `tensor`, decoded; padding is zero.
void load(const Tensor& tensor, std::uint64_t tile, Block& block) {
    const std::size_t row = tile / tile_cols(tensor.shape) * kTileDim;
    const std::size_t col = tile % tile_cols(tensor.shape) * kTileDim;
    const std::size_t rows = std::min<std::size_t>(kTileDim, tensor.shape.rows - row);
    const std::size_t cols = std::min<std::size_t>(kTileDim, tensor.shape.cols - col);
    if (rows < kTileDim || cols < kTileDim) {
        clear(block, tensor.dtype);
    }
    const std::size_t size = size_of(tensor.dtype);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint8_t* from = tensor.data.data() + ((row + i) * tensor.shape.cols + col) * size;
        load_elements(from, tensor.dtype, cols, block, i * kTileDim);
    }
}

void store(const Block& block, std::uint64_t tile, Tensor& tensor) {
    const std::size_t row = tile / tile_cols(tensor.shape) * kTileDim;
    const std::size_t col = tile % tile_cols(tensor.shape) * kTileDim;
    const std::size_t rows = std::min<std::size_t>(kTileDim, tensor.shape.rows - row);
    const std::size_t cols = std::min<std::size_t>(kTileDim, tensor.shape.cols - col);
    const std::size_t size = size_of(tensor.dtype);
    for (std::size_t i = 0; i < rows; ++i) {
        std::uint8_t* to = tensor.data.data() + ((row + i) * tensor.shape.cols + col) * size;
        store_elements(block, i * kTileDim, tensor.dtype, cols, to);
    }
}

// Reused from tile to tile. Operand blocks remember what they hold, for a chain often reads one tile again.
struct ExecutorWorkspace {
    std::array<Block, kMaxOperands> operands;
    std::array<std::optional<TileRef>, kMaxOperands> held;
    State state;
    Block out;
};

const Block* fetch(
    ExecutorWorkspace& space, std::size_t slot, const TileRef& ref, std::span<const Tensor* const> inputs
) {
    if (space.held[slot] != ref) {
        load(*inputs[ref.input], ref.tile, space.operands[slot]);
        space.held[slot] = ref;
    }
    return &space.operands[slot];
}

std::ptrdiff_t begin_of(const DatasetSpan& span) { return static_cast<std::ptrdiff_t>(span.first); }
std::ptrdiff_t end_of(const DatasetSpan& span) { return begin_of(span) + static_cast<std::ptrdiff_t>(span.count); }

void run_tile(
    const Node& node, std::uint64_t tile, const StepContext& context, const RowSource& rows,
    std::span<const Tensor* const> inputs, ExecutorWorkspace& space
) {
    const auto view = view_of(node, tile);
    const std::uint32_t partials = partial_count(node, tile, view.get());
    clear(space.state);
    clear(space.out, node.dtype);
    Bytes values;  // of the dataset
    for (std::uint32_t partial = 0; partial < partials; ++partial) {
        Work work{.node = node, .tile = tile, .partial = partial, .context = context, .dataset_values = {}};
        work.is_first = partial == 0;
        work.is_last = partial + 1 == partials;
        work.view = view.get();
        const OperandList list = operand_list(node, tile, partial, view.get());
        work.operand_count = list.size;
        for (std::size_t i = 0; i < list.size; ++i) {
            work.operands[i] = fetch(space, i, list.refs[i], inputs);
        }
        if (node.op == Op::kGatherRows) {
            if (const auto table = gather_operand(node, tile, partial, *work.operands[0])) {
                work.operands[work.operand_count++] = fetch(space, 1, *table, inputs);
            }
        }
        if (node.op == Op::kBatchRows) {
            const auto span = dataset_span_of(node, tile, partial, context);
            ASSERT(span.has_value());
            const Bytes row = rows.row(span->row);
            ASSERT(row.size() == std::size_t{node.shape.cols} * 4);
            values.assign(row.begin() + 4 * begin_of(*span), row.begin() + 4 * end_of(*span));
            work.dataset_values = values;
        }
        run_partial(work, space.state, space.out);
    }
}

// NUM-6
bool is_finite(const Tensor& tensor) {
    for (std::size_t at = 0; tensor.dtype == DType::kBf16 && at < tensor.data.size(); at += 2) {
        if ((tensor.data[at + 1] & 0x7fU) == 0x7fU && (tensor.data[at] & 0x80U) != 0) {
            return false;
        }
    }
    if (tensor.dtype != DType::kF32) {
        return true;
    }
    for (std::size_t at = 0; at < tensor.data.size(); at += 4) {
        if ((load_u32(tensor.data.data() + at) & 0x7f800000U) == 0x7f800000U) {
            return false;
        }
    }
    return true;
}

}  // namespace

Bytes RowSource::chunk(std::uint64_t index) const {
    const DatasetShape shape = this->shape();
    const std::uint32_t size = size_of(shape.storage);
    const std::uint64_t stride = shape.width - shape.overlap;
    const std::uint64_t first = index * (kChunkBytes / size);
    const std::uint64_t end = std::min(first + kChunkBytes / size, value_count(shape));
    Bytes values;
    while (first + values.size() / 4 < end) {
        const std::uint64_t value = first + values.size() / 4;
        const std::uint64_t of = std::min(value / stride, shape.rows - 1);
        const std::uint64_t from = value - of * stride;
        const Bytes words = row(of);
        const std::uint64_t count = std::min(end - value, shape.width - from);
        append(values, ByteView(words).subspan(from * 4, count * 4));
    }
    auto stored = encode_values(shape.storage, values);
    ASSERT(stored.has_value());
    return *std::move(stored);
}

Tensor execute_node(
    const Node& node, const StepContext& context, const RowSource& rows, std::span<const Tensor* const> inputs
) {
    ASSERT(node.op != Op::kCommit && inputs.size() == node.inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        ASSERT(inputs[i]->dtype == node.inputs[i].dtype && inputs[i]->shape == node.inputs[i].shape);
        ASSERT(inputs[i]->data.size() == inputs[i]->shape.element_count() * size_of(inputs[i]->dtype));
    }
    Tensor out = make_tensor(node.dtype, node.shape);
    const auto space = std::make_unique<ExecutorWorkspace>();
    const std::uint64_t tiles = tile_count(node.shape);
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
        run_tile(node, tile, context, rows, inputs, *space);
        store(space->out, tile, out);
    }
    return out;
}

Result<std::vector<Tensor>, StepError> execute_graph(
    const Graph& graph, const StepContext& context, const RowSource& rows, std::span<const Tensor> state,
    const NodeObserver& observer
) {
    std::vector<Tensor> outputs;
    outputs.reserve(graph.size());
    const auto find = [&](const Input& input) {
        return input.source == Source::kState ? &state[input.index] : &outputs[input.index];
    };
    for (std::size_t i = 0; i + 1 < graph.size(); ++i) {
        std::vector<const Tensor*> inputs;
        for (const Input& input : graph[i].inputs) {
            inputs.push_back(find(input));
        }
        outputs.push_back(execute_node(graph[i], context, rows, inputs));
        if (observer && !observer(static_cast<std::uint32_t>(i), outputs.back())) {
            return std::vector<Tensor>{};
        }
    }
    std::vector<Tensor> next;
    for (const Input& input : graph.back().inputs) {
        next.push_back(*find(input));
        if (!is_finite(next.back())) {
            return Unexpected{StepError::kDiverged};
        }
    }
    return next;
}

}  // namespace assay::canonical
