// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/files.hpp>

namespace assay::spec {

std::vector<GeneratedFile> generate_files() {
    const Schema schema = make_schema();
    const auto dump = [](const Json& json) { return json.dump(1) + "\n"; };
    return {
        {"docs/protocol/schema.json", dump(schema_json(schema))},
        {"docs/protocol/schema.md", schema_tables(schema)},
        {"docs/rpc/openrpc.json", dump(openrpc_json())},
        {"docs/rpc/methods.md", rpc_page()},
        {"tests/vectors/conformance.json", dump(conformance_json(schema, kCaseCounts[2]))},
        {"tests/vectors/primitives.json", dump(primitives_json())},
        {"tests/vectors/encodings.json", dump(encodings_json())},
        {"tests/vectors/positions.json", dump(positions_json())},
    };
}

}  // namespace assay::spec
