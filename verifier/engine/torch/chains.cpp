// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <verifier/engine/torch/math.hpp>

namespace assay::engine {

namespace {

constexpr std::uint32_t kPlusInfinity = 0x7f800000;

}  // namespace

at::Tensor DeviceMath::limited(const at::Tensor& x, double limit) const {
    const at::Tensor high = f64(limit);
    const at::Tensor low = f64(-limit);
    const at::Tensor c = at::where(x.lt(low), low, x);
    return at::where(c.gt(high), high, c);
}

at::Tensor DeviceMath::unless_nan(const at::Tensor& x, const at::Tensor& y) const {
    return at::where(x.ne(x), nan_, y);
}

// NUM-20
at::Tensor DeviceMath::exp_chain(const at::Tensor& x) const {
    const at::Tensor c = limited(x, canonical::kExpLimit);
    const at::Tensor k = rint(at::mul(c, f64(canonical::kLog2E)));
    const at::Tensor high = at::sub(c, at::mul(k, f64(canonical::kLn2High)));
    const at::Tensor r = at::sub(high, at::mul(k, f64(canonical::kLn2Low)));
    return at::mul(polynomial(canonical::kExpTerms, r), power_of_two(k.to(at::kLong)));
}

at::Tensor DeviceMath::exp(const at::Tensor& x) const {
    const at::Tensor number = at::where(x.ne(x), zero_, x).to(at::kDouble);
    return unless_nan(x, exp_chain(number).to(at::kFloat));
}

// NUM-21; an f32 is never denormal as a double, so the scaling of small operands does not occur.
at::Tensor DeviceMath::log(const at::Tensor& x) const {
    const at::Tensor one = f64(1.0);
    const at::Tensor word = x.to(at::kDouble).view(at::kLong);
    at::Tensor k = word.bitwise_right_shift(52).bitwise_and(0x7ff) - 1023;
    at::Tensor m = word.bitwise_and(0x000fffffffffffff).bitwise_or(0x3ff0000000000000).view(at::kDouble);
    const at::Tensor is_large = m.ge(f64(canonical::kSqrt2));
    m = at::where(is_large, at::mul(m, f64(0.5)), m);
    k = (k + is_large.to(at::kLong)).to(at::kDouble);
    const at::Tensor s = at::div(at::sub(m, one), at::add(m, one));
    const at::Tensor p = polynomial(canonical::kLogTerms, at::mul(s, s));
    const at::Tensor low = at::add(at::mul(k, f64(canonical::kLn2Low)), at::mul(at::add(s, s), p));
    const at::Tensor plus_infinity = f32(kPlusInfinity);
    at::Tensor y = at::add(at::mul(k, f64(canonical::kLn2High)), low).to(at::kFloat);
    y = at::where(x.eq(zero_), f32(kMinusInfinity), y);
    y = at::where(x.eq(plus_infinity), plus_infinity, y);
    return at::where(x.ge(zero_), y, nan_);
}

// NUM-25
at::Tensor DeviceMath::tanh(const at::Tensor& x) const {
    const at::Tensor number = at::where(x.ne(x), zero_, x).to(at::kDouble);
    const at::Tensor sign = number.view(at::kLong).bitwise_and(std::numeric_limits<std::int64_t>::min());
    const at::Tensor a = at::abs(number);
    const at::Tensor limit = f64(canonical::kTanhLimit);
    const at::Tensor one = f64(1.0);
    const at::Tensor c = at::where(a.gt(limit), limit, a);
    const at::Tensor large = at::sub(one, at::div(f64(2.0), at::add(exp_chain(at::add(c, c)), one)));
    const at::Tensor small = at::sub(a, at::mul(at::mul(a, at::mul(a, a)), f64(canonical::kThird)));
    const at::Tensor chosen = at::where(a.lt(f64(canonical::kTanhSmall)), small, large);
    const at::Tensor signed_value = chosen.view(at::kLong).bitwise_or(sign).view(at::kDouble);
    return unless_nan(x, signed_value.to(at::kFloat));
}

// NUM-26
at::Tensor DeviceMath::erf(const at::Tensor& x) const {
    const at::Tensor number = at::where(x.ne(x), zero_, x).to(at::kDouble);
    const at::Tensor c = limited(number, canonical::kErfLimit);
    const at::Tensor z = at::sub(at::mul(at::mul(c, c), f64(0.125)), f64(1.0));
    return unless_nan(x, at::mul(c, polynomial(canonical::kErfTerms, z)).to(at::kFloat));
}

// NUM-27: sin(x + quarters * pi / 2); NaN beyond the limit and for what is not finite.
at::Tensor DeviceMath::trig(const at::Tensor& x, std::int64_t quarters) const {
    at::Tensor wide = x.to(at::kDouble);
    const at::Tensor is_defined = at::abs(wide).le(f64(canonical::kTrigLimit));
    wide = at::where(is_defined, wide, f64(0.0));
    const at::Tensor k = rint(at::mul(wide, f64(canonical::kTwoOverPi)));
    at::Tensor r = wide;
    for (const double part : canonical::kHalfPi) {
        r = at::sub(r, at::mul(k, f64(part)));
    }
    const at::Tensor z = at::mul(r, r);
    const at::Tensor s = at::mul(r, polynomial(canonical::kSinTerms, z));
    const at::Tensor c = polynomial(canonical::kCosTerms, z);
    const at::Tensor q = k.to(at::kLong) + quarters;
    at::Tensor y = at::where(q.bitwise_and(1).eq(0), s, c);
    y = at::where(q.bitwise_and(2).eq(0), y, at::neg(y));
    return at::where(is_defined, y.to(at::kFloat), nan_);
}

}  // namespace assay::engine
