// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/context.hpp>

/// Opens and closes beacon rounds, and makes the draws of closed rounds (BCN-4 to BCN-12).
namespace assay::contracts {

/// Called at the end of a block. Closes the open round if possible and makes its draws; if no round was open, opens one
/// if a task waits for a draw.
void advance_beacon(Context& context);

}  // namespace assay::contracts
