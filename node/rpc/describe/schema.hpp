// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Building blocks of the JSON schemas (draft 7) with which the node describes its methods.
namespace assay::rpc::describe {

/// Members keep their order, for whoever reads the document.
using Schema = nlohmann::ordered_json;

/// A member of an object. All members that an object may have are always there; null says that there is nothing.
struct Member {
    std::string name;
    Schema schema;
    std::string text = {};  ///< what it is; may be empty where the name says it
};
using Members = std::vector<Member>;

/// An object with exactly these members.
Schema object(const Members& members);
/// The members of `first`, then those of `second`.
Members join(Members first, const Members& second);
Schema array(Schema items);
Schema nullable(Schema schema);
/// One of several shapes.
Schema any_of(std::vector<Schema> schemas);
/// A schema of the document's components, by its name.
Schema ref(const std::string& name);

Schema text();
Schema flag();
Schema integer();         ///< from 0 on
Schema signed_integer();  ///< of 32 bits
Schema number();
Schema constant(const std::string& value);
Schema one_of(const std::vector<std::string>& words);
/// The words of an enum that counts from 1 to `last`.
template <class E>
Schema words(E last, const char* (*to_text)(E)) {
    std::vector<std::string> out;
    for (std::uint8_t i = 1; i <= static_cast<std::uint8_t>(last); ++i) {
        out.emplace_back(to_text(static_cast<E>(i)));
    }
    return one_of(out);
}

// References to the schemas that add_common() defines.
Schema hash();     ///< 32 bytes in hex
Schema hex();      ///< bytes
Schema account();  ///< an address
Schema amount();   ///< grains, as a decimal string
Schema height();

void add_common(Schema& components);

}  // namespace assay::rpc::describe
