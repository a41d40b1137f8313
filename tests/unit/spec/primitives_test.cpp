// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <core/codec/borsh.hpp>
#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/core/vectors.hpp>

using namespace assay;
using namespace assay::canonical;

namespace {

Tensor tensor_of(const nlohmann::json& json) {
    const std::string name = json["dtype"];
    static const std::map<std::string, DType> kTypes{
        {"f32", DType::kF32}, {"i32", DType::kI32}, {"i64", DType::kI64}, {"bf16", DType::kBf16}, {"i8", DType::kI8}};
    const DType dtype = kTypes.at(name);
    Tensor out{dtype, {json["rows"], json["cols"]}, {}};
    std::istringstream words(json["bits"].get<std::string>());
    for (std::string word; words >> word;) {
        Bytes bytes = hex_bytes(word);
        std::reverse(bytes.begin(), bytes.end());
        append(out.data, bytes);
    }
    REQUIRE(out.data.size() == out.shape.element_count() * size_of(dtype));
    return out;
}

class ListedRows final : public RowSource {
  public:
    ListedRows(const nlohmann::json& rows, std::uint32_t width) : width_(width) {
        for (const auto& row : rows) {
            rows_.push_back(hex_bytes(row));
        }
    }
    DatasetShape shape() const override { return {rows_.size(), width_}; }
    Bytes row(std::uint64_t index) const override { return rows_[index]; }

  private:
    std::vector<Bytes> rows_;
    std::uint32_t width_;
};

Node node_of(const nlohmann::json& json) {
    const auto node = codec::decode<Node>(hex_bytes(json["node"]));
    REQUIRE(node.has_value());
    REQUIRE(check_node(*node).has_value());
    return *node;
}

void check_accumulators(const nlohmann::json& expected, const test::Sample& sample, const RowSource& rows) {
    std::size_t next = 0;
    test::execute_by_partials(sample, rows, [&](ByteView bytes) {
        REQUIRE(next < expected.size());
        Bytes published = hex_bytes(expected[next]["hex"]);
        published.resize(expected[next]["bytes"]);
        CHECK(published == Bytes(bytes.begin(), bytes.end()));
        ++next;
    });
    CHECK(next == expected.size());
}

}  // namespace

TEST_CASE("NUM-22: the published operands give the published results, by tiles, by partials and by plain loops") {
    std::set<Op> covered;
    const auto vectors = json_vectors("primitives.json");
    for (const auto& json : vectors["nodes"]) {
        CAPTURE(json["name"].get<std::string>());
        test::Sample sample;
        sample.node = node_of(json);
        sample.context.seed = json["seed"];
        sample.context.step = json["step"];
        for (const auto& input : json["inputs"]) {
            sample.inputs.push_back(tensor_of(input));
        }
        const ListedRows rows(json["rows"], sample.node.shape.cols);
        sample.context.dataset = rows.shape();
        const Tensor output = tensor_of(json["output"]);
        CHECK(std::string(to_string(sample.node.op)) == json["op"]);
        CHECK(execute_node(sample.node, sample.context, rows, sample.pointers()) == output);
        CHECK(test::reference(sample, rows) == output);
        check_accumulators(json["accumulators"], sample, rows);
        covered.insert(sample.node.op);
    }
    CHECK(covered.size() == test::all_ops().size());
}

TEST_CASE("NUM-18: a running maximum of negative zero becomes positive in the next partial") {
    const auto vectors = json_vectors("primitives.json");
    for (const auto& json : vectors["partials"]) {
        const Node node = node_of(json);
        const Tensor x = tensor_of(json["inputs"][0]);
        const std::uint32_t partial = json["partial"];
        const PartialInput input{Accumulator{hex_bytes(json["before"])}, {tile_of(x, partial)}, {}};
        const auto after = execute_partial(node, json["tile"], partial, {}, input);
        REQUIRE(after.has_value());
        REQUIRE(after->accumulator.has_value());
        CHECK(after->accumulator->data == hex_bytes(json["after"]));
        CHECK(input.before->data[3] == 0x80);
        CHECK(after->accumulator->data == Bytes(128));
    }
}
