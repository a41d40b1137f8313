// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>

#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/fused/product.hpp>

namespace assay::engine {
namespace {

using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;

constexpr std::uint32_t kSampleRows = 37;  // more than a tile, not a multiple of anything
// Of large products a part is tested, of the whole depth: operands of 16 MiB, outputs of 64 MiB. The rows that are left
// out are computed as those before them.
constexpr std::uint32_t kLeastRows = 64;
constexpr std::uint32_t kOperandElements = 1U << 22U;
constexpr std::uint32_t kOutputElements = 1U << 24U;

struct SelfTestNoRows final : canonical::RowSource {
    canonical::DatasetShape shape() const override { return {}; }
    Bytes row(std::uint64_t) const override { return {}; }
};

template <class F>
Tensor make_i32(Shape shape, F value) {
    Tensor out = canonical::make_tensor(DType::kI32, shape);
    for (std::uint32_t i = 0; i < shape.rows; ++i) {
        for (std::uint32_t j = 0; j < shape.cols; ++j) {
            const std::int32_t x = value(i, j);
            std::memcpy(out.data.data() + (std::size_t{i} * shape.cols + j) * sizeof x, &x, sizeof x);
        }
    }
    return out;
}

using Operands = std::array<Tensor, 4>;

// Every magnitude is the largest; signs differ by row only, so each chunk's sum is as large as it can be.
Operands largest(const Node& node) {
    const std::int32_t top = quantised_limit(node.attributes[0]);
    const auto q = [top](std::uint32_t i, std::uint32_t) { return i % 3 == 1 ? -top : top; };
    const auto e = [](std::uint32_t i, std::uint32_t j) { return static_cast<std::int32_t>((i + j) % 5) - 2; };
    return {
        make_i32(node.inputs[0].shape, q), make_i32(node.inputs[1].shape, e), make_i32(node.inputs[2].shape, q),
        make_i32(node.inputs[3].shape, e)};
}

// Odd values next to the limit with signs that cancel: a sum that kept too few bits would show in the last ones.
Operands cancelling(const Node& node) {
    const std::int32_t top = quantised_limit(node.attributes[0]);
    const std::uint32_t seed = node.attributes[0];
    const auto q = [top, seed](std::uint32_t i, std::uint32_t j) {
        const auto word = canonical::philox4x32({i, j, 0, 0}, {seed, 0})[0];
        const std::int32_t magnitude = top - 1 - static_cast<std::int32_t>(word % 7 * 2);
        return (word & 0x100U) != 0 ? -magnitude : magnitude;
    };
    const auto e = [](std::uint32_t i, std::uint32_t) { return static_cast<std::int32_t>(i % 3); };
    return {
        make_i32(node.inputs[0].shape, q), make_i32(node.inputs[1].shape, e), make_i32(node.inputs[2].shape, q),
        make_i32(node.inputs[3].shape, e)};
}

Tensor run(const Node& node, const Operands& operands, const EngineOptions& options) {
    const auto backend = make_backend(5, options);
    Task task{.node = node, .inputs = {0, 1, 2, 3}, .output = 4, .is_bounded = true};
    for (Slot i = 0; i < operands.size(); ++i) {
        backend->store(i, operands[i]);
    }
    backend->execute(task);
    return backend->load(4);
}

// What `largest` must give, by the closed form, for shapes that would take the definition too long.
Tensor expected_largest(const Node& node) {
    const auto [precision, chunk] = node.attributes;
    const std::uint32_t depth = node.inputs[0].shape.cols;
    const std::uint32_t group_rows = node.shape.rows / canonical::group_count(node);
    const double unit = static_cast<double>(quantised_limit(precision)) / static_cast<double>(1U << precision);
    const auto exponent = [](std::uint32_t i, std::uint32_t c) { return static_cast<int>((i + c) % 5) - 2; };
    Tensor out = canonical::make_tensor(DType::kF32, node.shape);
    for (std::uint32_t i = 0; i < node.shape.rows; ++i) {
        for (std::uint32_t j = 0; j < node.shape.cols; ++j) {
            const std::uint32_t b = i / group_rows * node.shape.cols + j;  // the right operand's row
            double sum = 0.0;
            for (std::uint32_t c = 0; c * chunk < depth; ++c) {
                const double count = std::min(chunk, depth - c * chunk);
                const int power = exponent(i, c) + exponent(b, c) + 8;  // at least 2^4
                sum += count * unit * unit * static_cast<double>(1U << static_cast<unsigned>(power)) / 256.0;
            }
            const float value = static_cast<float>((i % 3 == 1) != (b % 3 == 1) ? -sum : sum);
            std::memcpy(out.data.data() + (std::size_t{i} * node.shape.cols + j) * sizeof value, &value, sizeof value);
        }
    }
    return out;
}

// The first of the groups.
Node with_groups(Node node, std::uint32_t count) {
    const std::uint32_t groups = canonical::group_count(node);
    count = std::min(count, groups);
    for (Input& input : node.inputs) {
        input.shape.rows = input.shape.rows / groups * count;
    }
    node.shape.rows = node.shape.rows / groups * count;
    return node;
}

// With no more rows of either operand than are tested.
Node cut(Node node) {
    const std::uint32_t groups = canonical::group_count(node);
    const std::uint32_t most = std::max(kLeastRows, kOperandElements / node.inputs[0].shape.cols);
    const auto whole = [groups](std::uint32_t rows) {
        return groups == 1 ? rows : (rows + canonical::kTileDim - 1) / canonical::kTileDim * canonical::kTileDim;
    };
    const std::uint32_t cols = std::min(node.shape.cols, whole(most));
    const std::uint32_t rows =
        std::min(node.shape.rows / groups, whole(std::min(most, std::max(kLeastRows, kOutputElements / cols))));
    node.shape = {rows * groups, cols};
    for (const std::size_t i : {0U, 1U}) {
        node.inputs[i].shape.rows = rows * groups;
        node.inputs[i + 2].shape.rows = cols * groups;
    }
    return node;
}

// The same contraction with few rows, so that the definition can be run over it.
Node sampled(Node node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        node.inputs[i].shape.rows = std::min(node.inputs[i].shape.rows, kSampleRows);
    }
    node.shape = {node.inputs[0].shape.rows, node.inputs[2].shape.rows};
    return node;
}

[[noreturn]] void refuse(const Node& node) {
    throw std::runtime_error(
        "engine: the contraction [" + std::to_string(node.shape.rows) + ", " +
        std::to_string(node.inputs[0].shape.cols) + "] x [" + std::to_string(node.inputs[0].shape.cols) + ", " +
        std::to_string(node.shape.cols) + "] with p = " + std::to_string(node.attributes[0]) +
        " is not exact on this device"
    );
}

// Every way that the engine may come to choose.
std::vector<EngineOptions> ways_of(const EngineOptions& options) {
    const bool is_host = options.device == "cpu" && !options.portable;
    const bool is_measured = options.products == ProductChoice::kMeasured ||
                             (options.products == ProductChoice::kAutomatic && options.device != "cpu");
    if (is_host || !is_measured) {
        return {options};
    }
    std::vector<EngineOptions> out;
    for (const ProductChoice choice : {ProductChoice::kFloats, ProductChoice::kDoubles, ProductChoice::kResidues}) {
        out.push_back(options);
        out.back().products = choice;
    }
    return out;
}

void check(const Node& grouped, const EngineOptions& options) {
    const Node node = cut(with_groups(grouped, 2));
    const Operands operands = largest(node);
    const Tensor expected = expected_largest(node);
    const Node small = sampled(with_groups(grouped, 1));
    const Operands small_operands = cancelling(small);
    const std::array<const Tensor*, 4> inputs{
        &small_operands[0], &small_operands[1], &small_operands[2], &small_operands[3]};
    const Tensor small_expected = canonical::execute_node(small, {}, SelfTestNoRows{}, inputs);
    for (const EngineOptions& way : ways_of(options)) {
        if (run(node, operands, way) != expected) {
            refuse(node);
        }
        if (run(small, small_operands, way) != small_expected) {
            refuse(small);
        }
    }
}

}  // namespace

void check_contractions(const Graph& graph, const EngineOptions& options) {
    std::set<std::array<std::uint32_t, 6>> seen;
    for (const Node& node : graph) {
        if (node.op != Op::kContract) {
            continue;
        }
        const auto [precision, chunk] = node.attributes;
        const bool is_new = seen.insert({node.shape.rows, node.shape.cols, node.inputs[0].shape.cols, precision, chunk,
                                         canonical::group_count(node)})
                                .second;
        if (is_new) {
            check(node, options);
        }
    }
    // It has packed operands that the engine lays out as they are computed; training needs no room for that.
    fused::release_workspace();
}

}  // namespace assay::engine
