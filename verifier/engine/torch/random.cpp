// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/random.hpp>

#include <array>
#include <bit>

namespace assay::engine {

using canonical::Node;
using canonical::Op;
using canonical::StepContext;

namespace {

constexpr std::int64_t kWord = 0xffffffff;

constexpr std::int64_t low(std::uint64_t x) { return static_cast<std::int64_t>(x & 0xffffffffU); }
constexpr std::int64_t high(std::uint64_t x) { return static_cast<std::int64_t>(x >> 32U); }

at::Tensor low(const at::Tensor& x) { return x.bitwise_and(kWord); }
// A product of two words may reach the sign bit; the mask takes what the shift drags along.
at::Tensor high(const at::Tensor& x) { return x.bitwise_right_shift(32).bitwise_and(kWord); }

// NUM-30 for counters (n, tensor, step low, step high), n = 0..count-1: the words in order, i64.
at::Tensor philox(const DeviceMath& math, std::int64_t count, std::uint32_t tensor, const StepContext& context) {
    const at::Tensor first = math.iota(count, at::kLong);
    std::array<at::Tensor, 4> c{
        first, at::full_like(first, std::int64_t{tensor}), at::full_like(first, low(context.step)),
        at::full_like(first, high(context.step))};
    std::array<std::int64_t, 2> key{low(context.seed), high(context.seed)};
    for (int round = 0; round < 10; ++round) {
        const at::Tensor a = c[0] * std::int64_t{0xD2511F53};
        const at::Tensor b = c[2] * std::int64_t{0xCD9E8D57};
        c = {
            high(b).bitwise_xor(c[1]).bitwise_xor(key[0]), low(b), high(a).bitwise_xor(c[3]).bitwise_xor(key[1]),
            low(a)};
        key = {(key[0] + 0x9E3779B9) & kWord, (key[1] + 0xBB67AE85) & kWord};
    }
    return at::stack({c[0], c[1], c[2], c[3]}, 1);
}

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

}  // namespace

at::Tensor draw(const DeviceMath& math, const Node& node, const StepContext& context) {
    const auto [a, b] = node.attributes;
    if (node.op == Op::kStepCount) {
        const std::uint64_t count = context.step / a;
        return math.f32(bits_of(static_cast<float>(b == 0 ? count : count % b))).expand(sizes_of(node.shape));
    }
    const auto elements = static_cast<std::int64_t>(node.shape.element_count());
    const at::Tensor words = philox(math, (elements + 3) / 4, b, context).view({-1}).narrow(0, 0, elements);
    if (node.op == Op::kBernoulli) {
        return DeviceMath::truth(words.lt(std::int64_t{a})).view(sizes_of(node.shape));
    }
    const auto bound = std::bit_cast<float>(a);
    const at::Tensor u = at::mul(words.bitwise_right_shift(8).to(at::kFloat), math.f32(bits_of(0x1.0p-24F)));
    const at::Tensor spread = at::mul(u, math.f32(bits_of(2.0F * bound)));
    return math.canon(at::sub(spread, math.f32(a))).view(sizes_of(node.shape));
}

}  // namespace assay::engine
