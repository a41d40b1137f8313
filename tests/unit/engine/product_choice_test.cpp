// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <stdexcept>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/backend/product_choice.hpp>
#include <verifier/engine/cuda/residues.hpp>

using namespace assay;
using namespace assay::engine;
using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::test::Random;
using Kinds = std::vector<ProductKind>;

namespace {

Node contraction(std::uint32_t precision, std::uint32_t chunk, std::uint32_t depth, std::uint32_t rows = 40) {
    const std::uint32_t chunks = (depth + chunk - 1) / chunk;
    Node node{Op::kContract, DType::kF32, {rows, 48}, {precision, chunk}, {}, {}};
    for (const std::uint32_t side : {rows, 48U}) {
        node.inputs.push_back({canonical::Source::kState, 0, DType::kI32, {side, depth}});
        node.inputs.push_back({canonical::Source::kState, 0, DType::kI32, {side, chunks}});
    }
    REQUIRE(canonical::check_node(node).has_value());
    return node;
}

}  // namespace

TEST_CASE("NUM-16: only ways that are exact are offered") {
    CHECK(exact_products(contraction(21, 2048, 4096), true) == Kinds{ProductKind::kDoubles, ProductKind::kResidues});
    CHECK(
        exact_products(contraction(24, 16384, 16384), true) == Kinds{ProductKind::kTwoDoubles, ProductKind::kResidues}
    );
    // 24 + 24 + 5 bits
    CHECK(exact_products(contraction(24, 16384, 32), true) == Kinds{ProductKind::kDoubles, ProductKind::kResidues});
    for (const auto& node : {contraction(8, 256, 300), contraction(7, 65536, 70000), contraction(2, 32, 40)}) {
        CHECK(exact_products(node, true) == Kinds{ProductKind::kFloats, ProductKind::kDoubles, ProductKind::kResidues});
    }
    CHECK(exact_products(contraction(21, 2048, 4096), false) == Kinds{ProductKind::kWords});
}

TEST_CASE("a way is measured where nobody chose it and there is an accelerator") {
    const Node node = contraction(7, 65536, 512);
    const Node wide = contraction(24, 16384, 16384);
    const Kinds all = exact_products(node, true);
    CHECK(candidates(node, true, ProductChoice::kAutomatic, true) == all);
    CHECK(candidates(node, true, ProductChoice::kMeasured, false) == all);
    CHECK(candidates(node, true, ProductChoice::kAutomatic, false) == Kinds{ProductKind::kFloats});
    CHECK(candidates(node, true, ProductChoice::kFloats, true) == Kinds{ProductKind::kFloats});
    CHECK(candidates(node, true, ProductChoice::kDoubles, true) == Kinds{ProductKind::kDoubles});
    CHECK(candidates(node, true, ProductChoice::kResidues, false) == Kinds{ProductKind::kResidues});
    CHECK(candidates(wide, true, ProductChoice::kFloats, true) == Kinds{ProductKind::kTwoDoubles});
    CHECK(candidates(wide, true, ProductChoice::kDoubles, true) == Kinds{ProductKind::kTwoDoubles});
    CHECK(candidates(wide, false, ProductChoice::kResidues, true) == Kinds{ProductKind::kWords});
}

TEST_CASE("each size is measured once and the fastest way kept") {
    ProductChooser chooser;
    int measured = 0;
    const auto measure = [&](ProductKind kind) {
        ++measured;
        return kind == ProductKind::kResidues ? 1.0 : 2.0;
    };
    const auto slow_residues = [&](ProductKind kind) {
        ++measured;
        return kind == ProductKind::kResidues ? 3.0 : 2.0;
    };
    const Kinds kinds{ProductKind::kFloats, ProductKind::kDoubles, ProductKind::kResidues};
    const Node node = contraction(7, 65536, 512);
    CHECK(chooser.choose(node, kinds, measure) == ProductKind::kResidues);
    CHECK(measured == 3);
    CHECK(chooser.choose(node, kinds, slow_residues) == ProductKind::kResidues);
    CHECK(measured == 3);
    // The first among equals.
    CHECK(chooser.choose(contraction(7, 65536, 512, 41), kinds, slow_residues) == ProductKind::kFloats);
    CHECK(chooser.choose(contraction(7, 128, 512), kinds, measure) == ProductKind::kResidues);
    CHECK(chooser.choose(contraction(6, 65536, 512), kinds, measure) == ProductKind::kResidues);
    CHECK(chooser.choose(contraction(7, 65536, 513), kinds, measure) == ProductKind::kResidues);
    CHECK(measured == 15);
    CHECK(chooser.choose(contraction(21, 2048, 64), {ProductKind::kDoubles}, measure) == ProductKind::kDoubles);
    CHECK(measured == 15);
}

TEST_CASE("a measurement that fails chooses nothing") {
    ProductChooser chooser;
    const Node node = contraction(21, 2048, 64);
    const Kinds kinds{ProductKind::kDoubles, ProductKind::kResidues};
    const auto fail = [](ProductKind kind) -> double {
        return kind == ProductKind::kDoubles ? 1.0 : throw std::runtime_error("no memory");
    };
    CHECK_THROWS_AS(chooser.choose(node, kinds, fail), std::runtime_error);
    CHECK(chooser.choose(node, kinds, [](ProductKind) { return 1.0; }) == ProductKind::kDoubles);
}

TEST_CASE("NUM-5: ways that disagree when they are measured are not used") {
    const Node node = contraction(7, 65536, 64);
    const auto backend =
        make_torch_backend(5, {.device = "cpu", .portable = true, .products = ProductChoice::kMeasured});
    // Claimed to be within +-127, which 200 is not: as a byte it is another number.
    for (Slot i = 0; i < 4; ++i) {
        canonical::Tensor x = canonical::make_tensor(DType::kI32, node.inputs[i].shape);
        for (std::size_t at = 0; at < x.shape.element_count(); ++at) {
            canonical::test::set_i32(x, at, i % 2 == 0 ? 200 : 0);
        }
        backend->store(i, x);
    }
    const Task task{.node = node, .inputs = {0, 1, 2, 3}, .output = 4, .is_bounded = true};
    CHECK_THROWS_WITH_AS(
        backend->execute(task), "engine: two exact ways to contract disagree on this device", std::runtime_error
    );
}

TEST_CASE("NUM-16: as few moduli as tell the sums of a chunk apart") {
    CHECK(residue_count(std::int64_t{1} << 21U, 2048) == 7);
    CHECK(residue_count(std::int64_t{1} << 24U, 16384) == 8);
    CHECK(residue_count(256, 256) == 4);
    CHECK(residue_count(256, 61) == 3);
    CHECK(residue_count(127, 65536) == 1);
    CHECK(residue_count(127, 65537) == 4);
    CHECK(residue_count(4, 32) == 1);
    for (std::int64_t bits = 2; bits <= 24; ++bits) {
        for (std::int64_t log_depth = 0; 2 * bits + log_depth <= 62; ++log_depth) {
            const std::int64_t limit = bits == 7 ? 127 : std::int64_t{1} << bits;
            const std::size_t count = residue_count(limit, std::int64_t{1} << log_depth);
            REQUIRE(count <= kMaxModuli);
            const bool is_exact =
                count == 1 || (modulus_of(count) / 2) >> log_depth >= static_cast<std::uint64_t>(limit * limit);
            CHECK(is_exact);
        }
    }
}

namespace {

template <std::size_t kCount>
void check_recovered(std::int64_t x, Random& random) {
    std::array<std::int32_t, kCount> sums{};
    for (std::size_t i = 0; i < kCount; ++i) {
        const std::int64_t r = x % kModuli[i];
        // Anything congruent does, however large.
        const std::int64_t turns = static_cast<std::int64_t>(random.below(8'000'000)) - 4'000'000;
        sums[i] = static_cast<std::int32_t>(r + turns * kModuli[i]);
    }
    CHECK(from_residues(sums) == x);
}

template <std::size_t kCount>
void check_range(Random& random) {
    const auto most = static_cast<std::int64_t>((modulus_of(kCount) - 1) / 2);
    for (const std::int64_t x : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, most, -most, most - 1, 1 - most}) {
        check_recovered<kCount>(x, random);
    }
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t bits = (std::uint64_t{random.next_u32()} << 32U | random.next_u32()) >> random.below(64);
        const auto magnitude = static_cast<std::int64_t>(bits % (static_cast<std::uint64_t>(most) + 1));
        check_recovered<kCount>(random.below(2) == 0 ? magnitude : -magnitude, random);
    }
}

}  // namespace

TEST_CASE("NUM-16: residues tell every number of their range") {
    Random random(11);
    check_range<2>(random);
    check_range<3>(random);
    check_range<4>(random);
    check_range<5>(random);
    check_range<6>(random);
    check_range<7>(random);
    check_range<8>(random);
}

TEST_CASE("a centred residue is that of a byte and odd") {
    Random random(12);
    for (const std::int32_t modulus : kModuli) {
        for (int i = 0; i < 2000; ++i) {
            const auto x = static_cast<std::int32_t>(random.below(1U << 30U)) - (1 << 29);
            const std::int32_t r = centred_residue(x, modulus);
            CHECK(std::abs(r) <= 127);
            CHECK((x - r) % modulus == 0);
            CHECK(centred_residue(-x, modulus) == -r);
        }
    }
}
