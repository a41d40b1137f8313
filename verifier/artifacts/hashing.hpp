// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <core/base/bytes.hpp>
#include <core/canonical/tile.hpp>

/// Commitments to large tensors, hashed on several threads, or with `threads` 0 on one for each core. They are the same
/// for any number of threads.
namespace assay::artifacts {

/// Returns the commitment of a tensor (TRC-2). Throws std::system_error if a thread cannot be started.
Hash256 commit_tensor(const canonical::Tensor& tensor, int threads = 0);

/// Returns the state root (TRC-3) of complete tensors. Throws as commit_tensor() does.
Hash256 state_root_of(std::span<const canonical::Tensor> state, int threads = 0);

}  // namespace assay::artifacts
