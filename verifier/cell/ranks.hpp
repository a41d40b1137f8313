// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <verifier/cell/hosts.hpp>
#include <verifier/engine/cell/gloo_collective.hpp>

/// Internal to the cell.
namespace assay::cell {

struct RankOptions {
    std::uint64_t session = 0;
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::string address;                ///< of this machine, where the other ranks connect to
    std::uint32_t gpu = 0;              ///< of this machine, for NCCL
    std::chrono::milliseconds connect;  ///< for the ranks to find each other
    std::chrono::milliseconds timeout;  ///< for a message
};

/// Makes ready for the links that the hosts ask for, and returns the index of this machine's GPU, which only NCCL
/// needs. `name` and `device` as in gpu_of(). Call it before other threads are started. Throws HostsError that says
/// what to do if this machine cannot be linked so.
std::uint32_t prepare_links(const Hosts& hosts, const std::string& name, const std::string& device);
/// How long ranks have to find each other: `limit`, or longer if their links take longer to make.
std::chrono::milliseconds connect_limit(const Hosts& hosts, std::chrono::milliseconds limit);

/// Connects this machine with the other ranks of a session, by the links that the hosts ask for. Throws
/// std::runtime_error if not all come in time.
std::unique_ptr<engine::Collective> connect_ranks(
    const Hosts& hosts, const std::shared_ptr<engine::SharedWords>& words, const RankOptions& options
);

}  // namespace assay::cell
