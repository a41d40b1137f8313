// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/fields.hpp>
#include <contracts/state/task.hpp>

namespace assay::artifacts {

/// What the chain says of one segment, as a file of Borsh bytes: all that somebody without a node needs to execute the
/// segment again. Who writes it answers for the records being the chain's.
struct SegmentRecords {
    contracts::Task task;
    std::uint32_t segment = 0;                     ///< 0 is the initialisation
    std::optional<contracts::Checkpoint> before;   ///< the one before the segment; none before the initialisation
    std::optional<contracts::Checkpoint> after;    ///< what the solver claims; none of the evaluation, but a score
    static constexpr auto fields() {
        return Fields<
            &SegmentRecords::task, &SegmentRecords::segment, &SegmentRecords::before, &SegmentRecords::after>{};
    }
};

}  // namespace assay::artifacts
