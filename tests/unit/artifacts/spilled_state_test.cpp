// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/artifacts/spilled_state.hpp>

namespace assay::artifacts {
namespace {

using canonical::DType;
using canonical::Tensor;

Tensor tensor_of(DType dtype, canonical::Shape shape, std::uint8_t first) {
    Tensor out = canonical::make_tensor(dtype, shape);
    for (std::uint8_t& byte : out.data) {
        byte = first++;
    }
    return out;
}

TEST_CASE("a spilled state is what was spilled, in any order and after it is moved") {
    const std::vector<Tensor> state{
        tensor_of(DType::kF32, {.rows = 7, .cols = 33}, 1),
        tensor_of(DType::kF32, {.rows = 0, .cols = 0}, 0),
        tensor_of(DType::kI64, {.rows = 300, .cols = 70}, 5),
        tensor_of(DType::kI32, {.rows = 1, .cols = 1}, 9),
    };
    const auto spill = [&] {
        return SpilledState(std::filesystem::temp_directory_path(), state.size(), [&](std::size_t i) {
            return state[i];
        });
    };
    SpilledState spilled = spill();
    REQUIRE(spilled.size() == state.size());
    for (std::size_t i = state.size(); i-- > 0;) {
        CHECK(spilled.load(i) == state[i]);
    }
    SpilledState moved = std::move(spilled);
    CHECK(moved.load(2) == state[2]);
    moved = spill();
    CHECK(moved.load(0) == state[0]);
}

TEST_CASE("a state that cannot be spilled is an error that names the folder") {
    const auto spill = [] {
        return SpilledState("/nowhere/at/all", 1, [](std::size_t) { return tensor_of(DType::kF32, {1, 1}, 0); });
    };
    CHECK_THROWS_WITH_AS(
        spill(), doctest::Contains("cannot be kept in /nowhere/at/all: No such file or directory"), std::runtime_error
    );
}

}  // namespace
}  // namespace assay::artifacts
