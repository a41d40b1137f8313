// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/artifacts/dataset.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    if (input.empty()) {
        return;
    }
    const std::uint32_t context = input[0] % 32U;
    const auto built = artifacts::build_text_dataset(as_text(input.subspan(1)), context);
    if (!built) {
        return;
    }
    const auto dataset = artifacts::Dataset::decode(built->artifact);
    ASSERT(dataset.has_value() && dataset->shape() == built->shape);
    ASSERT(dataset->vocabulary() == built->vocabulary && built->shape.width == context + 1);
}

}  // namespace assay::fuzz
