// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <tools/spec/files.hpp>
#include <tools/spec/primitive_cases.hpp>
#include <tools/spec/vectors.hpp>

namespace assay::spec {
namespace {

using canonical::Accumulator;
using canonical::PartialInput;
using canonical::PartialOutput;
using canonical::Tensor;
using canonical::TileRef;

class Rows final : public canonical::RowSource {
  public:
    explicit Rows(const PrimitiveCase& of) : of_(of) {}
    canonical::DatasetShape shape() const override { return of_.context.dataset; }
    Bytes row(std::uint64_t index) const override { return of_.rows[index]; }

  private:
    const PrimitiveCase& of_;
};

PartialOutput execute(
    const PrimitiveCase& c, std::uint64_t tile, std::uint32_t partial, const std::optional<Accumulator>& before
) {
    PartialInput input{before, {}, {}};
    for (const TileRef& ref : operands_of(c.node, tile, partial)) {
        input.tiles.push_back(tile_of(c.inputs[ref.input], ref.tile));
    }
    if (const auto ref = dependent_operand(c.node, tile, partial, input.tiles)) {
        input.tiles.push_back(tile_of(c.inputs[ref->input], ref->tile));
    }
    if (const auto span = dataset_span_of(c.node, tile, partial, c.context)) {
        const ByteView values =
            ByteView(c.rows[span->row]).subspan(std::size_t{4} * span->first, std::size_t{4} * span->count);
        input.dataset_values = Bytes(values.begin(), values.end());
    }
    auto out = execute_partial(c.node, tile, partial, c.context, input);
    ASSERT(out.has_value());
    return *std::move(out);
}

/// Every accumulator between the partials of each tile, in order.
Json accumulators_json(const PrimitiveCase& c) {
    Json out = Json::array();
    for (std::uint64_t tile = 0; tile < tile_count(c.node.shape); ++tile) {
        std::optional<Accumulator> accumulator;
        const std::uint32_t count = partial_count(c.node, tile);
        for (std::uint32_t partial = 0; partial + 1 < count; ++partial) {
            accumulator = execute(c, tile, partial, accumulator).accumulator;
            ASSERT(accumulator.has_value());
            out.push_back(
                {{"tile", tile},
                 {"partial", partial},
                 {"bytes", accumulator->data.size()},
                 {"hex", to_hex(without_zeros(accumulator->data))}}
            );
        }
    }
    return out;
}

Json case_json(const PrimitiveCase& c) {
    Json out{{"name", c.name}, {"op", to_string(c.node.op)}, {"node", to_hex(codec::encode(c.node))}};
    out["attributes"] = c.node.attributes;
    out["seed"] = c.context.seed;
    out["step"] = c.context.step;
    out["rows"] = Json::array();
    for (const Bytes& row : c.rows) {
        out["rows"].push_back(to_hex(row));
    }
    out["inputs"] = Json::array();
    std::vector<const Tensor*> pointers;
    for (const Tensor& tensor : c.inputs) {
        out["inputs"].push_back(tensor_json(tensor));
        pointers.push_back(&tensor);
    }
    out["output"] = tensor_json(execute_node(c.node, c.context, Rows(c), pointers));
    out["accumulators"] = accumulators_json(c);
    return out;
}

/// A running maximum of negative zero, which no execution leaves but a prover may send: the next partial makes it
/// positive (NUM-18).
Json negative_zero_json() {
    PrimitiveCase c{"row_max: an accumulator with a negative zero", {}, {}, {}, {}};
    c.node = {canonical::Op::kRowMax, canonical::DType::kF32, {1, 1}, {}, {}, {}};
    c.node.inputs.push_back({canonical::Source::kNode, 0, canonical::DType::kF32, {1, 96}});
    Tensor x = canonical::make_tensor(canonical::DType::kF32, {1, 96});
    for (std::size_t i = 0; i < 96; ++i) {
        x.data[4 * i + 3] = 0xbf;  // -0.5
    }
    c.inputs.push_back(x);
    Accumulator before{Bytes(128)};
    before.data[3] = 0x80;
    const PartialOutput after = execute(c, 0, 1, before);
    ASSERT(after.accumulator.has_value());
    return {{"name", c.name},
            {"node", to_hex(codec::encode(c.node))},
            {"inputs", Json::array({tensor_json(x)})},
            {"tile", 0},
            {"partial", 1},
            {"before", to_hex(before.data)},
            {"after", to_hex(after.accumulator->data)}};
}

}  // namespace

Bytes without_zeros(Bytes bytes) {
    while (!bytes.empty() && bytes.back() == 0) {
        bytes.pop_back();
    }
    return bytes;
}

Json tensor_json(const Tensor& tensor) {
    static constexpr const char* kNames[] = {"f32", "i32", "i64", "bf16", "i8"};
    const std::size_t size = canonical::size_of(tensor.dtype);
    std::string bits;
    for (std::size_t at = 0; at < tensor.data.size(); at += size) {
        Bytes word(
            tensor.data.begin() + static_cast<std::ptrdiff_t>(at),
            tensor.data.begin() + static_cast<std::ptrdiff_t>(at + size)
        );
        std::reverse(word.begin(), word.end());
        bits += (at == 0 ? "" : " ") + to_hex(word);
    }
    return {
        {"dtype", kNames[static_cast<std::size_t>(tensor.dtype) - 1]},
        {"rows", tensor.shape.rows},
        {"cols", tensor.shape.cols},
        {"bits", bits}};
}

Json primitives_json() {
    Json out;
    out["nodes"] = Json::array();
    for (const PrimitiveCase& c : primitive_cases()) {
        out["nodes"].push_back(case_json(c));
    }
    out["partials"] = Json::array({negative_zero_json()});
    return out;
}

}  // namespace assay::spec
