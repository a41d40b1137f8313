// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/canonical/golden.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <core/base/assert.hpp>
#include <tests/unit/canonical/samples.hpp>

namespace assay::canonical::test {
namespace {

using Output = std::function<void(const std::string& name, ByteView bytes)>;

struct Profile {
    const char* name;
    std::uint32_t precision;
    std::uint32_t chunk;
};
constexpr std::array<Profile, 4> kProfiles{
    {{"xg21", 21, 2048}, {"xg24", 24, 16'384}, {"xg8", 8, 256}, {"xg7", 7, 65'536}}};

Tensor run(Op op, DType dtype, Shape shape, std::array<std::uint32_t, 2> attributes, std::vector<Tensor> inputs) {
    Sample s{Node{op, dtype, shape, attributes}, {}, std::move(inputs)};
    for (const Tensor& tensor : s.inputs) {
        s.node.inputs.push_back(input_of(tensor));
    }
    ASSERT(check_node(s.node).has_value());
    return execute_node(s.node, s.context, CountingRows({}), s.pointers());
}

// Rows of ordinary values, of zeros, of anything at all, and of one value far above the others.
Tensor random_operand(Shape shape, Random& random, bool is_hostile) {
    Tensor out = random_f32(shape, random, is_hostile ? Kind::kHostile : Kind::kPlain);
    for (std::uint32_t row = 0; row < shape.rows; ++row) {
        if (random.below(4) == 0) {
            const float unit = random.unit();
            const float power = std::bit_cast<float>((127U + random.below(60)) << 23U);
            set_f32(out, std::size_t{row} * shape.cols + random.below(shape.cols), unit * power);
        }
    }
    return out;
}

void contract_once(
    const Profile& profile, Shape a, Shape b, Shape to, Random& random, bool is_hostile, const Output& output
) {
    std::vector<Tensor> operands;
    for (const Shape& shape : {a, b}) {
        const Tensor x = random_operand(shape, random, is_hostile);
        const std::uint32_t chunks = (shape.cols + profile.chunk - 1) / profile.chunk;
        const Tensor e = run(Op::kRowExponent, DType::kI32, {shape.rows, chunks}, {profile.chunk, 0}, {x});
        operands.push_back(run(Op::kQuantise, DType::kI32, shape, {profile.precision, profile.chunk}, {x, e}));
        operands.push_back(e);
    }
    for (const Tensor& tensor : operands) {
        output(profile.name, tensor.data);
    }
    const std::array<std::uint32_t, 2> attributes{profile.precision, profile.chunk};
    output(profile.name, run(Op::kContract, DType::kF32, to, attributes, std::move(operands)).data);
}

void write_profile(const Profile& profile, const Output& output) {
    Random random(9000 + profile.precision);
    for (const std::uint32_t depth : {1U, 31U, 64U, 300U, 1000U, 2100U}) {
        const std::uint32_t m = 1 + random.below(70);
        const std::uint32_t n = 1 + random.below(70);
        contract_once(profile, {m, depth}, {n, depth}, {m, n}, random, depth % 2 == 0, output);
    }
    // More than one chunk, whatever its length.
    const std::uint32_t depth = profile.chunk + 40;
    contract_once(profile, {2, depth}, {3, depth}, {2, 3}, random, true, output);
    contract_once(profile, {192, 50}, {96, 50}, {192, 32}, random, false, output);
}

// The chains before their last rounding, which would hide most of what a fused operation changes.
void write_chains(const Output& output) {
    Random random(8000);
    Bytes bytes;
    const auto write = [&](double x) {
        for (int i = 0; i < 8; ++i) {
            bytes.push_back(static_cast<std::uint8_t>(std::bit_cast<std::uint64_t>(x) >> (8 * i)));
        }
    };
    for (int i = 0; i < 4000; ++i) {
        const double power{std::bit_cast<float>((100U + random.below(40)) << 23U)};
        const double x{double{random.unit()} * power};
        write(exp_f64(x));
        write(log_f64(x < 0.0 ? -x : x + 0x1p-80));
        write(tanh_f64(x));
        write(erf_f64(x));
        write(sin_f64(x));
        write(cos_f64(x));
    }
    output("chains", bytes);
}

// The accumulators and tiles that a one-step verifier sees, of every primitive.
void write_partials(const Output& output) {
    for (const Op op : all_ops()) {
        Random random(static_cast<std::uint64_t>(op) + 7000);
        for (int round = 0; round < 4; ++round) {
            const Sample s = random_sample(op, random, round % 2 == 0 ? Kind::kPlain : Kind::kHostile);
            const auto write = [&](ByteView bytes) { output("partials", bytes); };
            write(execute_by_partials(s, CountingRows(s.context.dataset), write).data);
        }
    }
}

}  // namespace

void write_golden(const Output& output) {
    for (const Op op : all_ops()) {
        Random random(static_cast<std::uint64_t>(op) + 5000);
        for (int round = 0; round < 24; ++round) {
            const Sample s = random_sample(op, random, round % 2 == 0 ? Kind::kPlain : Kind::kHostile);
            const CountingRows rows(s.context.dataset);
            output(to_string(op), execute_node(s.node, s.context, rows, s.pointers()).data);
        }
    }
    for (const Profile& profile : kProfiles) {
        write_profile(profile, output);
    }
    write_chains(output);
    write_partials(output);
}

}  // namespace assay::canonical::test
