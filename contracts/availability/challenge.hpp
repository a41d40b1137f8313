// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/chain/transaction.hpp>

namespace assay::contracts {

enum class ChallengeState : std::uint8_t { kOpen = 1, kServed = 2, kLapsed = 3, kMoot = 4 };
constexpr bool is_valid(ChallengeState s) { return s >= ChallengeState::kOpen && s <= ChallengeState::kMoot; }
const char* to_string(ChallengeState state) noexcept;

/// "Show one tile of checkpoint i on the chain, or lose your bond" (AVL rules).
struct Challenge {
    ChallengeId id;
    TaskId task;
    std::uint32_t checkpoint = 0;
    std::uint32_t tensor = 0;
    std::uint64_t tile = 0;
    AccountId challenger;
    Role challenger_role = Role::kVerifier;
    Amount bond;
    ChallengeState state = ChallengeState::kOpen;
    Height opened_at;
    Height deadline;
    static constexpr auto fields() {
        return Fields<
            &Challenge::id, &Challenge::task, &Challenge::checkpoint, &Challenge::tensor, &Challenge::tile,
            &Challenge::challenger, &Challenge::challenger_role, &Challenge::bond, &Challenge::state,
            &Challenge::opened_at, &Challenge::deadline>{};
    }
};

}  // namespace assay::contracts
