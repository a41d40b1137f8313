// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/walk.hpp>

namespace assay::spec {

std::string schema_name(std::string_view full_name) {
    static constexpr std::string_view kProject = "assay::";
    ASSERT(full_name.starts_with(kProject));
    full_name.remove_prefix(kProject.size());
    for (const std::string_view layer :
         {"canonical::", "contracts::", "dispute::", "merkle::", "program::", "solo::"}) {
        if (full_name.starts_with(layer)) {
            return std::string(full_name.substr(layer.size()));
        }
    }
    return std::string(full_name);
}

bool Walker::enter(const std::string& name, std::string_view full) {
    const auto [place, is_new] = met_.emplace(name, full);
    ASSERT(place->second == full);
    return is_new;
}

}  // namespace assay::spec
