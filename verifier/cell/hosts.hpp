// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// A cell: one account's machines that execute steps together.
namespace assay::cell {

/// What ranks exchange their messages by.
enum class Links : std::uint8_t {
    kTls,    ///< encrypted
    kPlain,  ///< gloo, without encryption
    kNccl,   ///< NCCL, from GPU to GPU, without encryption
};

/// Another machine of the cell.
struct Member {
    std::string name;
    std::string address;  ///< where the others reach it
};

/// The machines of a cell, as in the file that each of them has.
struct Hosts {
    std::string lead_address;  ///< where the lead, which is rank 0, waits for the others
    std::uint16_t lead_port = 0;
    std::string secret;  ///< who does not know it is not let in
    Links links = Links::kTls;
    std::vector<Member> members;

    const Member* find(const std::string& name) const;
    /// The lead's URL.
    std::string lead_url() const;
};

/// Reads a file such as
///
///     lead = "10.0.0.1:4100"
///     secret = "8d1c..."
///     links = "tls"            # or "plain" or "nccl"
///     [[members]]
///     name = "left"
///     address = "10.0.0.2"
///
/// Throws std::runtime_error that names the key that is missing or wrong.
Hosts read_hosts(const std::filesystem::path& path);

/// The index of the GPU whose messages a machine exchanges where links are NCCL's: that of `device`, as in "cuda:1", if
/// it has one; else the number of machines before it in the file that have the same address, the lead being the first.
/// `name` is a member's; empty: the lead's. Throws std::runtime_error if the hosts have no such member, or if what
/// follows "cuda:" is no index.
std::uint32_t gpu_of(const Hosts& hosts, const std::string& name, const std::string& device);

}  // namespace assay::cell
