// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <core/base/integers.hpp>

namespace assay::rpc {

/// A call that is answered when there is a block later than `after`, or at the time `until`.
struct Wait {
    Height after;
    std::chrono::steady_clock::time_point until;
    nlohmann::json id{};  ///< of the call
};

/// The budget of one request, shared by all calls of its batch: time, and work in units of one database read.
class Work {
  public:
    static constexpr std::uint64_t kUnitsMax = 50'000;
    static constexpr std::chrono::milliseconds kTimeMax{5'000};

    /// Is asked before each call of the request. Throws a Fault to refuse it.
    using Admission = std::function<void(const std::string& method)>;

    /// `is_over` returns true when the client no longer waits for the answer.
    explicit Work(std::function<bool()> is_over = {}, Admission admission = {});

    /// Throws what the admission throws.
    void begin_call(const std::string& method) const;

    /// Counts `units` of work. Throws a Fault if the request had used up its work or its time before, or if its client
    /// is gone. So the last call that begins within the budget may exceed it.
    void charge(std::uint64_t units);
    std::uint64_t used() const noexcept { return used_; }

    /// From now on wait() is refused: the request is a batch.
    void forbid_waiting() noexcept { may_wait_ = false; }
    /// Makes the call be answered later. Throws a Fault in a batch.
    void wait(Wait wait);
    /// Sets the id of the call that waits.
    void name_waiting(nlohmann::json id);
    const std::optional<Wait>& waiting() const noexcept { return wait_; }

  private:
    std::function<bool()> is_over_;
    Admission admission_;
    std::chrono::steady_clock::time_point until_;
    std::uint64_t used_ = 0;
    bool may_wait_ = true;
    std::optional<Wait> wait_;
};

}  // namespace assay::rpc
