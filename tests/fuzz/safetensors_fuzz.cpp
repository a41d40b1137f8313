// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/artifacts/safetensors.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const auto file = artifacts::decode_safetensors(input);
    if (!file) {
        return;
    }
    std::size_t total = 0;
    for (const artifacts::NamedTensor& named : file->tensors) {
        const canonical::Tensor& tensor = named.tensor;
        ASSERT(tensor.data.size() == tensor.shape.element_count() * canonical::size_of(tensor.dtype));
        total += tensor.data.size();
    }
    ASSERT(total < input.size());
    // Files differ in the header's spacing and order; what they say does not.
    const Bytes again = artifacts::encode_safetensors(*file);
    const auto second = artifacts::decode_safetensors(again);
    ASSERT(second.has_value() && *second == *file);
    ASSERT(artifacts::encode_safetensors(*second) == again);
}

}  // namespace assay::fuzz
