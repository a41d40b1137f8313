// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <core/canonical/partial.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const auto raw = round_trip<program::Program>(input);
    const auto checked = program::decode_program(input);
    if (!raw) {
        ASSERT(!checked && checked.error() == program::ProgramError::kMalformed);
        return;
    }
    ASSERT(checked.has_value() == program::check_program(*raw).has_value());
    if (!checked) {
        return;
    }
    ASSERT(same(codec::encode(*checked), input));
    ASSERT(checked->state.size() <= canonical::kMaxStateTensors && checked->step.size() <= canonical::kMaxNodes);
    for (const canonical::Graph* graph : {&checked->init, &checked->step}) {
        for (const canonical::Node& node : *graph) {
            if (node.op != canonical::Op::kCommit) {
                const std::uint64_t last = canonical::tile_count(node.shape) - 1;
                ASSERT(canonical::partial_count(node, last) >= 1);
            }
        }
    }
}

}  // namespace assay::fuzz
