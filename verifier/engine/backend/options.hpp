// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace assay::canonical {
struct Node;
}

namespace assay::engine {

class StepMachines;

/// How exact products are computed where libtorch's operations are used. All choices give the same bits.
enum class ProductChoice : std::uint8_t {
    kAutomatic,  ///< kMeasured on an accelerator; on a CPU the method known to be fastest
    kMeasured,   ///< times every exact method on the first product of a shape, then uses the fastest
    kFloats,     ///< f32, as many columns at a time as are exact; f64 if none are
    kDoubles,    ///< f64, with the right operand split in two if necessary
    kResidues,   ///< int8 with int32 sums, modulo as many moduli as necessary
};

/// What computes operations that libtorch has no single operation for. All choices give the same bits.
enum class KernelChoice : std::uint8_t {
    kAutomatic,  ///< kOwn if compiled for the device, else kLibrary
    kLibrary,    ///< sequences of libtorch operations
    kOwn,        ///< our own kernels; on a CPU the same source as loops (for tests)
};

/// Whether steps that are alike are recorded and repeated as a whole. All choices give the same bits.
enum class RecordChoice : std::uint8_t {
    kAutomatic,  ///< on an accelerator with kernels of our own
    kNever,
    kAlways,  ///< on a CPU too, where a repeated step is executed anew in the same places (for tests)
};

/// Is told when a rank of a cell computes, and what: a bench can hold machines to a speed. All are called by the thread
/// that computes.
class Pace {
  public:
    virtual ~Pace() = default;
    virtual void begin() = 0;                                             ///< the rank computes from here on
    virtual void computed(const canonical::Node& node, double part) = 0;  ///< a part of a node's work, at most 1
    virtual void end() = 0;                                               ///< the rank waits for others again
};

struct EngineOptions {
    std::string device = "cpu";  ///< a torch device string
    int threads = 1;
    /// The most that steps may take on the CPU, state included; 0: as much as is fastest. Outputs that do not fit are
    /// computed a second time. Steps that are watched node by node, and other devices, take what they need.
    std::uint64_t memory_bytes = 0;
    /// On the CPU, use libtorch's operations only, as on an accelerator: slower, same bits (for tests).
    bool portable = false;
    ProductChoice products = ProductChoice::kAutomatic;  ///< used by the portable engine
    KernelChoice kernels = KernelChoice::kAutomatic;     ///< used by the portable engine
    RecordChoice recording = RecordChoice::kAutomatic;   ///< used by the portable engine
    /// Steps that are trained or replayed, and not watched, are executed by these machines together with this one.
    std::shared_ptr<StepMachines> cell{};
    std::shared_ptr<Pace> pace{};  ///< of a rank of a cell (for benches)
};

}  // namespace assay::engine
