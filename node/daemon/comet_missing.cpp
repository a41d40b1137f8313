// SPDX-License-Identifier: Apache-2.0
// Takes the place of comet_start.cpp where ASSAY_WITH_COMETBFT is off.
#include <node/daemon/comet_start.hpp>

namespace assay::node {

std::unique_ptr<Driver> make_comet_driver(
    const NodeOptions& /*options*/, Application& /*application*/, std::function<void(const std::string&)> /*on_failure*/
) {
    throw ConfigError(
        "this assayd was built without CometBFT (ASSAY_WITH_COMETBFT=OFF) and has the solo engine only; set "
        "engine.kind to "
        "solo, or build it with CometBFT"
    );
}

}  // namespace assay::node
