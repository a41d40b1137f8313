// SPDX-License-Identifier: Apache-2.0
#include <client/referee/values.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <core/dispute/commitment.hpp>

namespace assay::referee {
namespace {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using dispute::AtPartial;
using dispute::AtTensor;
using dispute::ProofError;
using Ruled = Result<dispute::Ruling, ProofError>;

struct Refusal {
    ProofError error;
    const char* rule;
    const char* text;
};
constexpr std::array kRefusals{
    Refusal{ProofError::kNotAtProof, "DSP-2", "the dispute is not at a proof of this kind"},
    Refusal{ProofError::kBadAccumulator, "DSP-20", "the accumulator is not the one that was revealed"},
    Refusal{ProofError::kBadTile, "DSP-20", "a tile has the wrong size or type, or there are too few"},
    Refusal{ProofError::kBadTilePath, "DSP-21", "a tile does not lead to a tensor that was claimed"},
    Refusal{ProofError::kBadChunk, "DSP-22", "the chunks are not those of the dataset that hold the values"},
    Refusal{ProofError::kBadEntry, "DSP-23", "the entry is not the one that the last node names"},
    Refusal{ProofError::kSuperfluous, "DSP-24", "the proof has parts that the node does not read"},
    Refusal{ProofError::kNoDivergence, "DSP-27", "the opened tile shows no divergence of the claimed state"},
    Refusal{ProofError::kWrongKind, "DSP-24", "the proof is of the wrong kind for what is disputed"}};

const char* name_of(DType dtype) {
    switch (dtype) {
        case DType::kF32:
            return "f32";
        case DType::kI32:
            return "i32";
        case DType::kI64:
            return "i64";
        case DType::kBf16:
            return "bf16";
        case DType::kI8:
            return "i8";
    }
    return "unknown";
}

/// How the elements of some bytes are to be read.
struct Layout {
    DType dtype = DType::kF32;
    std::uint32_t rows = canonical::kTileDim;
    std::uint32_t cols = canonical::kTileDim;
    Shape shape;  ///< how many of them are inside the tensor
};

void write_data(JsonWriter& out, ByteView data, const Layout& layout) {
    out.begin_object("values").text("dtype", name_of(layout.dtype)).number("rows", layout.rows);
    out.number("cols", layout.cols).number("shapeRows", layout.shape.rows).number("shapeCols", layout.shape.cols);
    out.hex("bytes", data).end_object();
}

/// The part of tile `tile` that is inside a tensor of this shape.
Shape inside(Shape shape, std::uint64_t tile) {
    const std::uint32_t cols = canonical::tile_cols(shape);
    if (cols == 0 || tile >= canonical::tile_count(shape)) {
        return {};
    }
    const auto row = static_cast<std::uint32_t>(tile / cols) * canonical::kTileDim;
    const auto col = static_cast<std::uint32_t>(tile % cols) * canonical::kTileDim;
    return {std::min(canonical::kTileDim, shape.rows - row), std::min(canonical::kTileDim, shape.cols - col)};
}

/// The first plane of an accumulator (StateSize in core/canonical/kernels.hpp): a row reduction has one element for
/// each row.
Layout layout_of_accumulator(const Node& node, std::uint64_t tile) {
    const bool is_wide = node.op == Op::kContract || node.op == Op::kScatterAddRows || node.dtype == DType::kI64;
    const bool is_of_rows = node.op == Op::kRowMax || node.op == Op::kRowArgMax || node.op == Op::kRowSum;
    const bool is_of_integers = node.op == Op::kRowExponent || node.dtype == DType::kI32;
    const Shape shape = inside(node.shape, tile);
    const DType narrow = is_of_integers && node.op != Op::kRowArgMax ? DType::kI32 : DType::kF32;
    return {
        .dtype = is_wide ? DType::kI64 : narrow,
        .rows = canonical::kTileDim,
        .cols = is_of_rows ? 1 : canonical::kTileDim,
        .shape = {shape.rows, is_of_rows ? 1 : shape.cols}};
}

struct Shown {
    Hash256 hash;
    const char* form = "commitment";
    std::optional<Bytes> data = std::nullopt;
    Layout layout = {};
};

void write_shown(JsonWriter& out, const char* name, const Shown& shown) {
    out.begin_object(name).hex("hash", shown.hash).text("form", shown.form);
    if (shown.data) {
        write_data(out, *shown.data, shown.layout);
    } else {
        out.null("values");
    }
    out.end_object();
}

Layout layout_of_tile(const Node& node, std::uint64_t tile) {
    return {.dtype = node.dtype, .shape = inside(node.shape, tile)};
}

Shown show_output(const dispute::Execution& done, const Node& node, std::uint64_t tile) {
    if (!done.output) {
        return {.hash = done.hash, .form = "impossible"};
    }
    if (done.output->tile) {
        return {
            .hash = done.hash, .form = "tile", .data = done.output->tile->data, .layout = layout_of_tile(node, tile)};
    }
    return {
        .hash = done.hash,
        .form = "accumulator",
        .data = done.output->accumulator->data,
        .layout = layout_of_accumulator(node, tile)};
}

/// The tiles that a partial read, in the order in which it reads them.
void write_inputs(JsonWriter& out, const AtPartial& at, const dispute::Execution& done) {
    const Node& node = std::get<Node>(at.tile.node.node);
    auto refs = canonical::operands_of(node, at.tile.index, at.partial);
    if (const auto more = canonical::dependent_operand(node, at.tile.index, at.partial, done.input.tiles)) {
        refs.push_back(*more);
    }
    out.begin_array("inputs");
    for (std::size_t i = 0; i < std::min(refs.size(), done.input.tiles.size()); ++i) {
        const canonical::Input& input = node.inputs[refs[i].input];
        out.begin_element().text("source", input.source == canonical::Source::kNode ? "node" : "state");
        out.number("index", input.index).number("tile", refs[i].tile);
        write_data(out, done.input.tiles[i].data, {.dtype = input.dtype, .shape = inside(input.shape, refs[i].tile)});
        out.end_object();
    }
    out.end_array();
}

void write_before(JsonWriter& out, const AtPartial& at, const dispute::Execution& done) {
    if (!done.input.before) {
        out.null("before");
        return;
    }
    const Node& node = std::get<Node>(at.tile.node.node);
    write_shown(
        out, "before",
        {.hash = at.accumulator_before.value_or(Hash256{}),
         .form = "accumulator",
         .data = done.input.before->data,
         .layout = layout_of_accumulator(node, at.tile.index)}
    );
}

void write_nothing_read(JsonWriter& out) { out.begin_array("inputs").end_array().null("before"); }

/// What was claimed is known if it is what was recomputed, or if somebody has bytes with its hash.
std::optional<Bytes> find_claimed(
    const Shown& computed, const Hash256& claimed, const std::optional<Bytes>& offered, DType dtype
) {
    if (computed.data && computed.hash == claimed) {
        return computed.data;
    }
    const bool is_tile = std::string_view(computed.form) == "tile" && offered;
    if (is_tile && dispute::tile_leaf({.dtype = dtype, .data = *offered}) == claimed) {
        return offered;
    }
    return std::nullopt;
}

void write_partial(
    JsonWriter& out, const contracts::Dispute& dispute, const dispute::PartialProof& proof, const AtPartial& at,
    const std::optional<Bytes>& offered
) {
    const auto done = dispute::execute_disputed(dispute.claim, dispute.position, proof);
    if (!done) {
        write_shown(out, "claimed", {.hash = at.accumulator_after, .form = "unknown"});
        out.null("recomputed");
        write_nothing_read(out);
        return;
    }
    const Node& node = std::get<Node>(at.tile.node.node);
    const Shown computed = show_output(*done, node, at.tile.index);
    Shown claimed = computed;
    claimed.hash = at.accumulator_after;
    claimed.data = find_claimed(computed, at.accumulator_after, offered, node.dtype);
    write_shown(out, "claimed", claimed);
    write_shown(out, "recomputed", computed);
    write_inputs(out, at, *done);
    write_before(out, at, *done);
}

void write_divergence(
    JsonWriter& out, const contracts::Dispute& dispute, const dispute::DivergenceProof& proof, const Ruled& ruling
) {
    const dispute::StateOpening& opening = proof.opening;
    Shown claimed{.hash = {}, .form = "unknown"};
    if (ruling) {
        claimed = {
            .hash = dispute::tile_leaf(opening.opening.tile),
            .form = "tile",
            .data = opening.opening.tile.data,
            .layout = {.dtype = opening.type.dtype, .shape = inside(opening.type.shape, opening.tile)}};
    } else if (const dispute::DisputedStep* step = dispute.position.step()) {
        claimed.hash = step->state_after;
    }
    write_shown(out, "claimed", claimed);
    out.null("recomputed");
    write_nothing_read(out);
}

void write_entry(
    JsonWriter& out, const contracts::Dispute& dispute, const dispute::EntryProof& proof, const Ruled& ruling
) {
    const auto* at = std::get_if<AtTensor>(&dispute.position.at);
    write_shown(out, "claimed", {.hash = at != nullptr ? at->claim : Hash256{}});
    if (ruling) {
        write_shown(out, "recomputed", {.hash = proof.commitment});
    } else {
        out.null("recomputed");
    }
    write_nothing_read(out);
}

}  // namespace

void write_refusal(JsonWriter& out, ProofError error) {
    const auto found =
        std::find_if(kRefusals.begin(), kRefusals.end(), [error](const Refusal& r) { return r.error == error; });
    out.begin_object("refusal").number("code", static_cast<std::uint8_t>(error));
    out.text("rule", found->rule).text("text", found->text).end_object();
}

void write_values(
    JsonWriter& out, const contracts::Dispute& dispute, const dispute::Proof& proof, const Ruled& ruling,
    const std::optional<Bytes>& claimed_tile
) {
    if (const auto* partial = std::get_if<dispute::PartialProof>(&proof)) {
        out.text("proof", "partial");
        if (const auto* at = std::get_if<AtPartial>(&dispute.position.at)) {
            write_partial(out, dispute, *partial, *at, claimed_tile);
            return;
        }
        write_shown(out, "claimed", {.hash = {}, .form = "unknown"});
        out.null("recomputed");
        write_nothing_read(out);
    } else if (const auto* entry = std::get_if<dispute::EntryProof>(&proof)) {
        out.text("proof", "tensor");
        write_entry(out, dispute, *entry, ruling);
    } else {
        out.text("proof", "divergence");
        write_divergence(out, dispute, std::get<dispute::DivergenceProof>(proof), ruling);
    }
}

}  // namespace assay::referee
