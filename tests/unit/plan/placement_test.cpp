// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/plan/placement.hpp>

using namespace assay;
using namespace assay::plan;

namespace {

constexpr canonical::Shape kShape{7, 9};

IndexSet drawn(std::mt19937& random, std::uint32_t size) {
    const std::uint32_t begin = static_cast<std::uint32_t>(random()) % size;
    return {begin, begin + 1 + static_cast<std::uint32_t>(random()) % (size - begin)};
}

Placement drawn_placement(std::mt19937& random, std::size_t ranks) {
    Placement out;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        out.push_back(random() % 5 == 0 ? Block{} : Block{drawn(random, kShape.rows), drawn(random, kShape.cols)});
    }
    return out;
}

bool has(const Block& block, std::uint32_t row, std::uint32_t col) {
    return block.rows.contains(row) && block.cols.contains(col);
}

}  // namespace

TEST_CASE("what is transferred is what a rank lacks, once, from one that has it") {
    std::mt19937 random(3);
    for (int run = 0; run < 300; ++run) {
        Placement held = drawn_placement(random, 4);
        held[random() % 4] = whole(kShape);
        const Placement wanted = drawn_placement(random, 4);
        CHECK(covers(held, kShape));
        const std::vector<Transfer> all = transfers(held, wanted, kShape);
        for (std::uint32_t to = 0; to < 4; ++to) {
            for (std::uint32_t row = 0; row < kShape.rows; ++row) {
                for (std::uint32_t col = 0; col < kShape.cols; ++col) {
                    int count = 0;
                    for (const Transfer& transfer : all) {
                        if (transfer.to == to && has(transfer.block, row, col)) {
                            ++count;
                            CHECK(has(held[transfer.from], row, col));
                        }
                    }
                    const bool is_lacking = has(wanted[to], row, col) && !has(held[to], row, col);
                    CHECK(count == (is_lacking ? 1 : 0));
                }
            }
        }
    }
}

TEST_CASE("a placement covers a tensor if every element is somewhere") {
    const Placement halves{{IndexSet(0, 7), IndexSet(0, 4)}, {IndexSet(0, 7), IndexSet(4, 9)}};
    CHECK(covers(halves, kShape));
    const Placement corners{{IndexSet(0, 4), IndexSet(0, 5)}, {IndexSet(4, 7), IndexSet(5, 9)}};
    CHECK(!covers(corners, kShape));
    CHECK(!covers({Block{}, Block{}}, kShape));
}

TEST_CASE("the hull of two blocks has the rows and columns of both") {
    const Block a{IndexSet(0, 2), IndexSet(3, 4)};
    const Block b{IndexSet(5, 6), IndexSet(0, 1)};
    CHECK(hull(a, b).element_count() == 6);
    CHECK(hull(a, Block{}) == a);
    CHECK(intersection(a, b).is_empty());
}
