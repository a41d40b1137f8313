// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <contracts/transaction/transaction.hpp>
#include <tools/spec/random_value.hpp>
#include <tools/spec/schema.hpp>

/// Walks encoded types by their fields() and writes down what it meets.
namespace assay::spec {

template <class T>
class CasesOf final : public Cases {
  public:
    explicit CasesOf(const std::string& name) : words_(Words::of(name)) {}

    Bytes next() override {
        const T value = make_value<T>(words_);
        Bytes bytes = codec::encode(value);
        const auto decoded = codec::decode<T>(bytes);
        ASSERT(decoded.has_value());
        if constexpr (codec::detail::HasFields<T> && std::equality_comparable<T>) {
            ASSERT(*decoded == value);
        }
        ASSERT(codec::encode(*decoded) == bytes);
        return bytes;
    }
    bool is_encoding(ByteView bytes) const override { return codec::decode<T>(bytes).has_value(); }

  private:
    Words words_;
};

/// The variants that the protocol names; every other one is written out where it stands.
template <class T>
struct NamedVariant {
    static constexpr const char* kName = nullptr;
};
template <>
struct NamedVariant<contracts::Action> {
    static constexpr const char* kName = "Action";
};
template <>
struct NamedVariant<contracts::HistoryEvent> {
    static constexpr const char* kName = "HistoryEvent";
};
/// If it is a variant.
template <>
struct NamedVariant<contracts::ResultCheck> {
    static constexpr const char* kName = "ResultCheck";
};
template <>
struct NamedVariant<contracts::DrawnOpening> {
    static constexpr const char* kName = "DrawnOpening";
};
template <>
struct NamedVariant<dispute::Proof> {
    static constexpr const char* kName = "Proof";
};

/// The name of a struct, enum or tag in the schema: as in the source, without the namespace of its layer.
std::string schema_name(std::string_view full_name);

class Walker {
  public:
    explicit Walker(Schema& schema) : schema_(schema) {}

    /// The type's text. What it names is added to the schema first.
    template <class T>
    std::string type();

    /// Adds an enum that no field has.
    template <class E>
    void enumeration();
    template <class E>
    void error();

  private:
    template <class Tag, std::size_t size>
    std::string byte_array(const FixedBytes<Tag, size>*) {
        std::string name = schema_name(full_name<Tag>());
        ASSERT(name.ends_with("Tag"));
        name.resize(name.size() - 3);
        schema_.byte_arrays[name] = size;
        return name;
    }
    template <class... A>
    std::string join(const std::variant<A...>*) {
        std::string out;
        ((out += (out.empty() ? "" : ", ") + type<A>()), ...);
        return "variant<" + out + ">";
    }
    template <class T>
    std::string record();
    template <class T, auto... members>
    std::vector<Field> members_of(Fields<members...>);
    template <class T, std::size_t... index>
    void variant(const std::string& name, std::index_sequence<index...>);
    template <class T>
    void add_cases(const std::string& name) {
        schema_.cases[name] = [name] { return std::unique_ptr<Cases>(std::make_unique<CasesOf<T>>(name)); };
    }
    /// The words that RPC writes are the enumerators'.
    template <class E>
    static void check_names(const std::vector<Enumerator>& all) {
        if constexpr (requires(E e) { to_string(e); }) {
            for (const Enumerator& e : all) {
                ASSERT(to_string(static_cast<E>(e.number)) == e.name);
            }
        }
    }
    /// Whether the name is new. Two types of one name would hide each other.
    bool enter(const std::string& name, std::string_view full);

    Schema& schema_;
    std::map<std::string, std::string> met_;  ///< name in the schema and in the source
};

template <class T, auto... members>
std::vector<Field> Walker::members_of(Fields<members...>) {
    std::vector<Field> out;
    (out.push_back(
         {std::string(member_name<members>()), type<std::remove_reference_t<decltype(std::declval<T&>().*members)>>()}
     ),
     ...);
    return out;
}

template <class T>
std::string Walker::record() {
    std::string name = schema_name(full_name<T>());
    if (enter(name, full_name<T>())) {
        schema_.records[name] = {members_of<T>(T::fields()), codec::detail::kShape<T>.min_size};
        add_cases<T>(name);
    }
    return name;
}

template <class T, std::size_t... index>
void Walker::variant(const std::string& name, std::index_sequence<index...>) {
    std::vector<Alternative> alternatives{{"", type<std::variant_alternative_t<index, T>>()}...};
    const auto spoken = [&alternatives](const T& value) -> std::string {
        if constexpr (std::is_same_v<T, contracts::Action>) {
            return contracts::action_name(value);
        } else if constexpr (std::is_same_v<T, contracts::HistoryEvent>) {
            return contracts::event_name(value);
        } else if constexpr (std::is_same_v<T, contracts::ResultCheck>) {
            return contracts::check_name(value);
        } else {
            return alternatives[value.index()].type;
        }
    };
    ((alternatives[index].name = spoken(T(std::in_place_index<index>))), ...);
    schema_.variants[name] = std::move(alternatives);
    add_cases<T>(name);
}

template <class E>
void Walker::enumeration() {
    const std::string name = schema_name(full_name<E>());
    if (!enter(name, full_name<E>())) {
        return;
    }
    schema_.enumerations[name] = enumerators<E>();
    if constexpr (requires(E e) { is_valid(e); }) {
        std::size_t defined = 0;
        for (unsigned number = 0; number < 256; ++number) {
            if (is_valid(static_cast<E>(number))) {
                ++defined;
            }
        }
        ASSERT(defined == schema_.enumerations[name].size());
    }
    check_names<E>(schema_.enumerations[name]);
}

template <class E>
void Walker::error() {
    const std::string name = schema_name(full_name<E>());
    if (enter(name, full_name<E>())) {
        schema_.errors[name] = enumerators<E>();
        check_names<E>(schema_.errors[name]);
    }
}

template <class T>
std::string Walker::type() {
    using Kind = codec::detail::Kind<T>;
    if constexpr (std::is_same_v<T, bool>) {
        return "bool";
    } else if constexpr (codec::detail::Integer<T>) {
        return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
    } else if constexpr (std::is_same_v<T, std::string>) {
        return "string";
    } else if constexpr (std::is_same_v<T, std::monostate>) {
        return "unit";
    } else if constexpr (codec::detail::ByteEnum<T>) {
        enumeration<T>();
        return schema_name(full_name<T>());
    } else if constexpr (Kind::kFixedBytes) {
        return byte_array(static_cast<const T*>(nullptr));
    } else if constexpr (Kind::kVector) {
        return "vec<" + type<typename T::value_type>() + ">";
    } else if constexpr (Kind::kArray) {
        return "[" + type<typename T::value_type>() + "; " + std::to_string(std::tuple_size_v<T>) + "]";
    } else if constexpr (Kind::kOptional) {
        return "option<" + type<typename T::value_type>() + ">";
    } else if constexpr (Kind::kMap) {
        return "map<" + type<typename T::key_type>() + ", " + type<typename T::mapped_type>() + ">";
    } else if constexpr (Kind::kVariant) {
        if constexpr (NamedVariant<T>::kName != nullptr) {
            if (enter(NamedVariant<T>::kName, NamedVariant<T>::kName)) {
                variant<T>(NamedVariant<T>::kName, std::make_index_sequence<std::variant_size_v<T>>{});
            }
            return NamedVariant<T>::kName;
        } else {
            return join(static_cast<const T*>(nullptr));
        }
    } else {
        return record<T>();
    }
}

}  // namespace assay::spec
