// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <verifier/engine/cell/collective.hpp>
#include <verifier/engine/cell/shared_words.hpp>

namespace assay::engine {

/// What there is to link ranks by NCCL.
struct NcclSupport {
    bool is_built = false;   ///< this program was built with ASSAY_WITH_NCCL
    std::uint32_t gpus = 0;  ///< that libtorch finds in this machine
};
NcclSupport nccl_support();
/// Why a rank cannot be linked by NCCL on the GPU of this index, and what to do; nothing if it can be.
std::optional<std::string> nccl_refusal(const NcclSupport& support, std::uint32_t gpu);

struct NcclOptions {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::uint32_t gpu = 0;                       ///< the index of this rank's GPU; no other rank may have the same one
    std::chrono::milliseconds connect{60'000};   ///< how long all ranks have to connect
    std::chrono::milliseconds timeout{300'000};  ///< how long a rank waits for another one's message
};
/// Thread blocks of a GPU that each link may take, in either direction: they wait there for the other rank, beside what
/// the rank computes.
std::uint32_t nccl_blocks_per_link(std::uint32_t ranks);
/// What c10d and NCCL say of an error, without the call stack: the last error of NCCL's, or else the first line.
std::string nccl_error_text(const std::string& what);

/// Tells libtorch, by variables of the environment, to leave errors of NCCL to the caller: by itself it ends the
/// process when another rank dies. Call it before other threads are started.
void prepare_nccl();

/// Connects the ranks of a session by libtorch's c10d and NCCL, which carries messages between GPUs as they are: bytes,
/// of which it computes nothing. Whoever is on the way can read and alter what crosses. Throws std::runtime_error if
/// this machine cannot (nccl_refusal), or if not all ranks come in time; NCCL has no limit of time for connecting, so a
/// rank that dies meanwhile leaves a thread behind that waits for it.
std::unique_ptr<Collective> connect_nccl(const std::shared_ptr<SharedWords>& words, const NcclOptions& options);

}  // namespace assay::engine
