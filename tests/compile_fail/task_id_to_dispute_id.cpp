// SPDX-License-Identifier: Apache-2.0
// Error: no match for .operator=.|no viable overloaded
#include <contracts/transaction/transaction.hpp>

namespace assay::contracts {

/// Two names of 32 bytes that mean different things.
void probe(const TaskId& task, const DisputeId& dispute, DisputeId& out) {
#ifdef VIOLATION
    static_cast<void>(dispute);
    out = task;
#else
    static_cast<void>(task);
    out = dispute;
#endif
}

}  // namespace assay::contracts
