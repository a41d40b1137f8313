// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>

/// What a submitter wants to be told about a task's states, beside whether they were trained as specified (CHK rules).
namespace assay::contracts {

namespace check {
/// Each element of the tensor is finite.
struct Finite {
    std::optional<std::uint32_t> tensor;  ///< number of the state tensor; nullopt: each tensor of the state
    bool operator==(const Finite&) const = default;
    static constexpr auto fields() { return Fields<&Finite::tensor>{}; }
};
/// The tensor has this type and shape.
struct Declared {
    std::uint32_t tensor = 0;
    canonical::DType dtype = canonical::DType::kF32;
    canonical::Shape shape;
    bool operator==(const Declared&) const = default;
    static constexpr auto fields() { return Fields<&Declared::tensor, &Declared::dtype, &Declared::shape>{}; }
};
/// Each element of the tensor lies in an interval, its ends included.
struct Range {
    std::uint32_t tensor = 0;
    std::uint32_t least = 0;  ///< bits of a finite f32
    std::uint32_t most = 0;   ///< bits of a finite f32, at least `least`
    bool operator==(const Range&) const = default;
    static constexpr auto fields() { return Fields<&Range::tensor, &Range::least, &Range::most>{}; }
};
/// Each element of the tensor is the number of a class: an integer from 0 to classes - 1.
struct Labels {
    std::uint32_t tensor = 0;
    std::uint32_t classes = 1;
    bool operator==(const Labels&) const = default;
    static constexpr auto fields() { return Fields<&Labels::tensor, &Labels::classes>{}; }
};
}  // namespace check

/// CHK-2: a check of a state. The number of the kind is the index, from 0.
using ResultCheck = std::variant<check::Finite, check::Declared, check::Range, check::Labels>;
inline constexpr std::size_t kMaxResultChecks = 16;
inline constexpr std::uint32_t kMaxClasses = 1U << 24U;  ///< the integers below it are values of an f32
const char* check_name(const ResultCheck& check) noexcept;
/// "f32", "i32", "i64", "bf16" or "i8".
const char* type_name(canonical::DType dtype) noexcept;

/// CHK-1: whether there are at most kMaxResultChecks, and each is about a tensor of a state of `state_tensors` tensors
/// and can hold.
bool are_sound(const std::vector<ResultCheck>& checks, std::uint32_t state_tensors) noexcept;

/// CHK-3: whether a verdict reports on checks exactly if there are any, and on none beyond the last. Bit i of the
/// report is set if check i failed.
bool is_report_on(const std::vector<ResultCheck>& checks, const std::optional<std::uint32_t>& failed) noexcept;

}  // namespace assay::contracts
