// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <verifier/engine/engine.hpp>
#include <verifier/worker/worker_context.hpp>

/// Checks that run before a role is ready. If one failed, the worker would accept duties and lose its bonds.
namespace assay::worker {

/// The message says what is wrong and how to fix it.
class NotReady : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The node has yet to execute blocks that its chain has made: waiting helps.
class NodeBehind : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Trains a small model for two steps on the device and compares all bits with the reference implementation. Throws
/// NotReady if the device cannot be used or the bits differ.
void check_device(const engine::EngineOptions& options);

/// Checks the node, and reports the registered terms. Throws NodeBehind while the node catches up; NotReady if the
/// clock skew between its blocks and this machine is too large; http::NetError if it cannot be reached;
/// client::RpcError if it serves another chain than the one that this home has pinned.
void check_node(WorkerContext& context);

}  // namespace assay::worker
