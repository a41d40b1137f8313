// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/worker/journal.hpp>
#include <verifier/worker/journal_file.hpp>

/// How the journal's values are written into columns of its tables, and read from them.
namespace assay::worker::journal {

using Row = JournalFile::Row;
using Value = JournalFile::Value;

template <class Fixed>
Value to_value(const Fixed& fixed) {
    const ByteView view = fixed.view();
    return Bytes(view.begin(), view.end());
}
inline Value to_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }
template <class T>
Value to_value(const std::optional<T>& value) {
    return value ? to_value(*value) : Value();
}

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

/// A column that is of another type than was written is damage.
template <class T>
const T& get(const Value& value) {
    const T* const out = std::get_if<T>(&value);
    if (out == nullptr) {
        throw JournalError("a column has another type than this version writes");
    }
    return *out;
}

inline std::uint64_t number_of(const Value& value) { return static_cast<std::uint64_t>(get<std::int64_t>(value)); }

template <class Fixed>
Fixed fixed_of(const Value& value) {
    const Bytes& bytes = get<Bytes>(value);
    Fixed out;
    if (bytes.size() != out.data.size()) {
        throw JournalError(
            "a hash has " + std::to_string(bytes.size()) + " bytes instead of " + std::to_string(out.data.size())
        );
    }
    std::copy(bytes.begin(), bytes.end(), out.data.begin());
    return out;
}

inline std::optional<Hash256> optional_hash(const Value& value) {
    return is_null(value) ? std::nullopt : std::optional(fixed_of<Hash256>(value));
}

inline contracts::TaskId task_of(const Row& row) { return fixed_of<contracts::TaskId>(row.at(0)); }

inline Journal::Place place_of(const Row& row) {
    return {task_of(row), static_cast<std::uint32_t>(number_of(row.at(1)))};
}

template <class T>
T decode(const Value& value) {
    auto out = codec::decode<T>(get<Bytes>(value));
    if (!out) {
        throw JournalError("a record cannot be decoded");
    }
    return *std::move(out);
}

}  // namespace assay::worker::journal
