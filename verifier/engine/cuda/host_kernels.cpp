// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <verifier/engine/cuda/dispatch.hpp>

namespace assay::engine::cuda {

namespace {

/// As many as a warp has, so that lanes are tested.
constexpr Rank kLanes = 32;

class HostLauncher {
  public:
    void use_stream(void*) {}

    template <class Body>
    void each(Rank count, const Body& body) {
        for (Rank i = 0; i < count; ++i) {
            body(i);
        }
    }

    void each_row(Rank count, const RowExponentBody& body) {
        for (Rank i = 0; i < count; ++i) {
            std::uint32_t best = 0;
            for (Rank lane = 0; lane < kLanes; ++lane) {
                best = std::max(best, body.largest(i, lane, kLanes));
            }
            body.write(i, best);
        }
    }
};

}  // namespace

bool is_elementwise(canonical::Op op) {
    return with_elementwise(op, [](auto) {});
}

std::unique_ptr<Kernels> make_host_kernels() { return std::make_unique<KernelsOf<HostLauncher>>(); }

}  // namespace assay::engine::cuda
