// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <verifier/roles/exposure.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Returns in words what a verifier is exposed to, and the commands that end it.
std::string explain_exposure(const roles::Exposure& exposure, const contracts::Terms& terms);

/// Warns a verifier that may be drawn for more segments at once than its machine can replay: it cannot decline, and
/// each verdict that it misses costs a tenth of a bond. Says so once for each change of the numbers. Does nothing for
/// other roles.
class ExposureWatch {
  public:
    explicit ExposureWatch(WorkerContext& context) : context_(context) {}
    /// Throws http::NetError or client::RpcError.
    void look();

  private:
    static constexpr std::chrono::seconds kEvery{10};

    /// Free stake in the role, without what a seat in the beacon is going to lock.
    Amount drawable(Amount free);

    WorkerContext& context_;
    std::optional<std::chrono::steady_clock::time_point> looked_at_{};
    std::optional<roles::Exposure> said_{};
};

}  // namespace assay::worker
