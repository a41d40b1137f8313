// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/plan_checks.hpp>
#include <verifier/engine/cell/opening.hpp>
#include <verifier/engine/cell/orders.hpp>

/// How rank 0 of a session begins it, and what it orders. The first byte is the number of ranks, and of tensors.
namespace assay::fuzz {

namespace cell = engine::cell;

void run(ByteView input) {
    if (input.empty()) {
        return;
    }
    const ByteView bytes = input.subspan(1);
    if (const auto order = cell::decode_order(bytes, input[0])) {
        ASSERT(same(codec::encode(*order), bytes) && bytes.size() == cell::kOrderBytes);
        ASSERT(order->kind != cell::kSetTensor || order->first < input[0]);
    }
    const std::uint32_t ranks = input[0] % 8 + 1;
    if (const auto opening = cell::decode_opening(bytes, ranks)) {
        ASSERT(same(cell::encode_opening(*opening), bytes));
        ASSERT(opening->layout.is_valid() && opening->layout.ranks() == ranks);
        check_plan(plan_program(opening->program.size()), opening->layout);
    }
}

}  // namespace assay::fuzz
