// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::sandbox {

/// Which code may be written and then executed.
enum class Code : unsigned char { kNone = 1, kGenerated = 2 };

/// Restricts this process, for good, to the system calls that parsing needs: memory, and what is open already. Opening
/// a file or a socket ends it with kEndedFile or kEndedSocket, anything else with SIGSYS. Returns why it cannot be
/// done; empty: it is done.
std::string close_filter(Code code);

}  // namespace assay::sandbox
