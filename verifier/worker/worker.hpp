// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <core/crypto/keys.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/intake.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// Who looks after a worker in the same process. Both may be left out, and must outlive it.
struct Supervision {
    const Intake* intake = nullptr;
    Reporter::Observer observer{};  ///< gets every event and every trouble, on the worker's threads
};

/// Runs a worker until `stop` is set and returns the exit status. Waits while the node has problems. Throws what
/// waiting cannot fix: JournalError, artifacts::StoreError, http::NetError for the listening socket.
int run_worker(
    const WorkerOptions& options, const crypto::SecretKey& key, Behaviour& behaviour, const std::atomic<bool>& stop,
    const Supervision& supervision = {}
);

/// Serves the store in options.home until `stop` is set, and does nothing else. Returns the exit status.
int run_server(const WorkerOptions& options, const std::atomic<bool>& stop);

}  // namespace assay::worker
