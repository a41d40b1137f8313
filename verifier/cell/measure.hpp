// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <verifier/cell/hosts.hpp>
#include <verifier/cell/overhead.hpp>

/// Measures what `assay plan` predicts from: the links between a cell's machines, and the machines.
namespace assay::cell {

struct MeasuredMachine {
    std::string name;
    double multiply_adds_per_s = 0.0;
    std::uint64_t memory_bytes = 0;
    MeasuredOverhead overhead{};
    std::string host{};       ///< host_id(); empty: its own
    std::uint32_t cores = 0;  ///< of the host
};
struct MeasuredLink {
    std::string a;
    std::string b;
    double delay_s = 0.0;      ///< one way
    double bytes_per_s = 0.0;  ///< in the slower direction
};
struct Measured {
    std::vector<MeasuredMachine> machines{};  ///< the lead, which has the name "lead", then the others as in the hosts
    std::vector<MeasuredLink> links{};        ///< between all pairs
};

struct MeasureOptions {
    Hosts hosts;
    MeasuredMachine self{};  ///< with its name in the hosts; "lead" is the lead
    double seconds = 10.0;   ///< of bytes in each direction of each link
    std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// The lead's part: waits for all members, has one pair after the other measure, and tells the members that it is done.
/// Throws http::NetError or std::runtime_error if a machine cannot be reached or refuses.
Measured measure_links(const MeasureOptions& options);
/// A member's part: tells the lead that it is there, and answers until the lead is done. A lead that cannot be reached
/// is tried again. Throws std::runtime_error if the hosts do not have the member or the lead refuses it.
void serve_measuring(const MeasureOptions& options);

/// The file that `assay plan --members` reads.
std::string members_text(const Measured& measured);

}  // namespace assay::cell
