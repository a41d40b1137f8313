// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/result_checks.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <variant>

namespace assay::worker {
namespace {

using canonical::DType;

/// Element `index` of little-endian data, as the type that has its bits.
template <class T>
T element(const canonical::Tensor& tensor, std::size_t index) {
    using Bits = std::make_unsigned_t<T>;
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        const auto byte = static_cast<Bits>(tensor.data[index * sizeof(T) + i]);
        bits = static_cast<Bits>(bits | static_cast<Bits>(byte << (8 * i)));
    }
    return static_cast<T>(bits);
}

float real(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// Whether `test` holds of each element: it is called with a float for f32 and bf16, and with an integer for the
/// others.
template <class Test>
bool all_of(const canonical::Tensor& tensor, const Test& test) {
    const std::size_t count = tensor.shape.element_count();
    const auto each = [&](const auto& value_at) {
        for (std::size_t i = 0; i < count; ++i) {
            if (!test(value_at(i))) {
                return false;
            }
        }
        return true;
    };
    switch (tensor.dtype) {
        case DType::kF32:
            return each([&](std::size_t i) { return real(element<std::uint32_t>(tensor, i)); });
        case DType::kBf16:
            return each([&](std::size_t i) { return real(std::uint32_t{element<std::uint16_t>(tensor, i)} << 16U); });
        case DType::kI32:
            return each([&](std::size_t i) { return std::int64_t{element<std::int32_t>(tensor, i)}; });
        case DType::kI64:
            return each([&](std::size_t i) { return element<std::int64_t>(tensor, i); });
        case DType::kI8:
            return each([&](std::size_t i) { return std::int64_t{element<std::int8_t>(tensor, i)}; });
    }
    return false;
}

bool is_finite(float value) { return std::isfinite(value); }
bool is_finite(std::int64_t /*value*/) { return true; }

/// Compares integers with bounds that may be fractions, or lie beyond all integers.
struct Bounds {
    float least = 0;
    float most = 0;

    bool contains(float value) const { return value >= least && value <= most; }
    bool contains(std::int64_t value) const {
        constexpr float kEnd = 9223372036854775808.0F;  // 2^63
        const bool above = least < -kEnd || (least < kEnd && value >= static_cast<std::int64_t>(std::ceil(least)));
        const bool below = most >= kEnd || (most >= -kEnd && value <= static_cast<std::int64_t>(std::floor(most)));
        return above && below;
    }
};

bool is_label(float value, std::uint32_t classes) {
    return value >= 0 && value < static_cast<float>(classes) && value == std::floor(value);
}
bool is_label(std::int64_t value, std::uint32_t classes) { return value >= 0 && value < std::int64_t{classes}; }

bool is_true_of(const contracts::check::Finite& /*check*/, const canonical::Tensor& tensor) {
    return all_of(tensor, [](auto value) { return is_finite(value); });
}
bool is_true_of(const contracts::check::Declared& check, const canonical::Tensor& tensor) {
    return tensor.dtype == check.dtype && tensor.shape == check.shape;
}
bool is_true_of(const contracts::check::Range& check, const canonical::Tensor& tensor) {
    const Bounds bounds{.least = real(check.least), .most = real(check.most)};
    return all_of(tensor, [&](auto value) { return bounds.contains(value); });
}
bool is_true_of(const contracts::check::Labels& check, const canonical::Tensor& tensor) {
    return all_of(tensor, [&](auto value) { return is_label(value, check.classes); });
}

/// The tensors that a check is about.
std::span<const canonical::Tensor> subject(
    const contracts::ResultCheck& check, std::span<const canonical::Tensor> state
) {
    const std::optional<std::uint32_t> tensor =
        std::visit([](const auto& each) { return std::optional<std::uint32_t>(each.tensor); }, check);
    if (!tensor) {
        return state;
    }
    return *tensor < state.size() ? state.subspan(*tensor, 1) : std::span<const canonical::Tensor>();
}

}  // namespace

bool holds(const contracts::ResultCheck& check, std::span<const canonical::Tensor> state) {
    const std::span<const canonical::Tensor> tensors = subject(check, state);
    return !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [&](const canonical::Tensor& tensor) {
        return std::visit([&](const auto& each) { return is_true_of(each, tensor); }, check);
    });
}

std::uint32_t failed_checks(
    const std::vector<contracts::ResultCheck>& checks, std::span<const canonical::Tensor> state
) {
    std::uint32_t failed = 0;
    for (std::size_t i = 0; i < checks.size(); ++i) {
        failed |= holds(checks[i], state) ? 0U : 1U << i;
    }
    return failed;
}

}  // namespace assay::worker
