// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/microkernel.hpp>

/// Takes the place of the engine's microkernels: what a CPU without 512-bit vectors has, and so the BLAS is asked.
namespace assay::engine::fused {

template <class T>
bool Microkernel<T>::is_available() {
    return false;
}

template <class T>
void Microkernel<T>::pack_left(const Stored*, std::size_t, std::size_t, std::size_t, T*) {
    ASSERT(false);
}

template <class T>
void Microkernel<T>::pack_right(const Stored*, std::size_t, std::size_t, std::size_t, T*) {
    ASSERT(false);
}

template <class T>
void Microkernel<
    T>::multiply(const T*, const T*, const T*, std::size_t, std::size_t, std::size_t, const ProductFinish&) {
    ASSERT(false);
}

template struct Microkernel<double>;
template struct Microkernel<std::int16_t>;

}  // namespace assay::engine::fused
