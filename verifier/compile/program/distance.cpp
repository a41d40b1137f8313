// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/distance.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/compile/program/distance_graph.hpp>

namespace assay::program {

using canonical::DType;
using canonical::Shape;
using canonical::Tensor;

namespace {

constexpr std::uint32_t kStates = 3;
// Shorter parts keep intermediate tensors small, longer ones the graph.
constexpr std::uint64_t kMinPart = 1U << 20U;
constexpr std::uint64_t kMaxPart = canonical::kMaxDimension;
// Each tensor of a joined part is padded to the part's size, so a part costs as many times its size as it has tensors.
constexpr std::uint32_t kMaxJoined = 8;
constexpr std::array<std::string_view, kStates> kStateNames{"start.", "replayed.", "claimed."};

// Of the Merkle tree over so many tensors.
std::uint32_t depth_of(std::uint32_t tensors) { return static_cast<std::uint32_t>(std::bit_width(tensors - 1)); }

Result<void, DistanceError> check_state(const std::vector<StateTensor>& state) {
    if (state.empty() || state.size() > canonical::kMaxStateTensors) {
        return Unexpected{DistanceError::kTensors};
    }
    for (const StateTensor& tensor : state) {
        const auto [dtype, shape] = tensor.type;
        if (dtype == DType::kI64 || dtype == DType::kI8) {
            return Unexpected{DistanceError::kWideInteger};
        }
        const std::uint64_t whole = dtype == DType::kI32 ? shape.element_count() : shape.cols;
        if (whole > canonical::kMaxDimension) {
            return Unexpected{DistanceError::kTooLarge};
        }
    }
    return {};
}

// Whether parts of this size are long enough for parts of one tensor. The graph may still be too large: with 48 nodes
// for a part this is an estimate, which stays since it decides the graphs of tasks that exist.
bool are_parts_few(const std::vector<StateTensor>& state, std::uint64_t part) {
    constexpr std::uint64_t kNodesPerPart = 48;
    std::uint64_t parts = 4;
    for (const StateTensor& tensor : state) {
        parts +=
            div_ceil(std::uint64_t{tensor.type.shape.rows}, std::max<std::uint64_t>(part / tensor.type.shape.cols, 1));
    }
    return parts * kNodesPerPart <= canonical::kMaxNodes;
}

// The smallest power of two from kMinPart on that a row of each tensor fits.
std::uint64_t smallest_part(const std::vector<StateTensor>& state) {
    std::uint64_t part = kMinPart;
    for (const StateTensor& tensor : state) {
        while (part < tensor.type.shape.cols && part < kMaxPart) {
            part *= 2;
        }
    }
    return part;
}

// TOL-4: of the first layout that fits.
std::optional<canonical::Graph> measuring_graph(const std::vector<StateTensor>& state) {
    for (const std::uint32_t joined : {1U, kMaxJoined}) {
        for (std::uint64_t part = smallest_part(state); part <= kMaxPart; part *= 2) {
            if (joined == 1 && !are_parts_few(state, part)) {
                continue;
            }
            if (auto graph = write_distance_graph(state, {.part = part, .joined = joined})) {
                return graph;
            }
        }
    }
    return std::nullopt;
}

std::vector<StateTensor> initial_tensors(const std::vector<StateTensor>& state) {
    const auto count = static_cast<std::uint32_t>(state.size());
    std::vector<StateTensor> initial;
    for (std::uint32_t which = 0; which < kStates; ++which) {
        const std::uint32_t first = measured_place(count, which, 0);
        while (initial.size() < first) {
            initial.push_back({"gap." + std::to_string(initial.size()), {DType::kF32, Shape{1, 1}}});
        }
        for (const StateTensor& tensor : state) {
            initial.push_back({std::string(kStateNames[which]) + tensor.name, tensor.type});
        }
    }
    return initial;
}

}  // namespace

StateGroup group_of(const StateTensor& tensor) {
    if (tensor.type.dtype != DType::kF32 && tensor.type.dtype != DType::kBf16) {
        return StateGroup::kInteger;
    }
    const std::string_view name = tensor.name;
    const auto starts = [&](std::string_view prefix) { return name.starts_with(prefix); };
    const bool is_slot = starts("momentum.") || starts("adam.") || starts("accumulated.");
    const bool is_running = name.ends_with(".running_mean") || name.ends_with(".running_var");
    return is_slot || is_running ? StateGroup::kOther : StateGroup::kParameter;
}

std::uint32_t measured_place(std::uint32_t tensors, std::uint32_t which, std::uint32_t tensor) {
    ASSERT(tensors >= 1 && tensors <= canonical::kMaxStateTensors && which < kStates && tensor < tensors);
    return (which << depth_of(tensors)) + tensor;
}

Result<Program, DistanceError> build_distance_program(const std::vector<StateTensor>& state) {
    TRY(check_state(state));
    auto graph = measuring_graph(state);
    if (!graph) {
        return Unexpected{DistanceError::kTooLarge};
    }
    Program program = make_function(
        {"measurement", {DType::kF32, canonical::kMeasurementShape}}, initial_tensors(state), *std::move(graph)
    );
    ASSERT(check_program(program).has_value());
    return program;
}

std::vector<Tensor> measured_state(
    std::span<const Tensor> start, std::span<const Tensor> replayed, std::span<const Tensor> claimed
) {
    const auto count = static_cast<std::uint32_t>(start.size());
    ASSERT(replayed.size() == count && claimed.size() == count);
    std::vector<Tensor> out(measured_place(count, kStates - 1, count - 1) + std::size_t{1});
    for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT(start[i].shape == replayed[i].shape && start[i].shape == claimed[i].shape);
        out[measured_place(count, 0, i)] = start[i];
        out[measured_place(count, 1, i)] = replayed[i];
        out[measured_place(count, 2, i)] = claimed[i];
    }
    return out;
}

}  // namespace assay::program
