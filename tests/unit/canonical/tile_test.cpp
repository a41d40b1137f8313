// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/tile.hpp>

#include <doctest/doctest.h>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;

TEST_CASE("NUM-4: cutting a tensor into tiles and storing them gives it back") {
    test::Random random(1);
    for (const Shape shape :
         {Shape{1, 1}, Shape{32, 32}, Shape{33, 31}, Shape{70, 100}, Shape{1, 200}, Shape{200, 1}}) {
        const Tensor x = test::random_f32(shape, random, test::Kind::kHostile);
        Tensor y = make_tensor(DType::kF32, shape);
        for (std::uint64_t tile = 0; tile < tile_count(shape); ++tile) {
            store_tile(y, tile, tile_of(x, tile));
        }
        CHECK(x == y);
    }
}

TEST_CASE("NUM-4: tiles are numbered row-major and padded with zeros") {
    Tensor x = make_tensor(DType::kI64, {40, 50});
    for (std::size_t i = 0; i < 2000; ++i) {
        test::set_i64(x, i, static_cast<std::int64_t>(i) + 1);
    }
    CHECK(tile_count(x.shape) == 4);
    const Tile tile = tile_of(x, 3);
    const Tensor view{DType::kI64, {32, 32}, tile.data};
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t j = 0; j < 32; ++j) {
            const bool inside = 32 + i < 40 && 32 + j < 50;
            const std::size_t expected = inside ? (32 + i) * 50 + 32 + j + 1 : 0;
            REQUIRE(test::get_i64(view, i * 32 + j) == static_cast<std::int64_t>(expected));
        }
    }
}

TEST_CASE("NUM-4: a tile of the wrong length is not well-formed") {
    CHECK(is_well_formed(make_tile(DType::kF32)));
    CHECK(make_tile(DType::kI64).data.size() == 8192);
    CHECK_FALSE(is_well_formed(Tile{DType::kI64, Bytes(4096)}));
    CHECK_FALSE(is_well_formed(Tile{DType::kI32, Bytes(4095)}));
    CHECK_FALSE(is_well_formed(Tile{static_cast<DType>(9), Bytes(4096)}));
}
