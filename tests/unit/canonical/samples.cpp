// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/canonical/samples.hpp>

#include <algorithm>
#include <bit>
#include <limits>

#include <core/base/assert.hpp>
#include <tests/unit/canonical/sample_views.hpp>

namespace assay::canonical::test {
namespace {

void put(Tensor& tensor, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        tensor.data[at * size + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
}

std::uint64_t get(const Tensor& tensor, std::size_t at, std::size_t size) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < size; ++i) {
        out |= std::uint64_t{tensor.data[at * size + i]} << (8 * i);
    }
    return out;
}

std::uint32_t dimension(Random& random) {
    constexpr std::array<std::uint32_t, 9> kSizes{1, 2, 5, 31, 32, 33, 64, 65, 97};
    return kSizes[random.below(kSizes.size())];
}
Shape random_shape(Random& random) { return {dimension(random), dimension(random)}; }
Shape random_broadcast(Shape to, Random& random) {
    return {random.below(2) == 0 ? 1 : to.rows, random.below(2) == 0 ? 1 : to.cols};
}

// Up to 2^35.
float any_magnitude(Random& random) {
    const float unit = random.unit();
    return unit * static_cast<float>(std::uint64_t{1} << random.below(36));
}

Tensor random_exponents(Shape shape, Random& random, Kind kind) {
    Tensor out = random_i32(shape, random, -12, 12);
    for (std::size_t i = 0; kind == Kind::kHostile && i < shape.element_count(); ++i) {
        if (random.below(3) == 0) {
            set_u32(out, i, random.next_u32());
        } else if (random.below(3) == 0) {
            set_i32(out, i, static_cast<std::int32_t>(random.below(2400)) - 1200);
        }
    }
    return out;
}

Tensor random_q(Shape shape, Random& random, std::uint32_t precision, Kind kind) {
    const auto limit = static_cast<std::int32_t>(1U << precision);
    Tensor out = random_i32(shape, random, -limit, limit);
    for (std::size_t i = 0; kind == Kind::kHostile && i < shape.element_count(); ++i) {
        switch (random.below(4)) {
            case 0:
                set_u32(out, i, random.next_u32());
                break;
            case 1:
                set_i32(out, i, random.below(2) == 0 ? limit : -limit);
                break;
            case 2:
                set_i32(out, i, std::numeric_limits<std::int32_t>::min());
                break;
            default:
                break;
        }
    }
    return out;
}

Tensor random_i64(Shape shape, Random& random, Kind kind) {
    Tensor out = make_tensor(DType::kI64, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        const std::uint32_t shift = kind == Kind::kHostile ? random.below(64) : 20 + random.below(30);
        set_i64(out, i, std::bit_cast<std::int64_t>(random.next()) >> shift);
    }
    return out;
}

Tensor random_index(Shape shape, Random& random, std::uint32_t rows, Kind kind) {
    Tensor out = random_i32(shape, random, 0, static_cast<std::int32_t>(rows) - 1);
    for (std::size_t i = 0; kind == Kind::kHostile && i < shape.element_count(); ++i) {
        switch (random.below(5)) {
            case 0:
                set_i32(out, i, static_cast<std::int32_t>(rows));
                break;
            case 1:
                set_i32(out, i, -1);
                break;
            case 2:
                set_u32(out, i, random.next_u32());
                break;
            default:
                break;
        }
    }
    return out;
}

void make_movement(Sample& s, Random& random, Kind kind) {
    const Shape shape = random_shape(random);
    const std::uint32_t depth = 32 * (1 + random.below(3));
    const std::uint32_t slots = 1 + random.below(40);
    const std::uint32_t rows = dimension(random);
    switch (s.node.op) {
        case Op::kGatherRows:
            s.inputs = {
                random_f32({shape.rows, depth}, random, kind), random_index({rows, slots}, random, shape.rows, kind)};
            s.node.shape = {rows, slots * depth};
            break;
        case Op::kScatterAddRows:
            s.inputs = {
                random_q({rows, slots * depth}, random, 30, kind),
                random_index({rows, slots}, random, shape.rows, kind)};
            s.node.shape = {shape.rows, depth};
            s.node.dtype = DType::kI64;
            return;
        default:
            s.inputs = {random_index({rows, 1}, random, shape.cols, kind)};
            s.node.shape = {rows, shape.cols};
            return;
    }
    s.node.dtype = s.inputs[0].dtype;
}

void make_conversion(Sample& s, Random& random, Kind kind) {
    const Shape shape = random_shape(random);
    s.node.shape = shape;
    if (s.node.op == Op::kToInt) {
        s.inputs = {random_f32(shape, random, kind)};
        s.node.dtype = DType::kI32;
        for (std::size_t i = 0; i < shape.element_count(); i += 2) {
            set_f32(s.inputs[0], i, any_magnitude(random));
        }
    } else {
        s.inputs = {random_q(shape, random, 30, kind)};
        for (std::size_t i = 0; kind == Kind::kHostile && i < shape.element_count(); i += 2) {
            set_u32(s.inputs[0], i, hostile_bits(random));
        }
    }
}

// Values that lie between two bf16, and on and next to the middle; dithers in and out of their range.
void make_narrow(Sample& s, Random& random, Kind kind) {
    const Shape shape = random_shape(random);
    const bool is_float = random.below(3) != 0;
    s.node.shape = shape;
    if (s.node.op == Op::kWiden) {
        s.node.dtype = is_float ? DType::kF32 : DType::kI32;
        s.inputs = {random_narrow(is_float ? DType::kBf16 : DType::kI8, shape, random, kind)};
        return;
    }
    s.node.dtype = is_float ? DType::kBf16 : DType::kI8;
    if (!is_float) {
        s.inputs = {
            random_i32(shape, random, kind == Kind::kHostile ? -400 : -127, kind == Kind::kHostile ? 400 : 127)};
        return;
    }
    s.inputs = {random_f32(shape, random, kind)};
    for (std::size_t i = 0; i < shape.element_count(); i += 3) {
        const std::uint32_t half = hostile_bits(random) & 0xffff0000U;
        set_u32(s.inputs[0], i, half + 0x7fffU + random.below(3));
    }
    if (random.below(2) == 0) {
        Tensor dither = random_f32(random_broadcast(shape, random), random, kind);
        for (std::size_t i = 0; i < dither.shape.element_count(); i += 2) {
            set_f32(dither, i, 0.5F * random.unit());
        }
        s.inputs.push_back(std::move(dither));
    }
}

// Values over many magnitudes, whole numbers and halves among them, and often the same twice.
Tensor random_mixed(Shape shape, Random& random, Kind kind) {
    Tensor out = random_f32(shape, random, kind);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        switch (random.below(4)) {
            case 0:
                set_f32(out, i, static_cast<float>(static_cast<std::int32_t>(random.below(9)) - 4) * 0.5F);
                break;
            case 1:
                set_f32(out, i, any_magnitude(random));
                break;
            default:
                break;
        }
    }
    return out;
}

void make_elementwise(Sample& s, Random& random, Kind kind) {
    const Shape shape = random_shape(random);
    s.node.shape = shape;
    const Op op = s.node.op;
    const bool is_simple = op <= Op::kLog;
    const auto operand = [&](Shape of) {
        return is_simple ? random_f32(of, random, kind) : random_mixed(of, random, kind);
    };
    s.inputs = {operand(shape)};
    if ((op >= Op::kAdd && op <= Op::kDiv) || op == Op::kReluGrad || op == Op::kMax || op == Op::kMin ||
        op == Op::kLess || op == Op::kEqual || op == Op::kSelect) {
        s.inputs.push_back(operand(random_broadcast(shape, random)));
    }
    if (op == Op::kSelect) {
        s.inputs.push_back(operand(random_broadcast(shape, random)));
    } else if (op == Op::kScale || op == Op::kAddConst) {
        s.node.attributes[0] =
            kind == Kind::kHostile ? hostile_bits(random) : std::bit_cast<std::uint32_t>(random.unit());
    } else if (op == Op::kCausalMask) {
        s.node.attributes = {1 + random.below(shape.rows + 3), hostile_bits(random)};
    }
}

void make_reduction(Sample& s, Random& random, Kind kind) {
    const Shape shape{dimension(random), 1 + random.below(300)};
    s.node.shape = {shape.rows, 1};
    if (s.node.op == Op::kRowSum) {
        s.inputs = {random_q(shape, random, 30, kind)};
        s.node.dtype = DType::kI64;
    } else if (s.node.op == Op::kRowMax) {
        s.inputs = {random.below(2) == 0 ? random_f32(shape, random, kind) : random_q(shape, random, 30, kind)};
        s.node.dtype = s.inputs[0].dtype;
    } else if (s.node.op == Op::kRowArgMax) {
        s.inputs = {random_mixed(shape, random, kind)};
        s.node.dtype = DType::kI32;
    } else {
        // Now and then more chunks than one output tile has columns.
        const Shape wide{dimension(random), random.below(4) == 0 ? 1500 : shape.cols};
        s.inputs = {random_f32(wide, random, kind)};
        s.node.attributes[0] = 32 * (1 + random.below(4));
        s.node.shape = {wide.rows, (wide.cols + s.node.attributes[0] - 1) / s.node.attributes[0]};
        s.node.dtype = DType::kI32;
    }
}

void make_fixed_point(Sample& s, Random& random, Kind kind) {
    const std::uint32_t rows = dimension(random);
    const std::uint32_t cols = random.below(6) == 0 ? 1100 : 1 + random.below(300);
    const std::uint32_t chunk = 32 * (1 + random.below(4));
    const std::uint32_t chunks = (cols + chunk - 1) / chunk;
    s.node.shape = {rows, cols};
    if (s.node.op == Op::kQuantise) {
        const std::array<Shape, 3> shapes{Shape{rows, chunks}, Shape{rows, 1}, Shape{1, 1}};
        const Shape e = shapes[random.below(3)];
        s.inputs = {random_f32(s.node.shape, random, kind), random_exponents(e, random, kind)};
        s.node.dtype = DType::kI32;
        s.node.attributes = {1 + random.below(30), e.cols == 1 && random.below(2) == 0 ? 0 : chunk};
    } else if (s.node.op == Op::kDequantise) {
        s.inputs = {
            random_i64(s.node.shape, random, kind),
            random_exponents({random.below(2) == 0 ? 1 : rows, 1}, random, kind)};
        s.node.attributes[0] = random.below(63);
    } else {
        const std::uint32_t precision = 2 + random.below(23);
        const std::uint32_t groups = random.below(3) == 0 ? 2 + random.below(2) : 1;
        const std::uint32_t m = groups == 1 ? rows : groups * 32 * (1 + random.below(2));
        const std::uint32_t n = groups == 1 ? dimension(random) : 32 * (1 + random.below(2));
        s.node.attributes = {precision, chunk};
        s.node.shape = {m, n};
        s.inputs = {
            random_q({m, cols}, random, precision, kind), random_exponents({m, chunks}, random, kind),
            random_q({groups * n, cols}, random, precision, kind),
            random_exponents({groups * n, chunks}, random, kind)};
    }
}

void make_source(Sample& s, Random& random, Kind kind) {
    s.node.shape = random_shape(random);
    if (s.node.op == Op::kBatchRows) {
        s.node.dtype = DType::kI32;
        s.context.dataset = {1 + random.below(200), s.node.shape.cols};
    } else if (s.node.op == Op::kUniform) {
        const float bound = random.unit();
        s.node.attributes = {std::bit_cast<std::uint32_t>(bound < 0 ? -bound : bound), random.next_u32()};
    } else if (s.node.op == Op::kBernoulli) {
        s.node.attributes = {random.next_u32(), random.next_u32()};
    } else if (s.node.op == Op::kStepCount) {
        s.node.shape = {1, 1};
        s.node.attributes[0] = random.next_u32() >> random.below(32);
        s.node.attributes[0] = std::max(1U, s.node.attributes[0]);
        s.node.attributes[1] = random.below(2) == 0 ? 0 : random.next_u32() >> random.below(32);
    } else {
        s.node.attributes[0] =
            kind == Kind::kHostile ? hostile_bits(random) : std::bit_cast<std::uint32_t>(random.unit());
    }
}

}  // namespace

std::uint32_t hostile_bits(Random& random) {
    switch (random.below(8)) {
        case 0:
            return random.below(2) << 31U;
        case 1:
            return (random.next_u32() & 0x807fffffU);
        case 2:
            return random.next_u32();
        case 3:
            return 0x7f800000U | (random.below(2) << 31U);
        case 4:
            return 0x7f800001U | random.next_u32();
        case 5:
            return 0x7f000000U | (random.next_u32() & 0x807fffffU);
        default:
            return std::bit_cast<std::uint32_t>(random.unit());
    }
}

Tensor any_type(Shape shape, Random& random, Kind kind) {
    switch (random.below(3)) {
        case 0:
            return random_f32(shape, random, kind);
        case 1:
            return random_q(shape, random, 20, kind);
        default:
            return random_i64(shape, random, kind);
    }
}

std::uint64_t Random::next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

float Random::unit() { return static_cast<float>(static_cast<std::int32_t>(next_u32() >> 7U) - (1 << 24)) * 0x1p-24F; }

std::vector<const Tensor*> Sample::pointers() const {
    std::vector<const Tensor*> out;
    for (const Tensor& tensor : inputs) {
        out.push_back(&tensor);
    }
    return out;
}

const std::vector<Op>& all_ops() {
    static const std::vector<Op> kOps = [] {
        std::vector<Op> out;
        for (std::uint8_t i = 0; i < 90; ++i) {
            if (is_valid(static_cast<Op>(i))) {
                out.push_back(static_cast<Op>(i));
            }
        }
        return out;
    }();
    return kOps;
}

Sample random_sample(Op op, Random& random, Kind kind) {
    Sample s;
    s.node.op = op;
    s.context.seed = random.next();
    s.context.step = random.next() >> random.below(64);
    if (op <= Op::kStepCount) {
        make_source(s, random, kind);
    } else if (op == Op::kView) {
        make_view(s, random, kind);
    } else if (op <= Op::kOneHot) {
        make_movement(s, random, kind);
    } else if (op <= Op::kToInt) {
        make_conversion(s, random, kind);
    } else if (op <= Op::kWiden) {
        make_narrow(s, random, kind);
    } else if (op >= Op::kRowMax && op <= Op::kRowArgMax) {
        make_reduction(s, random, kind);
    } else if (op >= Op::kQuantise && op <= Op::kContract) {
        make_fixed_point(s, random, kind);
    } else {
        make_elementwise(s, random, kind);
    }
    for (const Tensor& tensor : s.inputs) {
        s.node.inputs.push_back(input_of(tensor));
    }
    ASSERT(check_node(s.node).has_value());
    return s;
}

Input input_of(const Tensor& tensor) { return {Source::kState, 0, tensor.dtype, tensor.shape}; }

std::uint32_t get_u32(const Tensor& t, std::size_t i) { return static_cast<std::uint32_t>(get(t, i, 4)); }
float get_f32(const Tensor& t, std::size_t i) { return std::bit_cast<float>(get_u32(t, i)); }
std::int32_t get_i32(const Tensor& t, std::size_t i) { return std::bit_cast<std::int32_t>(get_u32(t, i)); }
std::int64_t get_i64(const Tensor& t, std::size_t i) { return std::bit_cast<std::int64_t>(get(t, i, 8)); }
std::uint16_t get_u16(const Tensor& t, std::size_t i) { return static_cast<std::uint16_t>(get(t, i, 2)); }
std::int8_t get_i8(const Tensor& t, std::size_t i) { return static_cast<std::int8_t>(get(t, i, 1)); }
void set_u32(Tensor& t, std::size_t i, std::uint32_t value) { put(t, i, value, 4); }
void set_u16(Tensor& t, std::size_t i, std::uint16_t value) { put(t, i, value, 2); }
void set_i8(Tensor& t, std::size_t i, std::int8_t value) { put(t, i, static_cast<std::uint8_t>(value), 1); }
void set_f32(Tensor& t, std::size_t i, float value) { put(t, i, std::bit_cast<std::uint32_t>(value), 4); }
void set_i32(Tensor& t, std::size_t i, std::int32_t value) { put(t, i, std::bit_cast<std::uint32_t>(value), 4); }
void set_i64(Tensor& t, std::size_t i, std::int64_t value) { put(t, i, std::bit_cast<std::uint64_t>(value), 8); }

Tensor random_f32(Shape shape, Random& random, Kind kind) {
    Tensor out = make_tensor(DType::kF32, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        if (kind == Kind::kHostile) {
            set_u32(out, i, hostile_bits(random));
        } else {
            const float unit = random.unit();
            set_f32(out, i, unit * (random.below(200) == 0 ? 1000.0F : 1.0F));
        }
    }
    // Whole rows of zeros occur: a unit that never fires.
    if (random.below(2) == 0) {
        const std::size_t row = random.below(shape.rows);
        std::fill_n(
            out.data.begin() + static_cast<std::ptrdiff_t>(row * shape.cols * 4), shape.cols * 4, std::uint8_t{0}
        );
    }
    return out;
}

Tensor random_i32(Shape shape, Random& random, std::int32_t low, std::int32_t high) {
    Tensor out = make_tensor(DType::kI32, shape);
    const auto span = static_cast<std::uint32_t>(std::int64_t{high} - low + 1);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        set_i32(out, i, static_cast<std::int32_t>(low + std::int64_t{random.below(span)}));
    }
    return out;
}

Tensor random_narrow(DType dtype, Shape shape, Random& random, Kind kind) {
    Tensor out = make_tensor(dtype, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        if (dtype == DType::kI8) {
            set_i8(out, i, static_cast<std::int8_t>(random.below(256)));
            continue;
        }
        const std::uint32_t bits =
            kind == Kind::kHostile ? hostile_bits(random) : std::bit_cast<std::uint32_t>(random.unit());
        set_u16(out, i, static_cast<std::uint16_t>(bits >> 16U));
    }
    return out;
}

CountingRows::CountingRows(DatasetShape shape) : shape_(shape) {
    Tensor all = make_tensor(DType::kI32, {static_cast<std::uint32_t>(shape.rows), shape.width});
    for (std::size_t i = 0; i < all.shape.element_count(); ++i) {
        set_u32(all, i, static_cast<std::uint32_t>(i * 2654435761U));
    }
    data_ = std::move(all.data);
}

Bytes CountingRows::row(std::uint64_t index) const {
    const std::size_t size = std::size_t{shape_.width} * 4;
    const ByteView row = ByteView{data_}.subspan(index * size, size);
    return {row.begin(), row.end()};
}

Tensor execute_by_partials(const Sample& sample, const RowSource& rows, const std::function<void(ByteView)>& between) {
    const Node& node = sample.node;
    Tensor out = make_tensor(node.dtype, node.shape);
    for (std::uint64_t tile = 0; tile < tile_count(node.shape); ++tile) {
        std::optional<Accumulator> before;
        const std::uint32_t count = partial_count(node, tile);
        for (std::uint32_t partial = 0; partial < count; ++partial) {
            PartialInput input;
            input.before = before;
            for (const TileRef& ref : operands_of(node, tile, partial)) {
                input.tiles.push_back(tile_of(sample.inputs[ref.input], ref.tile));
            }
            if (const auto ref = dependent_operand(node, tile, partial, input.tiles)) {
                input.tiles.push_back(tile_of(sample.inputs[ref->input], ref->tile));
            }
            if (const auto span = dataset_span_of(node, tile, partial, sample.context)) {
                const Bytes row = rows.row(span->row);
                const auto first = row.begin() + 4 * static_cast<std::ptrdiff_t>(span->first);
                input.dataset_values = Bytes(first, first + 4 * static_cast<std::ptrdiff_t>(span->count));
            }
            const auto result = execute_partial(node, tile, partial, sample.context, input);
            ASSERT(result.has_value());
            const bool is_last = partial + 1 == count;
            ASSERT(result->tile.has_value() == is_last && result->accumulator.has_value() != is_last);
            before = result->accumulator;
            if (is_last) {
                store_tile(out, tile, *result->tile);
                // NUM-4: padding is zero, so cutting the tile out again gives the same tile.
                ASSERT(tile_of(out, tile) == *result->tile);
            } else {
                ASSERT(before->data.size() <= kMaxAccumulatorBytes);
                if (between) {
                    between(before->data);
                }
            }
        }
    }
    return out;
}

}  // namespace assay::canonical::test
