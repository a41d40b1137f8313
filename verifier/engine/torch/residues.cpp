// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/residues.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <torch/version.h>

#include <verifier/engine/cuda/residues.hpp>

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
#define ASSAY_HAS_INT_MM 1
#else
#define ASSAY_HAS_INT_MM 0
#endif

namespace assay::engine {

namespace {

/// What int8 products on CUDA ask for: more than 16 rows, everything else in whole vectors.
constexpr std::int64_t kResiduesAlignment = 16;

constexpr std::int64_t aligned(std::int64_t n) {
    return (n + kResiduesAlignment - 1) / kResiduesAlignment * kResiduesAlignment;
}

at::Tensor centred(const at::Tensor& x, std::int64_t modulus) {
    return at::remainder(x + modulus / 2, modulus) - modulus / 2;
}

// a [M,k], b [N,k], int8. Sums of 127 * 127 * kResidueColumns are exact in doubles too.
void multiply_with_doubles(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
    out.copy_(at::mm(a.to(at::kDouble), b.to(at::kDouble).t()));
}

#if ASSAY_HAS_INT_MM
// Without instructions for it some CPUs' libraries add pairs of products in 16 bits, which saturate.
bool is_int_mm_exact_on_cpu() {
    static const bool is_exact = [] {
        const at::Tensor top = at::full({32, 64}, 127, at::kChar);
        const at::Tensor left = at::cat({top, -top});
        const at::Tensor found = at::_int_mm(left, top.t()).to(at::kLong);
        const at::Tensor sums = at::full({32, 32}, 127 * 127 * 64, at::kLong);
        return at::equal(found, at::cat({sums, -sums}));
    }();
    return is_exact;
}
#endif

void multiply_bytes(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
#if ASSAY_HAS_INT_MM
    if (!a.device().is_cpu() || is_int_mm_exact_on_cpu()) {
        at::_int_mm_out(out, a, b.t());
        return;
    }
#endif
    multiply_with_doubles(a, b, out);
}

}  // namespace

std::int64_t padded_rows(std::int64_t rows) { return std::max(2 * kResiduesAlignment, aligned(rows)); }
std::int64_t padded_columns(std::int64_t columns) { return aligned(columns); }

at::Tensor to_residues(const at::Tensor& q, std::size_t count) {
    const std::int64_t rows = padded_rows(q.size(1)) - q.size(1);
    const std::int64_t columns = padded_columns(q.size(2)) - q.size(2);
    const at::Tensor padded = at::constant_pad_nd(q, {0, columns, 0, rows}, 0);
    if (count == 1) {
        return padded.to(at::kChar).unsqueeze(0);
    }
    std::vector<at::Tensor> out;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(centred(padded, kModuli[i]).to(at::kChar));
    }
    return at::stack(out);
}

at::Tensor multiply_residues(const at::Tensor& a, const at::Tensor& b) {
    at::Tensor sums = at::empty({a.size(0), a.size(1), a.size(2), b.size(2)}, a.options().dtype(at::kInt));
    for (std::int64_t i = 0; i < a.size(0); ++i) {
        for (std::int64_t g = 0; g < a.size(1); ++g) {
            at::Tensor out = sums[i][g];
            for (std::int64_t first = 0; first < a.size(3); first += kResidueColumns) {
                const std::int64_t count = std::min(kResidueColumns, a.size(3) - first);
                const at::Tensor left = a[i][g].narrow(1, first, count);
                const at::Tensor right = b[i][g].narrow(1, first, count);
                if (first == 0) {
                    multiply_bytes(left, right, out);
                    continue;
                }
                const std::int64_t modulus = kModuli[static_cast<std::size_t>(i)];
                at::Tensor part = at::empty_like(out);
                multiply_bytes(left, right, part);
                out.copy_(centred(out, modulus) + centred(part, modulus));
            }
        }
    }
    return sums;
}

// As from_residues of residues.hpp, a plane at a time.
at::Tensor from_residues(const at::Tensor& sums, std::int64_t rows, std::int64_t cols) {
    const at::Tensor inside = sums.narrow(2, 0, rows).narrow(3, 0, cols);
    const auto count = static_cast<std::size_t>(sums.size(0));
    if (count == 1) {
        return inside[0].to(at::kLong);
    }
    std::vector<at::Tensor> digits;
    for (std::size_t i = 0; i < count; ++i) {
        at::Tensor rest = inside[static_cast<std::int64_t>(i)];
        for (std::size_t j = 0; j < i; ++j) {
            rest = rest - digits[j] * std::int64_t{kResidueTables.place[j][i]};
        }
        digits.push_back(centred(centred(rest, kModuli[i]) * std::int64_t{kResidueTables.inverse[i]}, kModuli[i]));
    }
    at::Tensor out = digits.back().to(at::kLong);
    for (std::size_t i = count - 1; i-- > 0;) {
        out = out * std::int64_t{kModuli[i]} + digits[i];
    }
    return out;
}

}  // namespace assay::engine
