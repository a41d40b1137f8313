// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>

namespace assay::referee {

/// Writes one JSON object, member by member, without a library: nlohmann's takes more than the whole module.
class JsonWriter {
  public:
    JsonWriter() { open("{"); }

    JsonWriter& text(std::string_view name, std::string_view value);
    /// A number up to 2^53 - 1, which JavaScript holds exactly; above, its decimal digits as a string.
    JsonWriter& number(std::string_view name, std::uint64_t value);
    JsonWriter& boolean(std::string_view name, bool value);
    JsonWriter& null(std::string_view name);
    JsonWriter& hex(std::string_view name, ByteView value);
    template <class Tag, std::size_t kSize>
    JsonWriter& hex(std::string_view name, const FixedBytes<Tag, kSize>& value) {
        return hex(name, value.view());
    }
    JsonWriter& begin_object(std::string_view name);
    JsonWriter& begin_array(std::string_view name);
    /// An object as the next element of an array.
    JsonWriter& begin_element();
    JsonWriter& end_object() { return close("}"); }
    JsonWriter& end_array() { return close("]"); }

    /// The whole object. Nothing may be open any more.
    std::string finish();

  private:
    void name(std::string_view name);
    void quote(std::string_view text);
    void open(std::string_view bracket);
    JsonWriter& close(std::string_view bracket);

    std::string out_;
    bool is_first_ = true;
};

}  // namespace assay::referee
