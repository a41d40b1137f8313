// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/codec/borsh.hpp>

/// Random values of every encoded type, by the rules that docs/protocol/conformance.md gives to other implementations.
namespace assay::spec {

/// SplitMix64.
class Words {
  public:
    explicit Words(std::uint64_t state) : state_(state) {}
    /// The stream of a named type: it starts from the first eight bytes, little-endian, of SHA-256 of the name.
    static Words of(std::string_view name);
    std::uint64_t next();
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  private:
    std::uint64_t state_;
};

/// CNF-3: `count` bytes, eight of each word, little-endian; the rest of the last word is dropped.
void fill(Words& words, std::uint8_t* to, std::size_t count);
/// CNF-4.
std::string make_text(Words& words);

/// CNF-2: an integer of any kind: one word chooses how, sometimes a second is the value.
template <class T>
T make_integer(Words& words) {
    using U = std::make_unsigned_t<T>;
    const std::uint64_t word = words.next();
    switch (word % 8) {
        case 0:
            return T{0};
        case 1:
            return static_cast<T>(static_cast<U>(~U{0}));
        case 2:
            return static_cast<T>(static_cast<U>(U{1} << (8 * sizeof(U) - 1)));
        case 3:
        case 4:
            return static_cast<T>(static_cast<U>((word >> 3) % 256));
        default:
            return static_cast<T>(static_cast<U>(words.next()));
    }
}

template <class T>
T make_value(Words& words);

/// CNF-5: the defined numbers of an enum in ascending order; one word chooses.
template <class E>
E make_enumerator(Words& words) {
    static const std::vector<E> kDefined = [] {
        std::vector<E> out;
        for (unsigned number = 0; number < 256; ++number) {
            if (is_valid(static_cast<E>(number))) {
                out.push_back(static_cast<E>(number));
            }
        }
        return out;
    }();
    return kDefined[words.below(kDefined.size())];
}

template <class T, std::size_t... index>
T make_alternative(Words& words, std::index_sequence<index...>) {
    const std::uint64_t chosen = words.below(sizeof...(index));
    T out;
    ((chosen == index
          ? static_cast<void>(out.template emplace<index>(make_value<std::variant_alternative_t<index, T>>(words)))
          : static_cast<void>(0)),
     ...);
    return out;
}

template <class T>
T make_sequence(Words& words) {
    using Element = typename T::value_type;
    T out;
    if constexpr (std::is_same_v<Element, std::uint8_t>) {
        out.resize(words.below(17));
        fill(words, out.data(), out.size());
    } else {
        const std::uint64_t count = words.below(4);
        for (std::uint64_t i = 0; i < count; ++i) {
            out.push_back(make_value<Element>(words));
        }
    }
    return out;
}

template <class T>
T make_map(Words& words) {
    T out;
    const std::uint64_t count = words.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
        auto key = make_value<typename T::key_type>(words);
        out.emplace(std::move(key), make_value<typename T::mapped_type>(words));
    }
    return out;
}

template <class T, auto... members>
void make_members(Words& words, T& out, Fields<members...>) {
    ((out.*members = make_value<std::remove_reference_t<decltype(out.*members)>>(words)), ...);
}

/// A value of any encoded type. The words are used up in the order of the encoding.
template <class T>
T make_value(Words& words) {
    using Kind = codec::detail::Kind<T>;
    if constexpr (std::is_same_v<T, bool>) {
        return words.below(2) == 1;
    } else if constexpr (codec::detail::Integer<T>) {
        return make_integer<T>(words);
    } else if constexpr (codec::detail::ByteEnum<T>) {
        return make_enumerator<T>(words);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return make_text(words);
    } else if constexpr (std::is_same_v<T, std::monostate>) {
        return {};
    } else if constexpr (Kind::kFixedBytes) {
        T out;
        fill(words, out.data.data(), out.data.size());
        return out;
    } else if constexpr (Kind::kVector) {
        return make_sequence<T>(words);
    } else if constexpr (Kind::kArray) {
        T out{};
        std::generate(out.begin(), out.end(), [&words] { return make_value<typename T::value_type>(words); });
        return out;
    } else if constexpr (Kind::kOptional) {
        return words.below(2) == 1 ? T{make_value<typename T::value_type>(words)} : T{};
    } else if constexpr (Kind::kMap) {
        return make_map<T>(words);
    } else if constexpr (Kind::kVariant) {
        return make_alternative<T>(words, std::make_index_sequence<std::variant_size_v<T>>{});
    } else {
        T out{};
        make_members(words, out, T::fields());
        return out;
    }
}

}  // namespace assay::spec
