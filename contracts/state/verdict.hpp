// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <contracts/state/ids.hpp>
#include <core/dispute/tolerance.hpp>

/// What a verifier found (VER rules).
namespace assay::contracts {

/// A verifier's result for a segment that it replayed.
struct Verdict {
    Hash256 end_root;  ///< the state root after the segment
    /// The state root at the assignment's probe (VER-9). Absent if the assignment has no probe, or if the verdict
    /// rejects the segment without a measurement.
    std::optional<Hash256> probe_root;
    /// For a segment that is judged by distance (VER-17): either the distance between the solver's checkpoint and
    /// end_root, or the number of steps after which the canonical replay diverged.
    std::optional<dispute::Measurement> measurement = std::nullopt;
    std::optional<std::uint32_t> diverged_after = std::nullopt;
    /// CHK-3: bit i: check i of the task's failed on the state that was checked; nullopt if the task has no checks.
    std::optional<std::uint32_t> failed_checks = std::nullopt;
    bool operator==(const Verdict&) const = default;
    static constexpr auto fields() {
        return Fields<
            &Verdict::end_root, &Verdict::probe_root, &Verdict::measurement, &Verdict::diverged_after,
            &Verdict::failed_checks>{};
    }
};

/// The preimage of a verdict's commitment (VER-2).
struct VerdictOpening {
    Verdict verdict;  ///< the true one, without a probe root: the probe is not known yet when this is committed
    std::vector<Hash256>
        marks;           ///< VER-9: the state roots at the assignment's marks; empty for a verdict without a probe
    Hash256 decoy_root;  ///< random; published instead of the probe root if the verdict is a forced error
    Hash256 salt;
    bool operator==(const VerdictOpening&) const = default;
    static constexpr auto fields() {
        return Fields<
            &VerdictOpening::verdict, &VerdictOpening::marks, &VerdictOpening::decoy_root, &VerdictOpening::salt>{};
    }
};

/// The part of a verdict that is disputed.
enum class VerdictPart : std::uint8_t { kProbe = 1, kEnd = 2, kMeasurement = 3 };
constexpr bool is_valid(VerdictPart p) { return p >= VerdictPart::kProbe && p <= VerdictPart::kMeasurement; }
const char* to_string(VerdictPart part) noexcept;

/// Merkle roots of the tensor commitments of the three states that a measurement compares (TOL-1).
using MeasuredRoots = std::array<Hash256, 3>;

/// VER-2: "assay/verdict" over task, segment (u32), verifier and opening.
Hash256 verdict_commitment(
    const TaskId& task, std::uint32_t segment, const AccountId& verifier, const VerdictOpening& opening
) noexcept;

}  // namespace assay::contracts
