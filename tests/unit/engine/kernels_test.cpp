// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/partial.hpp>
#include <verifier/engine/cuda/kernels.hpp>
#include <verifier/engine/cuda/residues.hpp>

using namespace assay;
using namespace assay::engine;
using canonical::Op;
using canonical::test::Random;

namespace {

std::vector<float> hostile(std::size_t count, Random& random) {
    std::vector<float> out(count);
    std::generate(out.begin(), out.end(), [&] { return std::bit_cast<float>(random.next_u32()); });
    return out;
}

std::vector<std::int32_t> exponents(std::size_t count, Random& random) {
    std::vector<std::int32_t> out(count);
    std::generate(out.begin(), out.end(), [&] { return static_cast<std::int32_t>(random.below(300)) - 150; });
    return out;
}

}  // namespace

TEST_CASE("NUM-14: kernels write the same numbers as words, floats, doubles and residues") {
    Random random(21);
    const auto kernels = cuda::make_host_kernels();
    for (const auto [groups, group_rows, cols, chunk] :
         {std::array{1L, 1L, 1L, 0L}, std::array{1L, 37L, 65L, 32L}, std::array{3L, 32L, 40L, 0L}}) {
        const auto rows = groups * group_rows;
        const auto count = static_cast<std::size_t>(rows * cols);
        const std::int64_t chunks = chunk == 0 ? 1 : (cols + chunk - 1) / chunk;
        const std::vector<float> x = hostile(count, random);
        const std::vector<std::int32_t> e = exponents(static_cast<std::size_t>(rows * chunks), random);
        cuda::QuantiseCall call;
        call.x = x.data();
        call.e = e.data();
        call.rows = rows;
        call.cols = cols;
        call.e_row_stride = chunks;
        call.chunk = chunk;
        call.precision = 21;
        std::vector<std::int32_t> words(count);
        call.out = words.data();
        kernels->quantise(call);
        std::vector<float> floats(count);
        call.form = cuda::Form::kFloats;
        call.out = floats.data();
        kernels->quantise(call);
        std::vector<double> doubles(count);
        call.form = cuda::Form::kDoubles;
        call.out = doubles.data();
        kernels->quantise(call);
        for (std::size_t i = 0; i < count; ++i) {
            REQUIRE(floats[i] == static_cast<float>(words[i]));
            REQUIRE(doubles[i] == words[i]);
        }
        call.form = cuda::Form::kResidues;
        call.count = 7;
        call.groups = groups;
        call.padded_rows = group_rows + 11;
        call.padded_cols = (cols + 19) / 4 * 4;
        const auto plane = static_cast<std::size_t>(groups * call.padded_rows * call.padded_cols);
        std::vector<std::int8_t> residues(7 * plane, 99);
        call.out = residues.data();
        kernels->quantise(call);
        // What is quantised already gives the same residues.
        std::vector<std::int8_t> again(7 * plane, 98);
        call.words = words.data();
        call.out = again.data();
        kernels->quantise(call);
        CHECK(residues == again);
        for (std::size_t at = 0; at < plane; ++at) {
            const auto where = static_cast<std::int64_t>(at);
            const std::int64_t j = where % call.padded_cols;
            const std::int64_t i = where / call.padded_cols % call.padded_rows;
            const std::int64_t row = where / call.padded_cols / call.padded_rows * group_rows + i;
            const bool is_inside = i < group_rows && j < cols;
            for (std::size_t m = 0; m < 7; ++m) {
                const std::int32_t q = is_inside ? words[static_cast<std::size_t>(row * cols + j)] : 0;
                REQUIRE(residues[m * plane + at] == centred_residue(q, kModuli[m]));
            }
        }
    }
}

TEST_CASE("NUM-30: kernels draw the words of the definition") {
    Random random(22);
    for (int i = 0; i < 100; ++i) {
        const cuda::PhiloxNumbers numbers{
            .tensor = random.next_u32(),
            .step = std::uint64_t{random.next_u32()} << 32U | random.next_u32(),
            .seed = std::uint64_t{random.next_u32()} << 32U | random.next_u32()};
        const std::uint32_t block = random.next_u32();
        const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
        const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
        CHECK(
            cuda::philox(block, numbers) ==
            canonical::philox4x32(
                {block, numbers.tensor, low(numbers.step), high(numbers.step)}, {low(numbers.seed), high(numbers.seed)}
            )
        );
    }
}

TEST_CASE("kernels know every operation that works element by element") {
    int known = 0;
    for (const Op op : canonical::test::all_ops()) {
        known += cuda::is_elementwise(op) ? 1 : 0;
    }
    CHECK(known == 29);
    CHECK_FALSE(cuda::is_elementwise(Op::kContract));
    CHECK_FALSE(cuda::is_elementwise(Op::kView));
}
