// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace assay::engine {

/// How exact products are computed where libtorch's operations compute. Every way leaves the same bits.
enum class ProductChoice : std::uint8_t {
    kAutomatic,  ///< on an accelerator as kMeasured, on a CPU the way that is known to be fast
    kMeasured,   ///< every exact way is timed on the first product of a shape, and the fastest is used from then on
    kFloats,     ///< f32, as many columns at a time as are exact; doubles where none are
    kDoubles,    ///< f64, the right operand cut in two where that is needed
    kResidues,   ///< int8 with sums of int32, modulo as many numbers as are needed
};

/// What computes the parts that libtorch has no single operation for. Every way leaves the same bits.
enum class KernelChoice : std::uint8_t {
    kAutomatic,  ///< our own kernels where they were compiled for the device, else kLibrary
    kLibrary,    ///< several of libtorch's operations one after another
    kOwn,        ///< our own kernels; on a CPU their text as loops (for tests)
};

struct EngineOptions {
    std::string device = "cpu";  ///< a torch device string
    int threads = 1;
    /// On the CPU, compute with libtorch's operations only, as on an accelerator: slower, the same bits (for tests).
    bool portable = false;
    ProductChoice products = ProductChoice::kAutomatic;  ///< of the portable engine
    KernelChoice kernels = KernelChoice::kAutomatic;     ///< of the portable engine
};

}  // namespace assay::engine
