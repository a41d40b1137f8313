// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include <verifier/worker/key_desk.hpp>
#include <verifier/worker/result_keeper.hpp>
#include <verifier/worker/role.hpp>
#include <verifier/worker/exposure_watch.hpp>
#include <verifier/worker/terms_keeper.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Attends to what is urgent, also while something long is computed: disputes, keys, kept results, and whatever only
/// has to be sent. A dispute move may itself take a long computation; meanwhile keys are shared and results are shown,
/// and no other dispute move is made.
class Urgent {
  public:
    Urgent(WorkerContext& context, Role& role)
        : context_(context), role_(role), keys_(context), results_(context), terms_(context), exposure_(context) {}
    Urgent(const Urgent&) = delete;
    Urgent& operator=(const Urgent&) = delete;

    /// Does all of it. Returns whether something was sent. Throws as the chain, the store and the journal do.
    bool attend();
    /// The same between the steps of a computation, once in kPoll at most. What fails is tried again; throws
    /// JournalError only.
    void interlude();

  private:
    enum class Phase : std::uint8_t { kIdle, kRole, kOther };
    class Within;

    /// Calls each of them, also when the node failed another one. Returns whether one of them sent something; throws
    /// the first failure.
    static bool attend_each(std::initializer_list<std::function<bool()>> duties);

    WorkerContext& context_;
    Role& role_;
    KeyDesk keys_;
    ResultKeeper results_;
    TermsKeeper terms_;
    ExposureWatch exposure_;
    Phase phase_ = Phase::kIdle;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Counts a call to the node that failed, and returns what to say of it.
std::string note_failure(const WorkerContext& context, const http::NetError& error);
std::string note_failure(const WorkerContext& context, const client::RpcError& error);

}  // namespace assay::worker
