// SPDX-License-Identifier: Apache-2.0
#include <client/referee/json.hpp>

#include <utility>

namespace assay::referee {
namespace {

constexpr std::uint64_t kMaxExact = (std::uint64_t{1} << 53U) - 1;
constexpr std::string_view kDigits = "0123456789abcdef";

std::string decimal(std::uint64_t value) {
    std::string out;
    do {
        out.insert(out.begin(), static_cast<char>('0' + value % 10));
        value /= 10;
    } while (value != 0);
    return out;
}

}  // namespace

void JsonWriter::quote(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte < 0x20U) {
            out_ += "\\u00";
            out_ += kDigits[byte >> 4U];
            out_ += kDigits[byte & 15U];
        } else {
            if (c == '"' || c == '\\') {
                out_ += '\\';
            }
            out_ += c;
        }
    }
    out_ += '"';
}

void JsonWriter::name(std::string_view name) {
    if (!is_first_) {
        out_ += ',';
    }
    is_first_ = false;
    quote(name);
    out_ += ':';
}

void JsonWriter::open(std::string_view bracket) {
    out_ += bracket;
    is_first_ = true;
}

JsonWriter& JsonWriter::close(std::string_view bracket) {
    out_ += bracket;
    is_first_ = false;
    return *this;
}

JsonWriter& JsonWriter::text(std::string_view member, std::string_view value) {
    name(member);
    quote(value);
    return *this;
}

JsonWriter& JsonWriter::number(std::string_view member, std::uint64_t value) {
    if (value > kMaxExact) {
        return text(member, decimal(value));
    }
    name(member);
    out_ += decimal(value);
    return *this;
}

JsonWriter& JsonWriter::boolean(std::string_view member, bool value) {
    name(member);
    out_ += value ? "true" : "false";
    return *this;
}

JsonWriter& JsonWriter::null(std::string_view member) {
    name(member);
    out_ += "null";
    return *this;
}

JsonWriter& JsonWriter::hex(std::string_view member, ByteView value) { return text(member, to_hex(value)); }

JsonWriter& JsonWriter::begin_object(std::string_view member) {
    name(member);
    open("{");
    return *this;
}

JsonWriter& JsonWriter::begin_array(std::string_view member) {
    name(member);
    open("[");
    return *this;
}

JsonWriter& JsonWriter::begin_element() {
    if (!is_first_) {
        out_ += ',';
    }
    open("{");
    return *this;
}

std::string JsonWriter::finish() {
    close("}");
    return std::exchange(out_, {});
}

}  // namespace assay::referee
