// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/readiness.hpp>

#include <algorithm>

namespace assay::rpc {

std::vector<NotReady> why_not_ready(const ReadyFacts& facts) {
    if (facts.is_stopping) {
        return {{"stopping", "the node is stopping"}};
    }
    if (facts.is_restoring) {
        return {{"restoring_snapshot", "the node takes the state from a snapshot of its peers"}};
    }
    std::vector<NotReady> out;
    if (!facts.has_engine) {
        out.push_back({"engine_unreachable", "CometBFT does not answer: its log is data/cometbft.log"});
    }
    const std::uint64_t age_ms = facts.now_ms > facts.block_at_ms ? facts.now_ms - facts.block_at_ms : 0;
    if (facts.is_catching_up) {
        out.push_back({"catching_up", "the node fetches blocks that others have decided already"});
    } else if (facts.awaits_blocks && age_ms > std::max(kBlocksStoppedMs, 10 * facts.block_interval_ms)) {
        out.push_back(
            {"no_blocks", facts.block_at_ms == 0 ? "there is no block yet"
                                                 : "the last block is " + std::to_string(age_ms / 1'000) + " s old"}
        );
    }
    return out;
}

}  // namespace assay::rpc
