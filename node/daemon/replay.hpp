// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include <contracts/chain/chain.hpp>
#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>

namespace assay::node {

struct ReplayReport {
    Height from;  ///< of the state that the first block was executed on; 0: genesis
    std::uint64_t blocks = 0;
    Height height;
    Hash256 app_hash;
    double seconds = 0;
};

/// Executes a block log from genesis, or a pruned one from the snapshot in `base`, in a temporary directory and
/// compares the app hash at every height. `progress` is told every two seconds how many blocks of how many are done;
/// may be empty. Throws solo::HandshakeError and solo::BlockLogError.
ReplayReport replay_log(
    const contracts::Genesis& genesis, const std::filesystem::path& log, const std::filesystem::path& base,
    const std::function<void(Height done, Height of)>& progress
);

}  // namespace assay::node
