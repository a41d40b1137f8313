// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    assay::fuzz::run({data, size});
    return 0;
}
