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

std::size_t workspace_bytes(const Node& contract, std::size_t threads) {
    const bool is_split = contract.attributes[0] > kMaxFloatPrecision && !fits_at_once(contract);
    const auto packed = [&](std::size_t input) {
        if (has_tiles(contract)) {
            return packed_bytes(contract, input);
        }
        const std::size_t elements = contract.inputs[input].shape.element_count();
        const bool is_short = product_format(contract) == Format::kShort;
        return elements * (is_short ? sizeof(std::int16_t) : sizeof(double) * (is_split && input == 2 ? 2 : 1));
    };
    const std::size_t chunks = contract.inputs[1].shape.cols;
    const std::size_t columns = contract.shape.cols;
    const std::size_t left = std::min(packed(0), kLeftBytes);
    const std::size_t right = std::min(packed(2), kRightBytes);
    const std::size_t sums = (chunks + (chunks > 1 ? kMinPanelRows : 0)) * columns * sizeof(double);
    return right + threads * (left + sums);
}

}  // namespace assay::engine::fused
