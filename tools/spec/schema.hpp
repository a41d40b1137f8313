// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <tools/spec/names.hpp>

/// The encoded types of the protocol, their state slots and their hashes, as data.
///
/// A type is written as text: u8 to u64, i32, i64, bool, string, unit, option<T>, vec<T>, [T; n], map<K, V>,
/// variant<A, B> (index u8), or the name of a record, variant, enumeration or byte array.
namespace assay::spec {

struct Field {
    std::string name;
    std::string type;
};

struct Record {
    std::vector<Field> fields;  ///< in the order of the encoding
    std::size_t least_bytes = 0;
};

struct Alternative {
    std::string name;  ///< of an action or event as RPC writes it; else the name of its type
    std::string type;
};

/// What the encoding of a slot's key has behind its first byte, and what the slot holds.
struct Slot {
    std::uint8_t prefix = 0;
    std::string name;         ///< of the prefix
    std::vector<Field> rest;  ///< numbers are big-endian
    std::string value;
};

struct Tag {
    std::string tag;
    std::vector<Field> data;  ///< one behind the other; "raw" is bytes without a length
    std::string digest;       ///< what the digest is
};

/// The stream of random cases of one type; conformance.md has the rules.
class Cases {
  public:
    virtual ~Cases() = default;
    /// The encoding of the next case. Aborts if it does not decode to the same value.
    virtual Bytes next() = 0;
    /// Whether `bytes` encode a value of the type.
    virtual bool is_encoding(ByteView bytes) const = 0;
};

struct Schema {
    std::map<std::string, std::size_t> byte_arrays;  ///< name and size
    std::map<std::string, Record> records;
    std::map<std::string, std::vector<Alternative>> variants;
    std::map<std::string, std::vector<Enumerator>> enumerations;
    std::map<std::string, std::vector<Enumerator>> errors;
    std::vector<Slot> slots;  ///< in the order of their prefixes
    std::vector<Tag> tags;
    /// For each record and named variant: a new stream of its cases.
    std::map<std::string, std::function<std::unique_ptr<Cases>()>> cases;
};

/// The protocol's schema, made from the types themselves.
Schema make_schema();

/// The slots and tags, whose layouts no type tells; they are checked by tests.
class Walker;
std::vector<Slot> list_slots(Walker& walker);
std::vector<Tag> list_tags();

}  // namespace assay::spec
