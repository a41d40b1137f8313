// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include <core/dispute/opening.hpp>
#include <core/sealed/piece.hpp>

namespace assay::contracts {

/// What shows that somebody has a checkpoint: a tile of the state, or of a private task a piece of the sealed file,
/// which needs no key (AVL-3, RET-5, PRV-8). The number of the kind is the index, from 0.
using DrawnOpening = std::variant<dispute::StateOpening, sealed::PieceOpening>;

}  // namespace assay::contracts
