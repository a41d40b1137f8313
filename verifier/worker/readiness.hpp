// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <verifier/engine/engine.hpp>
#include <verifier/worker/workplace.hpp>

/// What is checked before a role is ready: with any of it wrong, the worker would accept duties and lose its bonds.
namespace assay::worker {

/// Says what is wrong and what to do.
class NotReady : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Trains a small model for two steps on the device and compares every bit with the definition's. Throws NotReady when
/// the device cannot be used or computes otherwise.
void check_device(const engine::EngineOptions& options);

/// Asks the node. Throws NotReady when its blocks' time is far from this machine's; http::NetError when it cannot be
/// reached, client::RpcError when it serves another chain than this home has pinned. Reports the registered class, and
/// stake that is not there and may still come.
void check_node(Workplace& at);

}  // namespace assay::worker
