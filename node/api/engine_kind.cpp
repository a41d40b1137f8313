// SPDX-License-Identifier: Apache-2.0
#include <node/api/engine_kind.hpp>

namespace assay::node {

const char* to_string(EngineKind kind) noexcept { return kind == EngineKind::kSolo ? "solo" : "cometbft"; }

std::optional<EngineKind> decode_engine(std::string_view name) {
    for (const EngineKind kind : {EngineKind::kSolo, EngineKind::kCometBft}) {
        if (name == to_string(kind)) {
            return kind;
        }
    }
    return std::nullopt;
}

}  // namespace assay::node
