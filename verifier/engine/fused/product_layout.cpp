// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/product.hpp>

#include <algorithm>
#include <bit>

#include <verifier/engine/backend/product_bits.hpp>
#include <verifier/engine/fused/contraction.hpp>
#include <verifier/engine/fused/digit_kernel.hpp>
#include <verifier/engine/fused/microkernel.hpp>

/// How the operands of products lie in memory on this CPU.
namespace assay::engine::fused {

using canonical::Node;

namespace {

constexpr std::uint32_t kDoubleBits = 53;
constexpr std::uint32_t kShortSumBits = 30;
constexpr std::uint32_t kMaxShortPrecision = 14;

std::uint32_t bits_of(std::size_t depth) { return static_cast<std::uint32_t>(std::bit_width(depth - 1)); }

std::size_t chunk_depth(const Node& node) { return std::min(node.attributes[1], node.inputs[0].shape.cols); }

bool fits_in_two(const Node& node) {
    // The right operand's halves have at most p - 11 and 12 bits.
    const std::uint32_t precision = node.attributes[0];
    const std::uint32_t half = std::max(precision > kHalfBits ? precision - kHalfBits + 1 : 1, kHalfBits);
    return precision + half + bits_of(chunk_depth(node)) <= kDoubleBits;
}

}  // namespace

bool has_tiles(const Node& node) {
    return DigitKernel::is_available() && DigitKernel::fits(node.attributes[0], chunk_depth(node));
}

bool fits_at_once(const Node& node) { return 2 * node.attributes[0] + bits_of(chunk_depth(node)) <= kDoubleBits; }

Format product_format(const Node& contract) {
    const std::uint32_t precision = contract.attributes[0];
    const bool fits_short =
        precision <= kMaxShortPrecision && 2 * precision + bits_of(chunk_depth(contract)) <= kShortSumBits;
    if (fits_short && !has_tiles(contract) && !microkernels<std::int16_t>().empty()) {
        return Format::kShort;
    }
    const bool fits = precision <= kMaxFloatPrecision || fits_at_once(contract) || fits_in_two(contract);
    return fits ? Format::kFloat : Format::kWords;
}

std::size_t packed_bytes(const Node& contract, std::size_t input) {
    const canonical::Shape shape = contract.inputs[input].shape;
    return DigitKernel(contract.attributes[0]).packed_size(shape.rows, shape.cols);
}

Format operand_format(const Node& contract, std::size_t input) {
    const Format plain = product_format(contract);
    if (plain != Format::kFloat || !has_tiles(contract)) {
        return plain;
    }
    // Groups and chunks begin where blocks and steps do, and little is filled up.
    const canonical::Shape shape = contract.inputs[input].shape;
    const std::size_t groups = canonical::group_count(contract);
    const bool are_whole =
        (groups == 1 || shape.rows / groups % DigitKernel::kBlockRows == 0) &&
        (shape.cols <= contract.attributes[1] || contract.attributes[1] % DigitKernel::kStepColumns == 0) &&
        packed_bytes(contract, input) <= 2 * shape.element_count() * sizeof(float);
    return !are_whole ? plain : input == 0 ? Format::kLeftDigits : Format::kRightDigits;
}

namespace {

/// What packing takes of a kernel's operands: rows are packed in blocks of so many.
struct Packing {
    std::size_t left_block = 1;
    std::size_t right_block = 1;
    std::size_t row_bytes = 0;  ///< of a row of the left operand
    std::size_t right_row_bytes = 0;
};

Packing packing_of(const Node& contract) {
    const std::size_t depth = contract.inputs[0].shape.cols;
    if (has_tiles(contract)) {
        constexpr std::size_t kBlock = DigitKernel::kBlockRows;
        const std::size_t bytes = DigitKernel(contract.attributes[0]).packed_size(kBlock, depth) / kBlock;
        return {.left_block = kBlock, .right_block = kBlock, .row_bytes = bytes, .right_row_bytes = bytes};
    }
    const auto with = [&](const auto& kernel, std::size_t size, std::size_t halves) {
        return Packing{
            .left_block = kernel.left_rows,
            .right_block = kernel.right_rows,
            .row_bytes = depth * size,
            .right_row_bytes = depth * size * halves,
        };
    };
    if (product_format(contract) == Format::kShort) {
        return with(microkernels<std::int16_t>().front(), sizeof(std::int16_t), 1);
    }
    const bool is_split = contract.attributes[0] > kMaxFloatPrecision && !fits_at_once(contract);
    if (!microkernels<double>().empty()) {
        return with(microkernels<double>().front(), sizeof(double), is_split ? 2 : 1);
    }
    return {.row_bytes = depth * sizeof(double), .right_row_bytes = depth * sizeof(double) * 2};
}

constexpr std::size_t rounded_up(std::size_t count, std::size_t block) { return (count + block - 1) / block * block; }

}  // namespace

// As run_wide divides the work: into panels of rows, each with all columns, or with the columns that are packed
// together.
WorkspaceBytes workspace_bytes(const Node& contract, std::size_t threads) {
    const Packing packing = packing_of(contract);
    const std::size_t groups = canonical::group_count(contract);
    const std::size_t rows = contract.shape.rows / groups;
    const std::size_t columns = contract.shape.cols;
    const std::size_t by_threads = (contract.shape.rows + threads - 1) / threads;
    const std::size_t wanted = std::max(std::min(kLeftBytes / packing.row_bytes, by_threads), kMinPanelRows);
    const std::size_t panel_rows = std::min(rounded_up(wanted, packing.left_block), rows);
    const std::size_t panels = groups * ((rows + panel_rows - 1) / panel_rows);
    const std::size_t at_once = std::min(threads, panels);
    const std::size_t left = rounded_up(panel_rows, packing.left_block) * packing.row_bytes;
    const std::size_t whole = rounded_up(columns, packing.right_block) * packing.right_row_bytes;
    const std::size_t least = std::min(8 * packing.right_block * packing.right_row_bytes * threads, groups * whole);
    const std::size_t right =
        panel_rows == rows ? at_once * whole : std::min(std::max(kRightBytes, least), groups * whole);
    const std::size_t chunks = contract.inputs[1].shape.cols;
    const std::size_t sums = (chunks + (chunks > 1 ? kMinPanelRows : 0)) * columns * sizeof(double);
    return {.left = threads * left, .right = right, .sums = threads * sums};
}

}  // namespace assay::engine::fused
