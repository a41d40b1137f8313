// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/transaction/transaction.hpp>

/// What a solver says of a running task's losses. No rule reads them, and nobody answers for them with a stake.
namespace assay::artifacts {

/// The loss of the last step of a segment.
struct ClaimedLoss {
    std::uint32_t segment = 0;
    std::uint64_t step = 0;  ///< global number of that step
    std::uint32_t loss = 0;  ///< bits of an f32
    bool operator==(const ClaimedLoss&) const = default;
    static constexpr auto fields() { return Fields<&ClaimedLoss::segment, &ClaimedLoss::step, &ClaimedLoss::loss>{}; }
};

/// The losses of a task's segments, as far as `account` trained them, in ascending order.
struct ClaimedLosses {
    contracts::TaskId task;
    AccountId account;
    std::vector<ClaimedLoss> losses;
    Signature signature;  ///< by `account`, of losses_claim()
    static constexpr auto fields() {
        return Fields<
            &ClaimedLosses::task, &ClaimedLosses::account, &ClaimedLosses::losses, &ClaimedLosses::signature>{};
    }
};
/// Whether the account that the losses name has signed them.
bool is_signed(const ClaimedLosses& losses);

/// "assay/losses" over Borsh(task) and Borsh(losses).
Hash256 losses_claim(const contracts::TaskId& task, const std::vector<ClaimedLoss>& losses);

ClaimedLosses sign_losses(const crypto::SecretKey& key, const contracts::TaskId& task, std::vector<ClaimedLoss> losses);

/// Where they are served, behind the location of a checkpoint: "/losses/" and the task in hex.
std::string losses_target(const contracts::TaskId& task);
inline constexpr std::uint64_t kMaxLossesBytes = 1U << 20U;

/// JSON with "task", "account", "losses" (of "segment", "step", "loss" and its "bits" as a number) and "signature".
std::string to_json(const ClaimedLosses& losses);
/// Returns what to_json() wrote; nullopt if it is anything else, too large, or not signed by its account.
std::optional<ClaimedLosses> decode_losses(std::string_view text);
/// The same without the signature.
std::optional<ClaimedLosses> decode_unsigned_losses(std::string_view text);

}  // namespace assay::artifacts
