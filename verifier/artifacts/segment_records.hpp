// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/fields.hpp>
#include <contracts/state/task.hpp>

namespace assay::artifacts {

/// The chain's records of one segment, as a Borsh file: everything needed to replay the segment without a node. Its
/// writer is responsible for the records being those of the chain.
struct SegmentRecords {
    contracts::Task task;
    std::uint32_t segment = 0;                    ///< 0 is the initialisation
    std::optional<contracts::Checkpoint> before;  ///< the checkpoint before the segment; absent for the initialisation
    std::optional<contracts::Checkpoint>
        after;  ///< the claimed checkpoint; absent for the evaluation, which has a score
    std::optional<contracts::Checkpoint> start{};  ///< the first checkpoint; present if the task has a parent
    static constexpr auto fields() {
        return Fields<
            &SegmentRecords::task, &SegmentRecords::segment, &SegmentRecords::before, &SegmentRecords::after,
            &SegmentRecords::start>{};
    }
};

}  // namespace assay::artifacts
