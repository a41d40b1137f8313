// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/nccl_collective.hpp>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <verifier/engine/torch/runtime.hpp>

// What can be said about NCCL without it.
namespace assay::engine {

std::optional<std::string> nccl_refusal(const NcclSupport& support, std::uint32_t gpu) {
    if (!support.is_built) {
        return "this program cannot link ranks by NCCL: it was built with libtorch " + torch_version() +
               " and without ASSAY_WITH_NCCL. Build it with a libtorch for CUDA (docs/operations/cells.md), or take "
               "other links";
    }
    if (support.gpus == 0) {
        return "NCCL links GPUs, and libtorch finds none in this machine. See whether nvidia-smi does, or take other "
               "links";
    }
    if (gpu >= support.gpus) {
        return "this rank would use the GPU cuda:" + std::to_string(gpu) + ", and libtorch finds " +
               std::to_string(support.gpus) +
               " in this machine, counted from cuda:0. Each rank of a machine needs a GPU of its own: name one with "
               "--device, or have fewer members here";
    }
    return std::nullopt;
}

std::uint32_t nccl_blocks_per_link(std::uint32_t ranks) {
    constexpr std::uint32_t kAll = 32;  // a quarter of an H100's multiprocessors
    constexpr std::uint32_t kMost = 16;
    const std::uint32_t links = 2 * std::max(ranks - 1, 1U);
    return std::clamp(kAll / links, 1U, kMost);
}

std::string nccl_error_text(const std::string& what) {
    constexpr std::string_view kLast = "Last error:";
    const std::size_t last = what.find(kLast);
    const std::size_t begin = last == std::string::npos ? 0 : what.find_first_not_of(" \n", last + kLast.size());
    if (begin == std::string::npos) {
        return what.substr(0, what.find('\n'));
    }
    return what.substr(begin, what.find('\n', begin) - begin);
}

#ifndef ASSAY_WITH_NCCL
NcclSupport nccl_support() { return {}; }

void prepare_nccl() {}

std::unique_ptr<Collective> connect_nccl(const std::shared_ptr<SharedWords>& /*words*/, const NcclOptions& options) {
    throw std::runtime_error(nccl_refusal(nccl_support(), options.gpu).value());
}
#endif

}  // namespace assay::engine
