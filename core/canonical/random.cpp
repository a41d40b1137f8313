// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/executor.hpp>
#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

// "feis", "tel!": keeps the batch order's words apart from those of kUniform under the same seed.
constexpr std::uint32_t kOrderLow = 0x66656973;
constexpr std::uint32_t kOrderHigh = 0x74656c21;
constexpr std::uint32_t kFeistelRounds = 8;

// One pass over 2 * half bits.
std::uint64_t feistel(std::uint64_t x, std::uint32_t half, std::uint64_t seed, std::uint64_t epoch) {
    const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
    std::uint64_t left = (x >> half) & mask;
    std::uint64_t right = x & mask;
    for (std::uint32_t round = 0; round < kFeistelRounds; ++round) {
        const auto words =
            philox4x32({low(right), round, low(epoch), high(epoch)}, {low(seed) ^ kOrderLow, high(seed) ^ kOrderHigh});
        const std::uint64_t next = left ^ (words[0] & mask);
        left = right;
        right = next;
    }
    return (left << half) | right;
}

}  // namespace

// NUM-30
std::array<std::uint32_t, 4> philox4x32(
    const std::array<std::uint32_t, 4>& counter, const std::array<std::uint32_t, 2>& key
) noexcept {
    std::array<std::uint32_t, 4> c = counter;
    std::array<std::uint32_t, 2> k = key;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53} * c[0];
        const std::uint64_t second = std::uint64_t{0xCD9E8D57} * c[2];
        c = {high(second) ^ c[1] ^ k[0], low(second), high(first) ^ c[3] ^ k[1], low(first)};
        k[0] += 0x9E3779B9U;
        k[1] += 0xBB67AE85U;
    }
    return c;
}

// NUM-31
std::uint64_t batch_row(std::uint64_t seed, std::uint64_t position, std::uint64_t rows) noexcept {
    if (rows <= 1) {
        return 0;
    }
    const std::uint64_t epoch = position / rows;
    const auto bits = static_cast<std::uint32_t>(std::bit_width(rows - 1));
    const std::uint32_t half = (bits + 1) / 2;
    // The domain is at most four times `rows`, and a permutation comes back to where it started, so this ends.
    std::uint64_t x = position % rows;
    do {
        x = feistel(x, half, seed, epoch);
    } while (x >= rows);
    return x;
}

// NUM-32, NUM-35
void run_random(const Work& work, Block& out) noexcept {
    const StepContext& context = work.context;
    const bool is_uniform = work.node.op == Op::kUniform;
    const std::uint32_t threshold = work.node.attributes[0];
    const float bound = as_f32(work.node.attributes[0]);
    const float span = 2.0F * bound;
    const std::uint32_t tensor = work.node.attributes[1];
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    std::uint64_t cached = ~std::uint64_t{0};
    std::array<std::uint32_t, 4> words{};
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint64_t row = std::uint64_t{work.row_tile()} * kTileDim + i;
        for (std::size_t j = 0; j < cols; ++j) {
            const std::uint64_t element = row * work.node.shape.cols + std::uint64_t{work.col_tile()} * kTileDim + j;
            if (element / 4 != cached) {
                cached = element / 4;
                words = philox4x32(
                    {low(cached), tensor, low(context.step), high(context.step)},
                    {low(context.seed), high(context.seed)}
                );
            }
            const std::uint32_t word = words[element % 4];
            const float u = static_cast<float>(word >> 8U) * 0x1.0p-24F;
            const float drawn = word < threshold ? 1.0F : 0.0F;
            out.words[i * kTileDim + j] = canonical_bits(is_uniform ? u * span - bound : drawn);
        }
    }
}

}  // namespace assay::canonical
