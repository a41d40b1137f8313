// SPDX-License-Identifier: Apache-2.0
// One operation each that a GPU has no instruction for: the compiler makes them of fused and approximate instructions
// whose result is the correctly rounded one. machine_code.py learns here which instructions these are.
extern "C" {

__global__ void divide_floats(const float* a, const float* b, float* out) { *out = *a / *b; }
__global__ void divide_doubles(const double* a, const double* b, double* out) { *out = *a / *b; }
__global__ void divide_constant(const double* b, double* out) { *out = 2.0 / *b; }
__global__ void square_root(const float* a, float* out) { *out = sqrtf(*a); }
__global__ void divide_words(const unsigned* a, const unsigned* b, unsigned* out) { *out = *a / *b; }
__global__ void divide_long_words(const unsigned long long* a, const unsigned long long* b, unsigned long long* out) {
    *out = *a / *b;
}

}  // extern "C"
