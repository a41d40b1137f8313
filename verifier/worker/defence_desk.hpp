// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <contracts/state/task.hpp>
#include <verifier/roles/defence.hpp>
#include <verifier/roles/offer.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Keeps a solver from answering for more tasks at once than its machine could play disputes of: somebody who disputed
/// all of them falsely would win a bond by the clock. A task accepted before this process began counts as running at
/// the speed of its class, since its step was not measured.
class DefenceDesk {
  public:
    DefenceDesk(WorkerContext& context, const OfferDesk& offers) : context_(context), offers_(offers) {}

    /// Whether the machine can defend so many claims of the task beside those of the tasks in which the account is
    /// answerable or has signed seats. Notes it if not. Throws http::NetError or client::RpcError.
    bool admits(const contracts::Task& task, std::uint64_t claims);
    /// Notes that seats were signed, with which the account answers for so many claims once the lead has accepted.
    void pledge(const contracts::TaskId& task, std::uint64_t claims) { pledged_[task] = claims; }
    /// The tasks that it would still not admit.
    std::map<contracts::TaskId, std::optional<roles::Offer>> refused() const;
    void forget(const contracts::TaskId& task);

  private:
    roles::DefenceView view_for(const contracts::Task& task, std::uint64_t claims) const;
    roles::Burden burden_of(const contracts::Task& task, std::uint64_t claims) const;

    WorkerContext& context_;
    const OfferDesk& offers_;
    std::map<contracts::TaskId, std::uint64_t> pledged_{};  ///< claims
    std::map<contracts::TaskId, std::uint64_t> refused_{};  ///< claims
    std::uint64_t block_us_ = 0;
    std::uint64_t timed_at_ = 0;  ///< height at which block_us_ was taken
};

}  // namespace assay::worker
