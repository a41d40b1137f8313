// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/base/member_name.hpp>

/// The names of types, members and enumerators as the source spells them, read from the compiler's description of a
/// template's arguments. g++ and clang describe them alike up to the brackets around packs.
namespace assay::spec {

namespace detail {

template <class T>
constexpr std::string_view describe_type() {
    return __PRETTY_FUNCTION__;
}
template <class E, E... values>
constexpr std::string_view describe_values() {
    return __PRETTY_FUNCTION__;
}

/// The text of the argument that the description names `parameter`.
std::string_view argument(std::string_view description, std::string_view parameter);
/// The elements of a described pack, in order.
std::vector<std::string_view> elements(std::string_view pack);

template <class E, std::size_t... numbers>
std::string_view describe_numbers(std::index_sequence<numbers...>) {
    return describe_values<E, static_cast<E>(numbers)...>();
}

}  // namespace detail

/// The last part of a qualified name.
std::string_view last_part(std::string_view name);

/// The qualified name of a struct or enum, such as "assay::contracts::Task".
template <class T>
std::string_view full_name() {
    return detail::argument(detail::describe_type<T>(), "T");
}

struct Enumerator {
    std::uint8_t number = 0;
    std::string name;  ///< in snake case, without the leading k
    bool operator==(const Enumerator&) const = default;
};

/// "kMissedDeadline" -> "missed_deadline".
std::string to_snake(std::string_view enumerator);

/// The enumerators of an enum over a byte, by number.
template <class E>
std::vector<Enumerator> enumerators() {
    std::vector<Enumerator> out;
    const auto pack = detail::argument(detail::describe_numbers<E>(std::make_index_sequence<256>{}), "values");
    unsigned number = 0;
    for (const std::string_view text : detail::elements(pack)) {
        if (text.front() != '(') {  // a number without an enumerator is described as a cast
            out.push_back({static_cast<std::uint8_t>(number), to_snake(last_part(text))});
        }
        ++number;
    }
    return out;
}

}  // namespace assay::spec
