// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/plan_checks.hpp>

/// Plans of small programs by any name of a layout. The first byte is the number of ranks, the second the program.
namespace assay::fuzz {

void run(ByteView input) {
    if (input.size() < 2) {
        return;
    }
    const std::string_view name = as_text(input.subspan(2));
    const std::uint32_t ranks = input[0] % 8 + 1;
    const auto layout = plan::decode_layout(name, ranks);
    if (!layout) {
        return;
    }
    ASSERT(layout->is_valid() && layout->ranks() == ranks);
    ASSERT(plan::decode_layout(plan::to_string(*layout), ranks) == layout);
    check_plan(plan_program(input[1]), *layout);
}

}  // namespace assay::fuzz
