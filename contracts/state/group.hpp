// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>

/// Several accounts that train one task together (GRP rules).
namespace assay::contracts {

inline constexpr std::size_t kMaxSeats = 64;  ///< GRP-1: of a group
/// GRP-11: members that compute each step together. A false statement may mislead each of the others, who all replay
/// the segment then; what its author loses has to be more than that costs them.
inline constexpr std::size_t kMaxMembersTogether = 16;
inline constexpr std::size_t kMaxSeatings = 32;    ///< GRP-13: times that the seats of a group are given anew
inline constexpr std::uint8_t kVacant = 0xFF;      ///< GRP-14: in the place of a member's number: nobody has the seat
inline constexpr std::size_t kDemandsToLeave = 2;  ///< GRP-14: demands that end a member's seats

/// An account of a group other than the lead, which is the task's solver.
struct Partner {
    AccountId account;
    Amount bond;  ///< still locked
    static constexpr auto fields() { return Fields<&Partner::account, &Partner::bond>{}; }
};

/// Who held the seats of the segments before this one.
struct Seating {
    std::uint32_t until = 0;          ///< the first segment for which it does not count any more
    std::vector<std::uint8_t> seats;  ///< as Group::seats
    static constexpr auto fields() { return Fields<&Seating::until, &Seating::seats>{}; }
};

/// Members are numbered: 0 is the lead, i is partners[i - 1]. Who has no seat any more keeps its number.
struct Group {
    std::vector<Partner> partners;        ///< in the order in which they came
    bool is_together = false;             ///< GRP-11: its members compute each step together
    std::vector<std::uint8_t> seats;      ///< GRP-3: number of the member that holds each seat, or kVacant
    std::vector<Seating> earlier;         ///< GRP-13: who held the seats before, ordered by segment
    std::vector<std::uint8_t> posters;    ///< GRP-4: number of the member that posted each checkpoint
    std::vector<std::uint8_t> convicted;  ///< GRP-7: numbers of the members that were convicted
    std::vector<std::uint8_t> culprits;   ///< STM-10: of those that were convicted of a statement
    std::vector<std::uint8_t> demanded;   ///< GRP-14: number of the member of whom each demand was
    /// The last segment that counts, if training ended before the last (GRP-6) or the task was cut (GRP-7).
    std::optional<std::uint32_t> counted;
    static constexpr auto fields() {
        return Fields<
            &Group::partners, &Group::is_together, &Group::seats, &Group::earlier, &Group::posters, &Group::convicted,
            &Group::culprits, &Group::demanded, &Group::counted>{};
    }
};

}  // namespace assay::contracts
