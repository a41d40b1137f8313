// SPDX-License-Identifier: Apache-2.0
#include <client/signer/curve.hpp>

namespace assay::signer {

using namespace referee::curve;

Number add_scalars(const Number& a, const Number& b) { return add_modulo(a, b, kOrder); }

Number multiply_scalars(const Number& a, const Number& b) {
    Number out{};
    for (std::size_t i = kBits; i-- > 0;) {
        out = add_modulo(out, out, kOrder);
        const Number more = add_modulo(out, b, kOrder);
        out = choose(mask_of(bit_of(a, i)), more, out);
    }
    return out;
}

Number negate_scalar(const Number& a) { return choose(is_zero(a), a, subtract(kOrder, a)); }

AffinePoint multiply_generator(const Number& scalar) {
    Point sum;
    for (std::size_t i = kBits; i-- > 0;) {
        sum = add(sum, sum);
        const Point more = add(sum, kGenerator);
        sum = choose(mask_of(bit_of(scalar, i)), more, sum);
    }
    const Element inverse = invert(sum.z);
    const AffinePoint out{(sum.x * inverse).value, mask_of((sum.y * inverse).value[0] & 1U)};
    wipe(sum);
    return out;
}

}  // namespace assay::signer
