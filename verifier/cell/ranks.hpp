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
    std::chrono::milliseconds connect;  ///< for the ranks to find each other
    std::chrono::milliseconds timeout;  ///< for a message
};

/// Connects this machine with the other ranks of a session, by the links that the hosts ask for. Throws
/// std::runtime_error if not all come in time.
std::unique_ptr<engine::Collective> connect_ranks(
    const Hosts& hosts, std::shared_ptr<engine::SharedWords> words, const RankOptions& options
);

}  // namespace assay::cell
