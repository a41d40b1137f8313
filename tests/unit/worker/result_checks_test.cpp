// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <verifier/worker/result_checks.hpp>

namespace assay::worker {
namespace {

using canonical::DType;
using contracts::ResultCheck;
namespace check = contracts::check;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A row of these values; the machine of the tests is little-endian.
template <class T>
canonical::Tensor row(DType dtype, const std::vector<T>& values) {
    canonical::Tensor out = canonical::make_tensor(dtype, {1, static_cast<std::uint32_t>(values.size())});
    REQUIRE(out.data.size() == values.size() * sizeof(T));
    std::memcpy(out.data.data(), values.data(), out.data.size());
    return out;
}

canonical::Tensor reals(const std::vector<float>& values) { return row(DType::kF32, values); }

bool is_finite(const canonical::Tensor& tensor) { return holds(check::Finite{0}, std::vector{tensor}); }

bool is_within(const canonical::Tensor& tensor, float least, float most) {
    const check::Range range{
        .tensor = 0, .least = std::bit_cast<std::uint32_t>(least), .most = std::bit_cast<std::uint32_t>(most)};
    return holds(range, std::vector{tensor});
}

bool are_labels(const canonical::Tensor& tensor, std::uint32_t classes) {
    return holds(check::Labels{.tensor = 0, .classes = classes}, std::vector{tensor});
}

}  // namespace

TEST_CASE("CHK-2: finite fails for infinities and for what is not a number, in f32 and bf16") {
    CHECK(is_finite(reals({0.0F, -1.0F, std::numeric_limits<float>::max()})));
    CHECK_FALSE(is_finite(reals({0.0F, kInfinity})));
    CHECK_FALSE(is_finite(reals({-kInfinity, 0.0F})));
    CHECK_FALSE(is_finite(reals({std::nanf("")})));
    CHECK(is_finite(row<std::uint16_t>(DType::kBf16, {0x3f80, 0x7f7f})));
    CHECK_FALSE(is_finite(row<std::uint16_t>(DType::kBf16, {0x7f80})));
    CHECK_FALSE(is_finite(row<std::uint16_t>(DType::kBf16, {0xffc0})));
    CHECK(is_finite(row<std::int32_t>(DType::kI32, {-1, 0x7f80'0000})));
    const std::vector state{reals({1.0F}), reals({kInfinity})};
    CHECK(holds(check::Finite{0}, state));
    CHECK_FALSE(holds(check::Finite{1}, state));
    CHECK_FALSE(holds(check::Finite{}, state));
    CHECK(holds(check::Finite{}, std::vector{state[0]}));
}

TEST_CASE("CHK-2: a declared type and shape are those of the tensor or not") {
    const std::vector state{reals({1.0F, 2.0F})};
    CHECK(holds(check::Declared{.tensor = 0, .dtype = DType::kF32, .shape = {1, 2}}, state));
    CHECK_FALSE(holds(check::Declared{.tensor = 0, .dtype = DType::kF32, .shape = {2, 1}}, state));
    CHECK_FALSE(holds(check::Declared{.tensor = 0, .dtype = DType::kI32, .shape = {1, 2}}, state));
    CHECK_FALSE(holds(check::Declared{.tensor = 1, .dtype = DType::kF32, .shape = {1, 2}}, state));
}

TEST_CASE("CHK-2: a range has its ends, and nothing that is not a number is in one") {
    CHECK(is_within(reals({-1.0F, 0.5F, 1.0F}), -1.0F, 1.0F));
    CHECK_FALSE(is_within(reals({1.0000001F}), -1.0F, 1.0F));
    CHECK_FALSE(is_within(reals({std::nanf("")}), -1.0F, 1.0F));
    CHECK(is_within(reals({-0.0F}), 0.0F, 0.0F));
    CHECK(is_within(row<std::uint16_t>(DType::kBf16, {0x3f80}), 1.0F, 1.0F));
    CHECK(is_within(row<std::int8_t>(DType::kI8, {-128, 127}), -128.0F, 127.0F));
    CHECK_FALSE(is_within(row<std::int8_t>(DType::kI8, {-128}), -127.5F, 127.0F));
}

TEST_CASE("CHK-2: integers are compared exactly with bounds that are fractions or beyond them") {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    const auto long_row = [](std::int64_t value) { return row<std::int64_t>(DType::kI64, {value}); };
    CHECK(is_within(long_row(2), 1.5F, 2.5F));
    CHECK_FALSE(is_within(long_row(1), 1.5F, 2.5F));
    CHECK_FALSE(is_within(long_row(3), 1.5F, 2.5F));
    constexpr float kEnd = 9223372036854775808.0F;
    CHECK(is_within(long_row(kMost), -kEnd, kEnd));
    CHECK(is_within(long_row(kLeast), -kEnd, 0.0F));
    CHECK_FALSE(is_within(long_row(kMost), kEnd, kEnd));
    CHECK_FALSE(is_within(long_row(kLeast), -1e30F, -9.3e18F));
    // 2^53 + 1 is no f64, and the bound 2^53 is an f32.
    CHECK_FALSE(is_within(long_row((std::int64_t{1} << 53U) + 1), 0.0F, 9007199254740992.0F));
    CHECK(is_within(long_row(std::int64_t{1} << 53U), 0.0F, 9007199254740992.0F));
}

TEST_CASE("CHK-2: a label is an integer from 0 to the number of classes less 1, of any type") {
    CHECK(are_labels(row<std::int32_t>(DType::kI32, {0, 9}), 10));
    CHECK_FALSE(are_labels(row<std::int32_t>(DType::kI32, {10}), 10));
    CHECK_FALSE(are_labels(row<std::int32_t>(DType::kI32, {-1}), 10));
    CHECK(are_labels(reals({0.0F, 9.0F}), 10));
    CHECK_FALSE(are_labels(reals({0.5F}), 10));
    CHECK_FALSE(are_labels(reals({10.0F}), 10));
    CHECK_FALSE(are_labels(reals({kInfinity}), contracts::kMaxClasses));
    CHECK_FALSE(are_labels(reals({std::nanf("")}), 10));
}

TEST_CASE("CHK-3: a report has the bits of the checks that fail, in their order") {
    const std::vector state{reals({2.0F}), reals({kInfinity})};
    const std::vector<ResultCheck> checks{
        check::Finite{}, check::Finite{0}, check::Labels{.tensor = 0, .classes = 2},
        check::Labels{.tensor = 0, .classes = 3}, check::Finite{7}};
    CHECK(failed_checks(checks, state) == 0b10101);
    CHECK(failed_checks({}, state) == 0);
    const std::vector<ResultCheck> most(contracts::kMaxResultChecks, check::Finite{1});
    CHECK(failed_checks(most, state) == 0xffff);
}

}  // namespace assay::worker
