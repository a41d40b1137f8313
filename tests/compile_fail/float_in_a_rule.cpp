// SPDX-License-Identifier: Apache-2.0
// Error: SSE register|general-regs-only
// Flags: -mgeneral-regs-only
#include <contracts/transaction/transaction.hpp>

namespace assay::contracts {

/// A share of an amount, as a rule must not compute it.
std::uint64_t probe(Amount amount, std::uint64_t bps) {
#ifdef VIOLATION
    return static_cast<std::uint64_t>(static_cast<double>(amount.grains) * static_cast<double>(bps) / 10'000.0);
#else
    return checked_mul_div(amount.grains, bps, 10'000).value();
#endif
}

}  // namespace assay::contracts
