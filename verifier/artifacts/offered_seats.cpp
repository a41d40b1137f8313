// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/offered_seats.hpp>

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <contracts/state/group.hpp>

namespace assay::artifacts {

std::optional<OfferedSeats> decode_offered_seats(std::string_view text) {
    using nlohmann::json;
    const json answer = json::parse(text, nullptr, false);
    if (!answer.is_object() || !answer.contains("seats") || !answer["seats"].is_array() ||
        answer["seats"].size() > contracts::kMaxSeats) {
        return std::nullopt;
    }
    OfferedSeats out;
    out.seats.reserve(answer["seats"].size());
    for (const json& seat : answer["seats"]) {
        const auto account = seat.is_string() ? fixed_from_hex<AccountId>(seat.get<std::string>()) : std::nullopt;
        if (!account) {
            return std::nullopt;
        }
        out.seats.push_back(*account);
    }
    const auto together = answer.find("together");
    out.is_together = together != answer.end() && together->is_boolean() && together->get<bool>();
    const auto from = answer.find("from");
    const bool has_from = from != answer.end() && from->is_number_unsigned() && *from <= UINT32_MAX;
    out.from = has_from ? from->get<std::uint32_t>() : 0;
    return out;
}

}  // namespace assay::artifacts
