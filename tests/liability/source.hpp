// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <typeindex>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// Values of any type that a transaction may carry, made without knowing what the type means.
namespace assay::liability {

template <class T>
concept Record = requires {
    T::fields();
};

/// Makes values from what an attacker has seen and from edges.
///
/// learn() takes a value apart through fields() and remembers it and each of its parts by type. make() returns a value
/// seen before, one with some parts replaced, or a new one built from parts. So whatever honest parties send (openings,
/// proofs, specifications, commitments) comes back whole, damaged and in other messages, and a new action is generated
/// as soon as it is in the list of actions. A type that is neither a record nor one of the kinds below does not
/// compile.
class Source {
  public:
    explicit Source(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool chance(std::uint32_t percent) { return below(100) < percent; }

    template <class T>
    void learn(const T& value);
    template <class T>
    T make(int depth = 0);

  private:
    static constexpr std::size_t kRemembered = 48;  ///< values of one type
    static constexpr int kDeepest = 6;

    template <class T>
    std::vector<T>& seen() {
        std::any& values = seen_[std::type_index(typeid(T))];
        if (!values.has_value()) {
            values = std::vector<T>{};
        }
        return *std::any_cast<std::vector<T>>(&values);
    }
    template <class T>
    void remember(const T& value) {
        std::vector<T>& values = seen<T>();
        if (values.size() < kRemembered) {
            values.push_back(value);
        } else {
            values[below(kRemembered)] = value;
        }
    }
    template <class T>
    std::optional<T> recall() {
        const std::vector<T>& values = seen<T>();
        return values.empty() ? std::nullopt : std::optional<T>(values[below(values.size())]);
    }

    template <class T>
    T make_number();
    template <class T>
    T make_record(int depth);
    template <class T>
    T make_enumerator();

    std::mt19937_64 random_;
    std::map<std::type_index, std::any> seen_;
};

// --- kinds of types ------------------------------------------------------------------------------------------

template <class T>
struct Kind {
    static constexpr bool kVector = false, kOptional = false, kArray = false, kVariant = false, kFixed = false;
};
template <class E>
struct Kind<std::vector<E>> : Kind<void> {
    static constexpr bool kVector = true;
    using Element = E;
};
template <class E>
struct Kind<std::optional<E>> : Kind<void> {
    static constexpr bool kOptional = true;
    using Element = E;
};
template <class E, std::size_t n>
struct Kind<std::array<E, n>> : Kind<void> {
    static constexpr bool kArray = true;
    using Element = E;
};
template <class... A>
struct Kind<std::variant<A...>> : Kind<void> {
    static constexpr bool kVariant = true;
};
template <class Tag, std::size_t n>
struct Kind<FixedBytes<Tag, n>> : Kind<void> {
    static constexpr bool kFixed = true;
};

/// Calls `f` with each member of a record.
template <Record T, class F>
void for_each_member(T& record, F&& f) {
    [&]<auto... members>(Fields<members...>) { (f(record.*members), ...); }
    (std::remove_const_t<T>::fields());
}

template <class T>
void Source::learn(const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
        // There are few of these; make() goes through all.
    } else if constexpr (Record<T>) {
        remember(value);
        for_each_member(value, [this](const auto& member) { learn(member); });
    } else if constexpr (std::integral<T> || Kind<T>::kFixed || std::is_same_v<T, std::string>) {
        remember(value);
    } else if constexpr (Kind<T>::kVector) {
        remember(value);
        if constexpr (sizeof(typename Kind<T>::Element) > 1) {
            for (const auto& element : value) {
                learn(element);
            }
        }
    } else if constexpr (Kind<T>::kOptional) {
        if (value) {
            learn(*value);
        }
    } else if constexpr (Kind<T>::kArray) {
        for (const auto& element : value) {
            learn(element);
        }
    } else {
        static_assert(Kind<T>::kVariant, "a type that the generator of attacks has no source for");
        std::visit([this](const auto& alternative) { learn(alternative); }, value);
    }
}

template <class T>
T Source::make_number() {
    constexpr T kMost = std::numeric_limits<T>::max();
    switch (below(4)) {
        case 0: {
            const std::array<T, 6> edges{0, 1, 2, 3, kMost, static_cast<T>(kMost - 1)};
            return edges[below(edges.size())];
        }
        case 1:
            return static_cast<T>(below(16));
        default:
            if (auto known = recall<T>()) {
                if (chance(20)) {
                    chance(50) ? ++*known : --*known;
                }
                return *known;
            }
            return static_cast<T>(random_());
    }
}

template <class T>
T Source::make_enumerator() {
    std::vector<T> valid;
    for (unsigned number = 0; number < 256; ++number) {
        const auto value = static_cast<T>(number);
        if (is_valid(value)) {
            valid.push_back(value);
        }
    }
    return valid.at(below(valid.size()));
}

template <class T>
T Source::make_record(int depth) {
    const auto known = chance(depth == 0 ? 60 : 80) ? recall<T>() : std::nullopt;
    T record = known ? *known : T{};
    // Of a known record few members change, or none; of a new one all.
    for_each_member(record, [&](auto& member) {
        if (!known || chance(25)) {
            member = make<std::remove_reference_t<decltype(member)>>(depth + 1);
        }
    });
    return record;
}

template <class T>
T Source::make(int depth) {
    if constexpr (std::is_same_v<T, bool>) {
        return chance(50);
    } else if constexpr (std::is_enum_v<T>) {
        return make_enumerator<T>();
    } else if constexpr (std::integral<T>) {
        return make_number<T>();
    } else if constexpr (Record<T>) {
        return make_record<T>(depth);
    } else if constexpr (Kind<T>::kFixed) {
        T bytes;
        const auto known = chance(85) ? recall<T>() : std::nullopt;
        if (known) {
            return *known;
        }
        std::generate(bytes.data.begin(), bytes.data.end(), [this] { return static_cast<std::uint8_t>(random_()); });
        return bytes;
    } else if constexpr (std::is_same_v<T, std::string>) {
        const auto known = recall<T>();
        return known && chance(70) ? *known : std::string(below(70), static_cast<char>('!' + below(90)));
    } else if constexpr (Kind<T>::kVector) {
        auto known = chance(60) ? recall<T>() : std::nullopt;
        T values = known ? *std::move(known) : T{};
        if ((values.empty() || chance(30)) && depth < kDeepest) {
            values.resize(below(5));
            for (auto& value : values) {
                value = make<typename Kind<T>::Element>(depth + 1);
            }
        }
        return values;
    } else if constexpr (Kind<T>::kOptional) {
        return chance(50) ? T{make<typename Kind<T>::Element>(depth + 1)} : T{};
    } else if constexpr (Kind<T>::kArray) {
        T values{};
        for (auto& value : values) {
            value = make<typename Kind<T>::Element>(depth + 1);
        }
        return values;
    } else {
        static_assert(Kind<T>::kVariant, "a type that the generator of attacks has no source for");
        T made;
        const std::size_t wanted = below(std::variant_size_v<T>);
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            ((i == wanted ? static_cast<void>(made = make<std::variant_alternative_t<i, T>>(depth)) : void()), ...);
        }
        (std::make_index_sequence<std::variant_size_v<T>>{});
        return made;
    }
}

}  // namespace assay::liability
