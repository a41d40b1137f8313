// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <consensus/mempool.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/driver.hpp>
#include <node/daemon/node.hpp>

namespace assay::node {

/// Returns the limits that the settings give the mempool of either engine.
consensus::MempoolLimits mempool_limits(const Config& config);

/// Makes the driver for CometBFT from the node's settings. `application` must outlive it; `on_failure` is called once,
/// on a thread of the driver, when no further block can be made. Throws ConfigError if the settings contradict each
/// other or this program was built without CometBFT, HomeError if the home was not made for it, cometbft::EngineError
/// if its program is not found, and std::runtime_error if the node cannot listen.
std::unique_ptr<Driver> make_comet_driver(
    const NodeOptions& options, Application& application, std::function<void(const std::string&)> on_failure
);

}  // namespace assay::node
