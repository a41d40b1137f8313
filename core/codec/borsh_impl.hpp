// SPDX-License-Identifier: Apache-2.0
#pragma once

// The templates behind borsh.hpp; included by it alone.

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>

namespace assay::codec {

static_assert(std::endian::native == std::endian::little, "the codec copies integers as they lie in memory");

/// COD-4: whether `text` is UTF-8 without surrogates and overlong forms, up to U+10FFFF.
bool is_utf8(ByteView text) noexcept;

namespace detail {

template <class T>
concept HasFields = requires {
    T::fields();
};
template <class T>
concept ByteEnum = std::is_enum_v<T> && std::is_same_v<std::underlying_type_t<T>, std::uint8_t>;
template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

template <class T>
struct Kind {
    static constexpr bool kFixedBytes = false, kVector = false, kArray = false, kOptional = false, kMap = false,
                          kVariant = false;
};
template <class Tag, std::size_t kSize>
struct Kind<FixedBytes<Tag, kSize>> : Kind<void> {
    static constexpr bool kFixedBytes = true;
};
template <class T>
struct Kind<std::vector<T>> : Kind<void> {
    static constexpr bool kVector = true;
};
template <class T, std::size_t kSize>
struct Kind<std::array<T, kSize>> : Kind<void> {
    static constexpr bool kArray = true;
};
template <class T>
struct Kind<std::optional<T>> : Kind<void> {
    static constexpr bool kOptional = true;
};
template <class K, class V>
struct Kind<std::map<K, V>> : Kind<void> {
    static constexpr bool kMap = true;
};
template <class... Ts>
struct Kind<std::variant<Ts...>> : Kind<void> {
    static constexpr bool kVariant = true;
};

/// Properties of a type's encoding that are known at compile time.
struct Shape {
    std::size_t min_size;  ///< minimum number of bytes of an encoding
    std::size_t nesting;   ///< depth of nested types; a type that contains itself does not compile
};

template <class T>
consteval Shape compute_shape();
/// Evaluated once for each type: a record's shape is asked for by every record that has it.
template <class T>
inline constexpr Shape kShape = compute_shape<T>();

template <class... Ts>
struct Types {
    static consteval std::size_t sum() { return (std::size_t{0} + ... + kShape<Ts>.min_size); }
    static consteval std::size_t least() { return std::min({kShape<Ts>.min_size...}); }
    static consteval std::size_t deepest() { return std::max({std::size_t{0}, kShape<Ts>.nesting...}); }
};
template <class C, class M>
M type_of(M C::*);
template <auto... members>
Types<decltype(type_of(members))...> members_of(Fields<members...>);
template <class... Ts>
Types<Ts...> alternatives_of(const std::variant<Ts...>&);

template <class T>
consteval Shape compute_shape() {
    if constexpr (Integer<T>) {
        return {sizeof(T), 1};
    } else if constexpr (std::is_same_v<T, bool> || ByteEnum<T>) {
        return {1, 1};
    } else if constexpr (std::is_same_v<T, std::string>) {
        return {4, 1};
    } else if constexpr (std::is_same_v<T, std::monostate>) {
        return {0, 1};
    } else if constexpr (Kind<T>::kFixedBytes) {
        return {T::kSizeBytes, 1};
    } else if constexpr (Kind<T>::kVector) {
        return {4, 1 + kShape<typename T::value_type>.nesting};
    } else if constexpr (Kind<T>::kArray) {
        constexpr Shape kElement = kShape<typename T::value_type>;
        return {std::tuple_size_v<T> * kElement.min_size, 1 + kElement.nesting};
    } else if constexpr (Kind<T>::kOptional) {
        return {1, 1 + kShape<typename T::value_type>.nesting};
    } else if constexpr (Kind<T>::kMap) {
        return {4, 1 + Types<typename T::key_type, typename T::mapped_type>::deepest()};
    } else if constexpr (Kind<T>::kVariant) {
        using Alternatives = decltype(alternatives_of(std::declval<T>()));
        return {1 + Alternatives::least(), 1 + Alternatives::deepest()};
    } else {
        static_assert(HasFields<T>, "this type has no Borsh encoding: give it fields()");
        static_assert(kListsEveryMember<T>);
        using Members = decltype(members_of(T::fields()));
        return {Members::sum(), 1 + Members::deepest()};
    }
}

inline void put_raw(Bytes& out, const void* data, std::size_t size) {
    if (size != 0) {
        const std::size_t at = out.size();
        out.resize(at + size);
        std::memcpy(out.data() + at, data, size);
    }
}

inline void put_length(Bytes& out, std::size_t size) {
    ASSERT(size <= std::numeric_limits<std::uint32_t>::max());
    const auto length = static_cast<std::uint32_t>(size);
    put_raw(out, &length, sizeof length);
}

template <class T>
void put(Bytes& out, const T& value);

template <class T>
void put_elements(Bytes& out, const T& values) {
    if constexpr (Integer<typename T::value_type>) {
        put_raw(out, values.data(), values.size() * sizeof(typename T::value_type));
    } else {
        for (const auto& value : values) {
            put(out, value);
        }
    }
}

template <class T>
void put_variant(Bytes& out, const T& value) {
    static_assert(std::variant_size_v<T> <= 256);
    ASSERT(!value.valueless_by_exception());
    out.push_back(static_cast<std::uint8_t>(value.index()));
    std::visit([&out](const auto& alternative) { put(out, alternative); }, value);
}

template <class T, auto... members>
void put_members(Bytes& out, const T& value, Fields<members...>) {
    (put(out, value.*members), ...);
}

template <class T>
void put(Bytes& out, const T& value) {
    if constexpr (Integer<T>) {
        put_raw(out, &value, sizeof value);
    } else if constexpr (std::is_same_v<T, bool>) {
        out.push_back(value ? 1 : 0);
    } else if constexpr (ByteEnum<T>) {
        ASSERT(is_valid(value));
        out.push_back(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
        put_length(out, value.size());
        put_raw(out, value.data(), value.size());
    } else if constexpr (std::is_same_v<T, std::monostate>) {
        // nothing to write
    } else if constexpr (Kind<T>::kFixedBytes) {
        put_raw(out, value.data.data(), value.data.size());
    } else if constexpr (Kind<T>::kVector) {
        put_length(out, value.size());
        put_elements(out, value);
    } else if constexpr (Kind<T>::kArray) {
        put_elements(out, value);
    } else if constexpr (Kind<T>::kOptional) {
        out.push_back(value.has_value() ? 1 : 0);
        if (value.has_value()) {
            put(out, *value);
        }
    } else if constexpr (Kind<T>::kMap) {
        put_length(out, value.size());
        for (const auto& [key, mapped] : value) {
            put(out, key);
            put(out, mapped);
        }
    } else if constexpr (Kind<T>::kVariant) {
        put_variant(out, value);
    } else {
        static_assert(kListsEveryMember<T>);
        put_members(out, value, T::fields());
    }
}

/// The rest of the input. A read that fails returns false and sets `error`.
struct Reader {
    ByteView rest;
    DecodeError error = DecodeError::kTruncated;

    bool fail(DecodeError why) {
        error = why;
        return false;
    }
    bool raw(void* out, std::size_t size) {
        if (rest.size() < size) {
            return fail(DecodeError::kTruncated);
        }
        if (size != 0) {
            std::memcpy(out, rest.data(), size);
        }
        rest = rest.subspan(size);
        return true;
    }
    /// COD-5: reads an element count. Fails if that many elements of at least `min_size` bytes do not fit in the rest.
    bool length(std::uint32_t& out, std::size_t min_size) {
        if (!raw(&out, sizeof out)) {
            return false;
        }
        return out <= rest.size() / min_size || fail(DecodeError::kLengthTooLong);
    }
};

template <class T>
bool get(Reader& in, T& out);

template <class T>
bool get_vector(Reader& in, T& out) {
    using Element = typename T::value_type;
    static_assert(!std::is_same_v<Element, bool>, "std::vector<bool> has no contiguous elements");
    constexpr std::size_t kMinSize = kShape<Element>.min_size;
    static_assert(kMinSize > 0, "elements without bytes would let a length cost memory that the input does not have");
    std::uint32_t count = 0;
    if (!in.length(count, kMinSize)) {
        return false;
    }
    out.clear();
    if constexpr (Integer<Element>) {
        out.resize(count);
        return in.raw(out.data(), count * sizeof(Element));
    } else {
        out.reserve(std::min<std::size_t>(count, in.rest.size() / sizeof(Element)));
        for (std::uint32_t i = 0; i < count; ++i) {
            if (!get(in, out.emplace_back())) {
                return false;
            }
        }
        return true;
    }
}

template <class T>
bool get_map(Reader& in, T& out) {
    constexpr std::size_t kMinSize = kShape<typename T::key_type>.min_size + kShape<typename T::mapped_type>.min_size;
    static_assert(kMinSize > 0);
    std::uint32_t count = 0;
    if (!in.length(count, kMinSize)) {
        return false;
    }
    out.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        typename T::key_type key{};
        typename T::mapped_type mapped{};
        if (!get(in, key)) {
            return false;
        }
        if (!out.empty() && !(out.rbegin()->first < key)) {
            return in.fail(DecodeError::kKeysNotSorted);
        }
        if (!get(in, mapped)) {
            return false;
        }
        out.emplace_hint(out.end(), std::move(key), std::move(mapped));
    }
    return true;
}

template <class T, std::size_t... kIndex>
bool get_variant(Reader& in, T& out, std::index_sequence<kIndex...>) {
    std::uint8_t tag = 0;
    if (!in.raw(&tag, 1)) {
        return false;
    }
    if (tag >= sizeof...(kIndex)) {
        return in.fail(DecodeError::kBadTag);
    }
    bool done = false;
    static_cast<void>(((tag == kIndex && (done = get(in, out.template emplace<kIndex>()), true)) || ...));
    return done;
}

template <class T>
bool get_flag(Reader& in, T& out, DecodeError otherwise) {
    std::uint8_t byte = 0;
    if (!in.raw(&byte, 1)) {
        return false;
    }
    out = byte == 1;
    return byte <= 1 || in.fail(otherwise);
}

template <class T>
bool get_enum(Reader& in, T& out) {
    std::uint8_t byte = 0;
    if (!in.raw(&byte, 1)) {
        return false;
    }
    out = static_cast<T>(byte);
    return is_valid(out) || in.fail(DecodeError::kBadTag);
}

inline bool get_string(Reader& in, std::string& out) {
    std::uint32_t size = 0;
    if (!in.length(size, 1)) {
        return false;
    }
    if (!is_utf8(in.rest.first(size))) {
        return in.fail(DecodeError::kBadUtf8);
    }
    out.resize(size);
    return in.raw(out.data(), size);
}

template <class T>
bool get_array(Reader& in, T& out) {
    if constexpr (Integer<typename T::value_type>) {
        return in.raw(out.data(), out.size() * sizeof(typename T::value_type));
    } else {
        return std::all_of(out.begin(), out.end(), [&in](auto& element) { return get(in, element); });
    }
}

template <class T>
bool get_optional(Reader& in, T& out) {
    bool present = false;
    if (!get_flag(in, present, DecodeError::kBadTag)) {
        return false;
    }
    out.reset();
    return !present || get(in, out.emplace());
}

template <class T, auto... members>
bool get_members(Reader& in, T& out, Fields<members...>) {
    return (get(in, out.*members) && ...);
}

template <class T>
bool get(Reader& in, T& out) {
    if constexpr (Integer<T>) {
        return in.raw(&out, sizeof out);
    } else if constexpr (std::is_same_v<T, bool>) {
        return get_flag(in, out, DecodeError::kBadBool);
    } else if constexpr (ByteEnum<T>) {
        return get_enum(in, out);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return get_string(in, out);
    } else if constexpr (std::is_same_v<T, std::monostate>) {
        return true;
    } else if constexpr (Kind<T>::kFixedBytes) {
        return in.raw(out.data.data(), out.data.size());
    } else if constexpr (Kind<T>::kVector) {
        return get_vector(in, out);
    } else if constexpr (Kind<T>::kArray) {
        return get_array(in, out);
    } else if constexpr (Kind<T>::kOptional) {
        return get_optional(in, out);
    } else if constexpr (Kind<T>::kMap) {
        return get_map(in, out);
    } else if constexpr (Kind<T>::kVariant) {
        return get_variant(in, out, std::make_index_sequence<std::variant_size_v<T>>{});
    } else {
        return get_members(in, out, T::fields());
    }
}

}  // namespace detail

/// Appends the encoding of `value` to `out`.
template <class T>
void encode_to(Bytes& out, const T& value) {
    static_assert(detail::kShape<T>.nesting <= 64);
    detail::put(out, value);
}

template <class T>
Bytes encode(const T& value) {
    Bytes out;
    out.reserve(detail::kShape<T>.min_size);
    encode_to(out, value);
    return out;
}

template <class T>
Result<T, DecodeError> decode(ByteView bytes) {
    static_assert(detail::kShape<T>.nesting <= 64);
    detail::Reader in{bytes};
    T out{};
    if (!detail::get(in, out)) {
        return Unexpected{in.error};
    }
    if (!in.rest.empty()) {
        return Unexpected{DecodeError::kTrailingBytes};
    }
    return out;
}

}  // namespace assay::codec
