// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/result_check.hpp>

#include <algorithm>
#include <array>

namespace assay::contracts {
namespace {

constexpr std::uint32_t kExponent = 0x7f80'0000;  // of an f32
constexpr std::uint32_t kSign = 0x8000'0000;

bool is_finite(std::uint32_t bits) { return (bits & kExponent) != kExponent; }

/// Maps the bits of finite f32 numbers to integers that are ordered as they are; both zeros are the same.
std::int64_t ordered(std::uint32_t bits) {
    const auto size = static_cast<std::int64_t>(bits & ~kSign);
    return (bits & kSign) != 0 ? -size : size;
}

bool is_within(std::uint32_t tensor, std::uint32_t state_tensors) { return tensor < state_tensors; }

bool is_possible(const check::Finite& check, std::uint32_t state_tensors) {
    return !check.tensor || is_within(*check.tensor, state_tensors);
}
bool is_possible(const check::Declared& check, std::uint32_t state_tensors) {
    const auto is_dimension = [](std::uint32_t size) { return size >= 1 && size <= canonical::kMaxDimension; };
    return is_within(check.tensor, state_tensors) && is_dimension(check.shape.rows) && is_dimension(check.shape.cols);
}
bool is_possible(const check::Range& check, std::uint32_t state_tensors) {
    return is_within(check.tensor, state_tensors) && is_finite(check.least) && is_finite(check.most) &&
           ordered(check.least) <= ordered(check.most);
}
bool is_possible(const check::Labels& check, std::uint32_t state_tensors) {
    return is_within(check.tensor, state_tensors) && check.classes >= 1 && check.classes <= kMaxClasses;
}

}  // namespace

const char* check_name(const ResultCheck& check) noexcept {
    constexpr std::array<const char*, std::variant_size_v<ResultCheck>> kNames{"finite", "shape", "range", "labels"};
    return kNames[check.index()];
}

const char* type_name(canonical::DType dtype) noexcept {
    constexpr std::array<const char*, 5> kNames{"f32", "i32", "i64", "bf16", "i8"};
    return canonical::is_valid(dtype) ? kNames[static_cast<std::size_t>(dtype) - 1] : "unknown";
}

bool are_sound(const std::vector<ResultCheck>& checks, std::uint32_t state_tensors) noexcept {
    return checks.size() <= kMaxResultChecks && std::all_of(checks.begin(), checks.end(), [&](const ResultCheck& each) {
               return std::visit([&](const auto& check) { return is_possible(check, state_tensors); }, each);
           });
}

bool is_report_on(const std::vector<ResultCheck>& checks, const std::optional<std::uint32_t>& failed) noexcept {
    return failed.has_value() != checks.empty() && (!failed || (*failed >> checks.size()) == 0);
}

}  // namespace assay::contracts
