// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <core/base/integers.hpp>
#include <verifier/compile/program/local_replicas.hpp>

/// What local replicas send each other, counted without sending it.
namespace assay::program {

using canonical::Shape;

namespace {

constexpr std::uint64_t kLevelBits = 2;      // a sign and one of two magnitudes, while no value is 0
constexpr std::uint64_t kLineBlocks = 4096;  // whose values share a table of the magnitudes
constexpr std::uint64_t kRowBits = 8;        // the exponent of a row beside the one before; the first has its width too

/// Bytes of the values and places of so many blocks, as the ranks of a cell pack them.
std::uint64_t sparse_bytes(std::uint64_t blocks, std::uint64_t place_bits) {
    std::uint64_t out = 0;
    for (std::uint64_t first = 0; first < blocks; first += kLineBlocks) {
        const std::uint64_t count = std::min(blocks - first, kLineBlocks);
        out += std::min(1 + 4 * count, 2 + 2 * 4 + div_ceil(count * kLevelBits, std::uint64_t{8}));
        out += std::min(1 + 4 * count, 2 + div_ceil(count * place_bits, std::uint64_t{8}));
    }
    return out;
}

}  // namespace

RoundTraffic round_traffic(const LocalReplicas& local, const std::vector<StateTensor>& parameters) {
    constexpr std::uint64_t kWord = 32;
    RoundTraffic out;
    std::vector<std::uint64_t> rounds(local.fragments, 0);
    const std::vector<std::uint32_t> fragments = fragments_of(parameters, local.fragments);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Shape shape = parameters[i].type.shape;
        const std::uint64_t whole = kWord * shape.element_count();
        out.whole += whole;
        if (is_sparse(local, shape)) {
            const auto size = std::min<std::uint64_t>(local.block, shape.element_count());
            const auto place_bits = static_cast<std::uint64_t>(std::bit_width(size - 1));
            const std::uint64_t blocks = div_ceil(shape.element_count(), std::uint64_t{local.block});
            rounds[fragments[i]] += 8 * sparse_bytes(blocks, place_bits);
        } else if (local.sent == SentForm::kIntegers) {
            rounds[fragments[i]] += local.bits * shape.element_count() + kRowBits * (shape.rows + std::uint64_t{1});
        } else {
            rounds[fragments[i]] += whole;
        }
    }
    for (const std::uint64_t bits : rounds) {
        out.packed += bits;
        out.peak = std::max(out.peak, bits);
    }
    return out;
}

}  // namespace assay::program
