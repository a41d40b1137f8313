// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/primitive_cases.hpp>

#include <array>
#include <bit>
#include <initializer_list>
#include <span>

#include <core/base/assert.hpp>
#include <tools/spec/random_value.hpp>

namespace assay::spec {
namespace {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;

/// Bits of f32: both zeros, denormals, the least normal number, one, halves between integers, the first odd number
/// without a half, the largest numbers, both infinities, and NaN of several payloads, one of them signalling.
constexpr std::array<std::uint32_t, 20> kSpecial{0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                                                 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000,
                                                 0xc0200000, 0x4b000001, 0x7f7fffff, 0xff7fffff, 0x7f800000,
                                                 0xff800000, 0x7fc00000, 0x7fa00001, 0xffc12345, 0x42f6e979};

void put(Tensor& tensor, std::size_t at, std::uint64_t bits) {
    const std::size_t size = canonical::size_of(tensor.dtype);
    for (std::size_t i = 0; i < size; ++i) {
        tensor.data[at * size + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
}

Tensor tensor_of(DType dtype, Shape shape, std::span<const std::uint32_t> bits) {
    ASSERT(bits.size() == shape.element_count());
    Tensor out = canonical::make_tensor(dtype, shape);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        put(out, i, bits[i]);
    }
    return out;
}
Tensor tensor_of(DType dtype, Shape shape, std::initializer_list<std::uint32_t> bits) {
    return tensor_of(dtype, shape, std::span(bits.begin(), bits.size()));
}

Tensor special_column() { return tensor_of(DType::kF32, {kSpecial.size(), 1}, kSpecial); }
Tensor special_row() { return tensor_of(DType::kF32, {1, kSpecial.size()}, kSpecial); }

/// Each row holds one special value.
Tensor special_square() {
    Tensor out = canonical::make_tensor(DType::kF32, {kSpecial.size(), kSpecial.size()});
    for (std::size_t i = 0; i < kSpecial.size() * kSpecial.size(); ++i) {
        put(out, i, kSpecial[i / kSpecial.size()]);
    }
    return out;
}

/// Numbers of either sign between 2^-low and 2^high, with 24 random bits.
Tensor random_f32(Shape shape, Words& words, std::uint32_t low, std::uint32_t high) {
    Tensor out = canonical::make_tensor(DType::kF32, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        const std::uint64_t word = words.next();
        const auto exponent = static_cast<std::uint32_t>(127 - low + (word >> 32) % (low + high));
        put(out, i, (word & 0x807fffffU) | (exponent << 23U));
    }
    return out;
}

/// Integers from -limit to limit.
Tensor random_i32(Shape shape, Words& words, std::uint32_t limit) {
    Tensor out = canonical::make_tensor(DType::kI32, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        put(out, i, static_cast<std::uint32_t>(words.below(2 * std::uint64_t{limit} + 1)) - limit);
    }
    return out;
}

class List {
  public:
    void add(const char* what, Node node, std::vector<Tensor> inputs, canonical::StepContext context = {}) {
        for (const Tensor& tensor : inputs) {
            node.inputs.push_back(
                {canonical::Source::kNode, static_cast<std::uint32_t>(node.inputs.size()), tensor.dtype, tensor.shape}
            );
        }
        ASSERT(canonical::check_node(node).has_value());
        const std::string name = std::string(canonical::to_string(node.op)) + ": " + what;
        cases.push_back({name, std::move(node), context, std::move(inputs), {}});
    }
    std::vector<PrimitiveCase> cases;
    Words words{1};
};

void add_sources(List& list) {
    const canonical::StepContext context{0x0123456789abcdef, 0x100000002, {}};
    list.add("a NaN becomes canonical", {Op::kFill, DType::kF32, {1, 2}, {0x7fa00001, 0}}, {});
    list.add("negative zero becomes positive", {Op::kFill, DType::kF32, {1, 2}, {0x80000000, 0}}, {});
    list.add("words of two counters", {Op::kUniform, DType::kF32, {3, 3}, {0x3d800000, 7}}, {}, context);
    list.add("a third", {Op::kBernoulli, DType::kF32, {3, 3}, {0x55555555, 7}}, {}, context);
    list.add("without a modulus", {Op::kStepCount, DType::kF32, {1, 1}, {3, 0}}, {}, context);
    list.add("with a modulus", {Op::kStepCount, DType::kF32, {1, 1}, {3, 10}}, {}, context);
    list.add("an epoch ends", {Op::kBatchRows, DType::kI32, {4, 3}}, {}, {11, 2, {5, 3}});
    for (std::uint32_t row = 0; row < 5; ++row) {
        Bytes bytes(12);
        for (std::uint32_t i = 0; i < 3; ++i) {
            bytes[std::size_t{4} * i] = static_cast<std::uint8_t>(16 * row + i);
        }
        list.cases.back().rows.push_back(bytes);
    }
}

void add_movement(List& list) {
    using canonical::View;
    using canonical::ViewAxis;
    // A window of three over five values: padding on the left and right, and every bit is kept.
    const Node window{Op::kView, DType::kF32, {5, 3}, {0x3f800000, 0}, {}, View{{5, 3}, {ViewAxis{5, -1, 1, {1, 1}}}}};
    const Tensor payloads =
        tensor_of(DType::kF32, {1, 5}, {0x7fa00001, 0x80000000, 0x00000001, 0xff800000, 0xffc12345});
    list.add("windows with padding keep every bit", window, {payloads});
    const Node turned{Op::kView, DType::kI32, {3, 2},
                      {},        {},          View{{3, 2}, {ViewAxis{2, 0, 1, {0, 1}}, ViewAxis{3, 0, 1, {1, 0}}}}};
    list.add("a transpose", turned, {tensor_of(DType::kI32, {2, 3}, {1, 2, 3, 4, 5, 0xffffffff})});
    const Node spread{Op::kView, DType::kI32, {1, 6}, {9, 0}, {}, View{{6}, {ViewAxis{3, 0, 2, {1}}}}};
    list.add("a divisor leaves gaps", spread, {tensor_of(DType::kI32, {1, 3}, {1, 2, 3})});
    Tensor table = canonical::make_tensor(DType::kF32, {3, 32});
    for (std::size_t i = 0; i < 96; ++i) {
        put(table, i, i % 32 < kSpecial.size() ? kSpecial[i % 32] : 0x40000000 + i);
    }
    const Tensor index = tensor_of(DType::kI32, {4, 1}, {2, 3, 0xffffffff, 0});
    list.add("an index out of range reads zeros", {Op::kGatherRows, DType::kF32, {4, 32}}, {table, index});
    list.add(
        "an index out of range adds nothing", {Op::kScatterAddRows, DType::kI64, {3, 32}},
        {random_i32({4, 32}, list.words, 0x7fffffff), tensor_of(DType::kI32, {4, 1}, {2, 3, 2, 0})}
    );
    list.add("an index out of range gives zeros", {Op::kOneHot, DType::kF32, {4, 3}}, {index});
}

void add_elementwise(List& list) {
    const Shape square{kSpecial.size(), kSpecial.size()};
    for (const Op op :
         {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kReluGrad, Op::kMax, Op::kMin, Op::kLess, Op::kEqual}) {
        list.add("every pair of special values", {op, DType::kF32, square}, {special_square(), special_row()});
    }
    list.add(
        "conditions of every kind", {Op::kSelect, DType::kF32, square},
        {special_square(), special_row(), tensor_of(DType::kF32, {1, 1}, {0x40490fdb})}
    );
    for (const Op op :
         {Op::kSqrt, Op::kRelu, Op::kExp, Op::kLog, Op::kTanh, Op::kErf, Op::kSin, Op::kCos, Op::kAbs, Op::kFloor,
          Op::kRint}) {
        list.add("special values", {op, DType::kF32, {kSpecial.size(), 1}}, {special_column()});
        list.add("ordinary values", {op, DType::kF32, {4, 8}}, {random_f32({4, 8}, list.words, 14, 7)});
    }
    for (const std::uint32_t c : {0x3eaaaaabU, 0x80000000U, 0x7f800000U}) {
        const Node scale{Op::kScale, DType::kF32, {kSpecial.size(), 1}, {c, 0}};
        list.add("special values", scale, {special_column()});
        list.add("special values", {Op::kAddConst, DType::kF32, scale.shape, {c, 0}}, {special_column()});
    }
    list.add(
        "rows count modulo a", {Op::kCausalMask, DType::kF32, {4, 5}, {3, 0xff800000}},
        {random_f32({4, 5}, list.words, 4, 4)}
    );
}

void add_conversions(List& list) {
    Tensor bits = special_column();
    bits.dtype = DType::kI32;
    list.add("special values", {Op::kFromBits, DType::kF32, {kSpecial.size(), 1}}, {bits});
    const Tensor integers =
        tensor_of(DType::kI32, {1, 6}, {0, 0xffffffff, 0x7fffffff, 0x80000000, 0x01000001, 0x01000003});
    list.add("ties to even", {Op::kToFloat, DType::kF32, {1, 6}}, {integers});
    list.add("special values", {Op::kToInt, DType::kI32, {kSpecial.size(), 1}}, {special_column()});
    list.add(
        "the ends of the range", {Op::kToInt, DType::kI32, {1, 4}},
        {tensor_of(DType::kF32, {1, 4}, {0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001})}
    );
}

void add_narrow(List& list) {
    // Between two bf16: below, on and above the middle, for an even and an odd lower one, to the largest.
    const Tensor between = tensor_of(
        DType::kF32, {2, 6},
        {0x3f807fff, 0x3f808000, 0x3f808001, 0x3f817fff, 0x3f818000, 0x3f818001, 0x80000001, 0x80008001, 0x7f7f7fff,
         0x7f7f8000, 0xff7f8000, 0xbf818000}
    );
    list.add("special values", {Op::kNarrow, DType::kBf16, {kSpecial.size(), 1}}, {special_column()});
    list.add("ties to even", {Op::kNarrow, DType::kBf16, {2, 6}}, {between});
    const Tensor dithers =
        tensor_of(DType::kF32, {1, 6}, {0xbf000000, 0xbe800000, 0x00000000, 0x3e800000, 0x3effff00, 0x3f000000});
    list.add("dithers in their range", {Op::kNarrow, DType::kBf16, {2, 6}}, {between, dithers});
    const Shape square{kSpecial.size(), kSpecial.size()};
    list.add(
        "special values with dithers of any size", {Op::kNarrow, DType::kBf16, square},
        {special_square(), special_row()}
    );
    list.add(
        "the ends of the range", {Op::kNarrow, DType::kI8, {1, 6}},
        {tensor_of(DType::kI32, {1, 6}, {0xffffff7f, 0xffffff80, 0xffffffff, 0x7f, 0x80, 0x80000000})}
    );
    list.add(
        "signs, denormals and NaN", {Op::kWiden, DType::kF32, {1, 8}},
        {tensor_of(DType::kBf16, {1, 8}, {0x0000, 0x8000, 0x0001, 0x3f80, 0xc2f7, 0x7f80, 0xff80, 0xffa1})}
    );
    list.add("signs", {Op::kWiden, DType::kI32, {1, 5}}, {tensor_of(DType::kI8, {1, 5}, {0, 1, 0x7f, 0x80, 0xff})});
}

/// 40 columns, two tiles. Row 0: the largest of the first tile is a negative zero, and so it is in the end. Row 1: then
/// a denormal beats it. Row 2: NaN alone. Row 3: infinities and NaN. Row 4: minus infinity alone.
Tensor rows_for_maxima() {
    Tensor out = canonical::make_tensor(DType::kF32, {5, 40});
    for (std::size_t i = 0; i < 200; ++i) {
        constexpr std::array<std::uint32_t, 5> kFill{0xbf800000, 0xbf800000, 0x7fc00000, 0x7fa00001, 0xff800000};
        put(out, i, kFill[i / 40]);
    }
    put(out, 3, 0x80000000);
    put(out, 40 + 3, 0x80000000);
    put(out, 40 + 35, 0x00000001);
    put(out, 3 * 40 + 5, 0xff800000);
    put(out, 3 * 40 + 36, 0x7f800000);
    return out;
}

void add_reductions(List& list) {
    list.add("a running maximum of negative zero", {Op::kRowMax, DType::kF32, {5, 1}}, {rows_for_maxima()});
    list.add("the first of equals", {Op::kRowArgMax, DType::kI32, {5, 1}}, {rows_for_maxima()});
    list.add(
        "integers over three tiles", {Op::kRowMax, DType::kI32, {2, 1}}, {random_i32({2, 70}, list.words, 0x7fffffff)}
    );
    list.add("sums beyond 32 bits", {Op::kRowSum, DType::kI64, {2, 1}}, {random_i32({2, 70}, list.words, 0x7fffffff)});
    list.add("special values", {Op::kRowExponent, DType::kI32, {kSpecial.size(), 1}, {32, 0}}, {special_column()});
    list.add(
        "two chunks", {Op::kRowExponent, DType::kI32, {3, 2}, {64, 0}}, {random_f32({3, 100}, list.words, 60, 60)}
    );
}

void add_fixed_point(List& list) {
    const Tensor zero = tensor_of(DType::kI32, {1, 1}, {0});
    for (const std::uint32_t a : {7U, 21U}) {
        list.add(
            "special values", {Op::kQuantise, DType::kI32, {kSpecial.size(), 1}, {a, 0}}, {special_column(), zero}
        );
    }
    list.add(
        "an exponent for each chunk", {Op::kQuantise, DType::kI32, {2, 40}, {21, 32}},
        {random_f32({2, 40}, list.words, 6, 3), tensor_of(DType::kI32, {2, 2}, {3, 0xfffffffe, 0, 2000})}
    );
    Tensor q = canonical::make_tensor(DType::kI64, {3, 2});
    for (std::size_t i = 0; i < 6; ++i) {
        constexpr std::array<std::uint64_t, 6> kValues{
            0, 1, 0xffffffffffffffff, 0x8000000000000000, 0x7fffffffffffffff, 0x0020000000000001};
        put(q, i, kValues[i]);
    }
    list.add(
        "exponents beyond the clamp", {Op::kDequantise, DType::kF32, {3, 2}, {21, 0}},
        {q, tensor_of(DType::kI32, {3, 1}, {0, 5000, 0x80000000})}
    );
    list.add(
        "two chunks and three partials", {Op::kContract, DType::kF32, {2, 3}, {21, 64}},
        {random_i32({2, 80}, list.words, 1U << 21U), random_i32({2, 2}, list.words, 9),
         random_i32({3, 80}, list.words, 1U << 21U), random_i32({3, 2}, list.words, 9)}
    );
    list.add(
        "two groups", {Op::kContract, DType::kF32, {64, 32}, {7, 32}},
        {random_i32({64, 2}, list.words, 127), random_i32({64, 1}, list.words, 4), random_i32({64, 2}, list.words, 127),
         random_i32({64, 1}, list.words, 4)}
    );
}

}  // namespace

std::vector<PrimitiveCase> primitive_cases() {
    List list;
    add_sources(list);
    add_movement(list);
    add_elementwise(list);
    add_conversions(list);
    add_narrow(list);
    add_reductions(list);
    add_fixed_point(list);
    return std::move(list.cases);
}

}  // namespace assay::spec
