// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include <nlohmann/json.hpp>

#include <core/base/integers.hpp>

namespace assay::rpc {

/// A call that is answered when a block later than `after` is there, or at `until`.
struct Wait {
    Height after;
    std::chrono::steady_clock::time_point until;
    nlohmann::json id{};  ///< of the call
};

/// What one request may cost, all the calls of its batch together: time, and work in reads of the database.
class Work {
  public:
    static constexpr std::uint64_t kUnitsMax = 50'000;
    static constexpr std::chrono::milliseconds kTimeMax{5'000};

    /// `is_over`: whether nobody waits for the answer any more.
    explicit Work(std::function<bool()> is_over = {});

    /// Counts `units` of work that was done. Throws Fault once the request has used up its work or its time, or its
    /// client is gone; so the last call that begins within the budget may exceed it.
    void charge(std::uint64_t units);
    std::uint64_t used() const noexcept { return used_; }

    /// From here on the request may not wait: it is a batch.
    void forbid_waiting() noexcept { may_wait_ = false; }
    /// Has the call answered later. Throws Fault in a batch.
    void wait(Wait wait);
    /// Whose call it is that waits.
    void name_waiting(nlohmann::json id);
    const std::optional<Wait>& waiting() const noexcept { return wait_; }

  private:
    std::function<bool()> is_over_;
    std::chrono::steady_clock::time_point until_;
    std::uint64_t used_ = 0;
    bool may_wait_ = true;
    std::optional<Wait> wait_;
};

}  // namespace assay::rpc
