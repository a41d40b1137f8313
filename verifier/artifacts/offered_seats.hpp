// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

namespace assay::artifacts {

/// GRP-2: the seats that a group's lead offers on its artifact server, as JSON, to whoever would sign them.
struct OfferedSeats {
    std::vector<AccountId> seats;  ///< at most contracts::kMaxSeats
    bool is_together = false;
    std::uint32_t from = 0;
    bool operator==(const OfferedSeats&) const = default;
    static constexpr auto fields() {
        return Fields<&OfferedSeats::seats, &OfferedSeats::is_together, &OfferedSeats::from>{};
    }
};

/// Returns nullopt if the text is no list of accounts that a group can have.
std::optional<OfferedSeats> decode_offered_seats(std::string_view text);

}  // namespace assay::artifacts
