// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/one_step_verifier.hpp>

namespace assay::fuzz {

/// A dispute that has come to its proof.
struct JudgeCase {
    dispute::Claim claim;
    dispute::Position position;
    dispute::Proof proof;
    static constexpr auto fields() { return Fields<&JudgeCase::claim, &JudgeCase::position, &JudgeCase::proof>{}; }
};

/// A claim about a program of any nodes, and the moves of both parties: for each round a child to select and a byte
/// that the revealed hashes are made of.
struct DisputeScript {
    dispute::Claim claim;  ///< its program's roots and counts are those of `graph`
    canonical::Graph graph;
    std::vector<std::uint32_t> children;
    Bytes noise;
    static constexpr auto fields() {
        return Fields<&DisputeScript::claim, &DisputeScript::graph, &DisputeScript::children, &DisputeScript::noise>{};
    }
};

}  // namespace assay::fuzz
