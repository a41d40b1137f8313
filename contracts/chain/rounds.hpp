// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/context.hpp>

/// Opening and closing the rounds of the beacon, and the draws of a round that has closed (BCN-4 to BCN-12).
namespace assay::contracts {

/// At the end of a block: closes the open round if it can be, with its draws, then opens the next if it is needed.
void advance_beacon(Context& context);

}  // namespace assay::contracts
