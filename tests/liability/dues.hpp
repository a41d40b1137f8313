// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>

#include <tests/model/records.hpp>

namespace assay::liability {

/// What an honest account loses something for unless it replies in time: a dispute that it is a party to, or a duty.
struct Due {
    enum class Kind : std::uint8_t { kDispute, kVerdict, kProfile, kTraining, kKeys, kContribution };
    Kind kind = Kind::kDispute;
    AccountId account;
    Hash256 about;           ///< the dispute or the task
    std::uint64_t part = 0;  ///< the segment, or the round of the beacon
    auto operator<=>(const Due&) const = default;
};
const char* to_string(Due::Kind kind) noexcept;

/// All that is open in a state.
std::set<Due> find_dues(const model::World& world, const std::set<AccountId>& honest);

/// Whether a clock of a task or of a dispute runs out within so many blocks after `height`.
bool is_last_moment(const model::World& world, std::uint64_t height, std::uint64_t blocks);

}  // namespace assay::liability
