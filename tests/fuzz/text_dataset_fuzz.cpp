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
    const canonical::DatasetShape shape = built->dataset.shape();
    ASSERT(is_valid(shape) && shape.width == context + 1 && shape.overlap == context);
    ASSERT(built->dataset.row(shape.rows - 1).size() == std::size_t{shape.width} * 4);
}

}  // namespace assay::fuzz
