// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include <core/base/assert.hpp>

namespace assay {

/// Wraps an error so that it can initialise a Result: `return Unexpected{BlockError::kParentUnknown};`
template <class E>
class Unexpected {
  public:
    constexpr explicit Unexpected(E error) : error_(std::move(error)) {}
    constexpr const E& error() const { return error_; }

  private:
    E error_;
};

/// A value or an error. Member names are those of std::expected (C++23), so that an alias can replace it later. `T` may
/// be void. Accessing the value of an error, or the error of a value, aborts.
template <class T, class E>
class [[nodiscard]] Result {
    using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  public:
    using value_type = T;
    using error_type = E;

    constexpr Result() requires std::is_void_v<T> : storage_(std::in_place_index<0>) {}

    template <class U = Stored>  // NOLINTNEXTLINE(google-explicit-constructor): implicit by design
    requires(!std::is_void_v<T> && std::is_constructible_v<Stored, U&&> && !std::is_same_v<std::remove_cvref_t<U>, Result> && !std::is_same_v<std::remove_cvref_t<U>, Unexpected<E>>) constexpr Result(
        U&& value
    )
        : storage_(std::in_place_index<0>, std::forward<U>(value)) {}

    constexpr Result(Unexpected<E> error)  // NOLINT(google-explicit-constructor): implicit by design
        : storage_(std::in_place_index<1>, error.error()) {}

    constexpr bool has_value() const noexcept { return storage_.index() == 0; }
    constexpr explicit operator bool() const noexcept { return has_value(); }

    constexpr Stored& value() & {
        ASSERT(has_value());
        return *std::get_if<0>(&storage_);
    }
    constexpr const Stored& value() const& {
        ASSERT(has_value());
        return *std::get_if<0>(&storage_);
    }
    constexpr Stored&& value() && {
        ASSERT(has_value());
        return std::move(*std::get_if<0>(&storage_));
    }
    constexpr const E& error() const {
        ASSERT(!has_value());
        return *std::get_if<1>(&storage_);
    }
    constexpr Stored& operator*() & { return value(); }
    constexpr const Stored& operator*() const& { return value(); }
    constexpr Stored&& operator*() && { return std::move(*this).value(); }
    constexpr Stored value_or(Stored other) const& { return has_value() ? value() : std::move(other); }
    constexpr Stored* operator->() { return &value(); }
    constexpr const Stored* operator->() const { return &value(); }

  private:
    std::variant<Stored, E> storage_;
};

}  // namespace assay

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a Result) from the enclosing function, or continues.
#define TRY(expression)                                     \
    do {                                                    \
        if (auto try_result = (expression); !try_result) {  \
            return ::assay::Unexpected{try_result.error()}; \
        }                                                   \
    } while (false)

/// `TRY_ASSIGN(auto x, f());` returns f's error from the enclosing function, or initialises x with its value.
#define TRY_ASSIGN(declaration, expression) \
    TRY_ASSIGN_NAMED(ASSAY_CONCAT(try_result_, __LINE__), declaration, expression)
#define TRY_ASSIGN_NAMED(name, declaration, expression) \
    auto name = (expression);                           \
    if (!name) {                                        \
        return ::assay::Unexpected{name.error()};       \
    }                                                   \
    declaration = *std::move(name)
