// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/audit/segment_records.hpp>

#include <string>

#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/session.hpp>

namespace assay::cli {
namespace {

contracts::Checkpoint prove_checkpoint(
    client::RpcClient& rpc, const contracts::TaskId& task, std::uint32_t index, const ProvenSlot& at
) {
    const ProvenSlot slot = prove_slot(rpc, contracts::keys::checkpoint(task, index), at.height);
    if (slot.app_hash != at.app_hash) {
        throw Mismatch("the node proved two records of one height against two app hashes");
    }
    return decode_proven<contracts::Checkpoint>(slot, "checkpoint " + std::to_string(index));
}

}  // namespace

artifacts::SegmentRecords prove_segment(
    client::RpcClient& rpc, const contracts::TaskId& task, std::uint32_t segment, const Trust& trust
) {
    const ProvenSlot slot = prove_slot(rpc, contracts::keys::task(task));
    artifacts::SegmentRecords out;
    out.task = decode_proven<contracts::Task>(slot, "task " + to_hex(task.view()));
    out.segment = segment;
    const std::uint32_t last = contracts::last_segment(out.task);
    const bool is_evaluation = segment == contracts::evaluation_segment(out.task);
    if (segment > last) {
        throw Failure(
            kExitNotFound, "not_found",
            "the task has no segment " + std::to_string(segment) + "; its last is " + std::to_string(last)
        );
    }
    if (!is_evaluation && segment >= out.task.checkpoints) {
        throw Failure(
            kExitNotFound, "not_found",
            "checkpoint " + std::to_string(segment) + " is not posted yet; " + std::to_string(out.task.checkpoints) +
                " are"
        );
    }
    if (segment != 0) {
        out.before = prove_checkpoint(rpc, task, segment - 1, slot);
    }
    if (out.task.spec.parent) {
        out.start = prove_checkpoint(rpc, task, 0, slot);
    }
    if (!is_evaluation) {
        out.after = prove_checkpoint(rpc, task, segment, slot);
    }
    check_signed(rpc, slot, trust);
    return out;
}

}  // namespace assay::cli
