// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <core/base/integers.hpp>

namespace assay::rpc {

/// What decides whether a node is to be asked for the present state of the chain.
struct ReadyFacts {
    bool is_stopping = false;
    bool is_restoring = false;    ///< takes a snapshot of the state from its peers
    bool is_catching_up = false;  ///< fetches blocks that others have decided already
    bool has_engine = true;       ///< false: the engine's process cannot be asked
    bool awaits_blocks = true;    ///< false: makes no blocks now, since there is nothing to put into one
    std::uint64_t block_interval_ms = 0;
    std::uint64_t block_at_ms = 0;  ///< the time in the last block
    std::uint64_t now_ms = 0;
};

struct NotReady {
    std::string name;  ///< stable: "stopping", "restoring_snapshot", "catching_up", "engine_unreachable", "no_blocks"
    std::string text;
};

/// The least age of the last block at which its successor is missed.
inline constexpr std::uint64_t kBlocksStoppedMs = 60'000;

/// Returns why the node is not ready; empty: it is. Blocks have stopped when the last one is older than ten intervals
/// and than kBlocksStoppedMs.
std::vector<NotReady> why_not_ready(const ReadyFacts& facts);

}  // namespace assay::rpc
