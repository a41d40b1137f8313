// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/ids.hpp>

namespace assay::contracts {

struct Unbonding {
    Amount amount;
    Height release_at;
    std::uint64_t release_ms = 0;  ///< VAL-9: for validators: block time, in ms, that must also be reached
    static constexpr auto fields() {
        return Fields<&Unbonding::amount, &Unbonding::release_at, &Unbonding::release_ms>{};
    }
};

/// An account's stake in one role (STK rules). Free stake can be locked by duties or unbonded, locked stake can be
/// slashed, and unbonding stake is paid back at its release height.
struct Stake {
    Amount free;
    Amount locked;
    std::vector<Unbonding> unbonding;  ///< at most kMaxUnbondings
    // Solvers only.
    bool is_unlisted =
        false;                ///< TASK-6: it let a task lapse, and is not drawn again until it bonds stake or registers
    Height declined_until{};  ///< TASK-15: until then it is not drawn for tasks of at most `declined_value`
    Amount declined_value{};
    std::optional<TaskId> offer{};  ///< TASK-19: the last task that it was drawn for
    static constexpr auto fields() {
        return Fields<
            &Stake::free, &Stake::locked, &Stake::unbonding, &Stake::is_unlisted, &Stake::declined_until,
            &Stake::declined_value, &Stake::offer>{};
    }
};
inline constexpr std::size_t kMaxUnbondings = 16;

/// HW-2, TRM-1: an account's registration for a role.
struct RegisteredTerms {
    Terms terms;
    std::uint64_t score = 0;
    Height registered_at;
    static constexpr auto fields() {
        return Fields<&RegisteredTerms::terms, &RegisteredTerms::score, &RegisteredTerms::registered_at>{};
    }
};

}  // namespace assay::contracts
