// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::schedule {

/// What messages cost a machine's processor: the overheads of LogGOPS (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010).
/// One that sends or receives does both at its end. They are 0 where nobody has measured them.
struct Overhead {
    double byte_s = 0.0;      ///< of the thread for the links, for each byte: encryption and sockets
    double message_s = 0.0;   ///< likewise, for each message
    double sum_byte_s = 0.0;  ///< of the rank itself, for each byte of sums that it packs or adds up
    bool operator==(const Overhead&) const = default;
};

}  // namespace assay::schedule
