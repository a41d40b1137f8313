// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <core/crypto/keys.hpp>
#include <verifier/worker/options.hpp>

namespace assay::worker {

/// Runs a worker until `stop` is set. Returns the exit status; trouble with the node is waited out. Throws what no
/// waiting helps: JournalError, artifacts::StoreError, http::NetError for the listening socket.
int run_worker(const WorkerOptions& options, const crypto::SecretKey& key, const std::atomic<bool>& stop);

/// Serves the store in options.home and does nothing else.
int run_server(const WorkerOptions& options, const std::atomic<bool>& stop);

}  // namespace assay::worker
