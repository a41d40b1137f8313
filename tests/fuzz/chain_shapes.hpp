// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/fields.hpp>
#include <contracts/transaction/transaction.hpp>

namespace assay::fuzz {

/// Who does what after how many empty blocks. Ids of tasks and disputes are replaced by ones that exist.
struct ChainStep {
    std::uint8_t who = 0;
    std::uint8_t blocks = 0;
    std::uint8_t which = 0;
    contracts::Action action;
    static constexpr auto fields() {
        return Fields<&ChainStep::who, &ChainStep::blocks, &ChainStep::which, &ChainStep::action>{};
    }
};

struct ChainScript {
    std::uint8_t stage = 0;  ///< how far a first task has come before the script begins
    std::vector<ChainStep> steps;
    static constexpr auto fields() { return Fields<&ChainScript::stage, &ChainScript::steps>{}; }
};

}  // namespace assay::fuzz
