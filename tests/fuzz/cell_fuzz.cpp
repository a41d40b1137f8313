// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <tests/fuzz/fuzz.hpp>
#include <verifier/engine/cell/packing.hpp>
#include <verifier/plan/layout.hpp>

/// What machines of a cell send each other, and the name of a layout as a user types it.
namespace assay::fuzz {
namespace {

using canonical::DType;
using canonical::Tensor;

void check_layout(std::string_view name, std::uint32_t ranks) {
    if (const auto layout = plan::decode_layout(name, ranks)) {
        ASSERT(layout->is_valid() && layout->ranks() == ranks);
        ASSERT(plan::decode_layout(plan::to_string(*layout), ranks) == layout);
    }
}

/// Packed values are read as what they were, bit for bit.
void check_packed(const Tensor& tensor) {
    const Bytes packed = engine::cell::pack(tensor);
    ByteView left = packed;
    const auto read = engine::cell::unpack(left, {DType::kF32, tensor.shape});
    ASSERT(read && left.empty() && same(read->data, tensor.data));
}

}  // namespace

void run(ByteView input) {
    if (input.size() < 3) {
        return;
    }
    check_layout(as_text(input.subspan(1)), input[0]);
    // Rows and columns: lines of a row each, or, of narrow tensors, of 4,096 elements.
    const canonical::Shape shape{1 + std::uint32_t{input[0]} * 24, 1 + std::uint32_t{input[1]} % 20};
    ByteView bytes = input.subspan(2);
    if (const auto tensor = engine::cell::unpack(bytes, {DType::kF32, shape})) {
        check_packed(*tensor);
    }
    if (input.size() < 4) {
        return;
    }
    const auto count = static_cast<std::uint32_t>(input.size() / 4);
    const canonical::Shape half{2, count / 2};
    Tensor values = canonical::make_tensor(DType::kF32, count % 2 == 0 ? half : canonical::Shape{1, count});
    std::memcpy(values.data.data(), input.data(), values.data.size());
    check_packed(values);
}

}  // namespace assay::fuzz
