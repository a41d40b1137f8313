// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace assay::cell {

/// What messages cost this machine's processor, as schedule::Overhead has it.
struct MeasuredOverhead {
    double byte_s = 0.0;
    double message_s = 0.0;
    double sum_byte_s = 0.0;
};

/// Has two ranks in this process exchange messages over TLS on loopback, for about `seconds`, and pack and add up sums.
/// It counts processor time and not the time that passes, so that what else runs on the machine does not matter, as far
/// as it can: nothing else may run in this process. Throws std::runtime_error if the ranks cannot connect.
MeasuredOverhead measure_overhead(double seconds);

/// What all processes of this machine have in common and those of no other one have; empty if the system does not say.
std::string host_id();
/// The cores that this process may use.
std::uint32_t core_count();

}  // namespace assay::cell
