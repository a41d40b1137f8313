// SPDX-License-Identifier: Apache-2.0
#include <core/codec/borsh.hpp>
#include <tests/fuzz/seeds.hpp>
#include <tests/fuzz/shapes.hpp>
#include <tests/unit/canonical/samples.hpp>
#include <core/canonical/executor.hpp>
#include <verifier/compile/program/narrow_moments.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::fuzz {
namespace {

using namespace canonical;

void write_partial(const CorpusWriter& out, Op op, const std::string& name, test::Random& random) {
    const test::Sample sample = test::random_sample(op, random, test::Kind::kHostile);
    PartialCase c;
    c.node = sample.node;
    c.seed = sample.context.seed;
    c.step = sample.context.step;
    c.dataset = sample.context.dataset;
    for (int i = 0; i < 37; ++i) {
        c.pattern.push_back(static_cast<std::uint8_t>(random.below(256)));
    }
    c.tile = random.next();
    c.partial = random.next_u32();
    out.write("partial", name, codec::encode(c));
    c.pattern = {0, 0, 0x80, 0x3f};  // 1.0 as f32
    c.before = Accumulator{Bytes(random.below(64))};
    c.row = Bytes(std::size_t{sample.node.shape.cols} * 4 % 512);
    out.write("partial", name + "_before", codec::encode(c));
}

void write_partials(const CorpusWriter& out) {
    test::Random random(1);
    for (const Op op : test::all_ops()) {
        write_partial(out, op, to_string(op), random);
    }
    // These differ most among themselves.
    for (const Op op : {Op::kView, Op::kContract, Op::kNarrow, Op::kWiden}) {
        for (int i = 2; i < 8; ++i) {
            write_partial(out, op, to_string(op) + std::to_string(i), random);
        }
    }
    PartialCase tiles;
    const Input one{.source = Source::kNode, .index = 0, .dtype = DType::kF32, .shape = {1, 1}};
    tiles.node = Node{.op = Op::kRelu, .dtype = DType::kF32, .shape = {1, 1}, .inputs = {one}};
    tiles.tiles = {make_tile(DType::kF32)};
    out.write("partial", "whole_tile", codec::encode(tiles));
    tiles.tiles[0].data.pop_back();
    out.write("partial", "short_tile", codec::encode(tiles));
}

}  // namespace

void write_program_seeds(const CorpusWriter& out) {
    write_partials(out);
    for (const auto kind : {program::OptimizerKind::kAdam, program::OptimizerKind::kSgdMomentum}) {
        const program::CharModelConfig model{
            .vocabulary = 5, .context = 2, .embedding = 32, .hidden = 8, .batch_size = 4, .dataset_rows = 50};
        program::OptimizerConfig optimizer;
        optimizer.kind = kind;
        const std::string name = kind == program::OptimizerKind::kAdam ? "adam" : "sgd";
        program::Program p = program::build_char_model(model, optimizer);
        out.write("program", name, codec::encode(p));
        optimizer.moments = program::Moments::kBf16;
        out.write("program", name + "_bf16", codec::encode(program::with_narrow_moments(p, optimizer).value()));
        p.loss_node = 0;
        out.write("program", name + "_wrong_loss", codec::encode(p));
    }
    // The smallest program there is: one scalar that a step leaves as it was.
    const TensorType scalar{DType::kF32, {1, 1}};
    const Node fill{.op = Op::kFill, .dtype = scalar.dtype, .shape = scalar.shape};
    const Input filled{.source = Source::kNode, .index = 0, .dtype = scalar.dtype, .shape = scalar.shape};
    const Node commit{.op = Op::kCommit, .dtype = DType::kF32, .shape = {}, .inputs = {filled}};
    program::Program least{
        .state = {{"x", scalar}},
        .init = {fill, commit},
        .step = {fill, commit},
        .loss_node = 0,
        .batch_size = 1,
        .dataset = {.rows = 1, .width = 1}};
    out.write("program", "least", codec::encode(least));
    least.step[1].inputs[0].index = 1;
    out.write("program", "forward_reference", codec::encode(least));
}

}  // namespace assay::fuzz
