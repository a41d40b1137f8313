// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <verifier/group/equivocation.hpp>

namespace assay::group {

/// Who has equivocated, with the evidence for `report_equivocation` (STM-11).
struct Finding {
    AccountId member;
    Equivocation evidence;
    static constexpr auto fields() { return Fields<&Finding::member, &Finding::evidence>{}; }
};

/// What was found in a task's sessions, and is evidence until the chain has it. Thread-safe: ranks find it in a thread,
/// and their worker reports it in another.
class Findings {
  public:
    /// Keeps them in memory alone.
    Findings() = default;
    /// Keeps each also in a file of `directory`, so that a worker that is killed and starts again has it still. Reads
    /// what earlier ones have left there.
    explicit Findings(std::filesystem::path directory);

    /// What is added has reached the operating system when it returns. Throws std::runtime_error if a file cannot be
    /// written; then all are in memory nevertheless.
    void add(std::vector<Finding> findings);
    /// Asks of each that is not settled, in the order in which they came, whether it is now, and forgets it if so. What
    /// `is_settled` throws passes through, and leaves that finding and those behind it as they are.
    void settle(const std::function<bool(const Finding&)>& is_settled);
    /// Those that are not settled, in the order in which they came.
    std::vector<Finding> unsettled() const;
    /// Everybody of whom something was ever added, or was not settled when an earlier worker ended.
    std::set<AccountId> members() const;

  private:
    std::filesystem::path file_of(std::uint64_t number) const;
    void write(std::uint64_t number, const Finding& finding) const;

    std::optional<std::filesystem::path> directory_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Finding> unsettled_;  // by number
    std::uint64_t next_ = 0;                      // number
    std::set<AccountId> members_;
};

}  // namespace assay::group
