// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/spec/schema.hpp>

/// The generated files of the specification.
namespace assay::spec {

using Json = nlohmann::ordered_json;

/// docs/protocol/schema.json and schema.md.
Json schema_json(const Schema& schema);
std::string schema_tables(const Schema& schema);

/// How many cases of a type the digests of conformance.json cover.
inline constexpr std::size_t kCaseCounts[] = {64, 1'024, 65'536};
/// tests/vectors/conformance.json, with the digests of at most `limit` cases. Types are shared out to all cores.
Json conformance_json(const Schema& schema, std::size_t limit);

/// tests/vectors/primitives.json, encodings.json and positions.json.
Json primitives_json();
Json encodings_json();
Json positions_json();

/// docs/rpc/openrpc.json and methods.md.
Json openrpc_json();
std::string rpc_page();

struct GeneratedFile {
    std::string path;  ///< from the root of the source tree
    std::string text;
};
std::vector<GeneratedFile> generate_files();

}  // namespace assay::spec
