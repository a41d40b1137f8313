// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Keeps what the chain has registered for the account what its owner's limits ask for (HW-2, TRM-1): a verifier cannot
/// decline a draw, so it is told to the chain beforehand. It compares with the chain each time, so a worker that was
/// killed sends nothing twice. Does nothing without an Intake, for a whistleblower, and without stake.
class TermsKeeper {
  public:
    explicit TermsKeeper(WorkerContext& context) : context_(context) {}
    /// Throws http::NetError or client::RpcError.
    void look();

  private:
    static constexpr std::chrono::seconds kEvery{2};

    WorkerContext& context_;
    std::optional<std::chrono::steady_clock::time_point> looked_at_{};
};

}  // namespace assay::worker
