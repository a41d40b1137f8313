// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

/// Options that name locations of artifacts (ART-20).
namespace assay::worker {

void add_source_options(CLI::App& command, std::vector<std::string>& sources);
void add_publish_option(CLI::App& command, std::vector<std::string>& locations);

}  // namespace assay::worker
