// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/drawn_opening.hpp>

/// Action of a solver that keeps a task's result (RET rules).
namespace assay::contracts {

/// Retention: opens the drawn tile of the task's last checkpoint, which shows that the sender still has it.
struct ShowResult {
    static constexpr const char* kName = "show_result";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kOpeningAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    DrawnOpening opening;  ///< RET-5: of what was drawn
    static constexpr auto fields() { return Fields<&ShowResult::task, &ShowResult::opening>{}; }
    /// RET-5: the last one ends the task: the bond and the deposit return.
    std::uint64_t gas(const Prices& prices) const { return prices.task(9) + prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
