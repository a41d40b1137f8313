// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/engine/cell/session.hpp>

namespace assay::cell {

/// Writes to the log what a rank did in a session: layout, steps, state_bytes and sent_bytes.
void log_session(const engine::Served& served);

}  // namespace assay::cell
