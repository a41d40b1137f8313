// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/engine/cell_runs.hpp>

using namespace assay;
using namespace assay::test;

// Unequal stages and unequal parts of layers.

TEST_CASE("NUM-1: a cell has one machine's state: every model by unequal stages") {
    for (const SmallModel& model : small_models(program::kXg21)) {
        check_layouts(
            model,
            std::vector<std::pair<const char*, std::uint32_t>>{
                {"pp:5,3", 2}, {"pp:1,4+1f1b3", 2}, {"pp:1,3,2+gpipe2", 3}, {"pp:5,3+dp2+1f1b2:1,2", 4}}
        );
    }
}

TEST_CASE("NUM-1: a cell has one machine's state: every model by unequal parts of layers") {
    for (const SmallModel& model : small_models(program::kXg21)) {
        check_layouts(
            model,
            std::vector<std::pair<const char*, std::uint32_t>>{
                {"tp:5,3", 2}, {"tp:1,2,1", 3}, {"tp:3,1+zero1", 4}, {"tp:3,1+pp:1,2", 4}}
        );
    }
}
