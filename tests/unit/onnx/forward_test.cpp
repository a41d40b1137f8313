// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <tests/unit/folders.hpp>
#include <tests/unit/onnx/model_builder.hpp>
#include <tests/unit/onnx/run_model.hpp>

using namespace assay;
using namespace assay::onnx;
using assay::onnx::test::host_floats;
using assay::onnx::test::host_integers;
using assay::onnx::test::ModelBuilder;
using assay::onnx::test::Numbers;

namespace {

ForwardGraph import_model(const ModelBuilder& model, const ForwardConfig& config = {}) {
    auto imported = import_forward(model.bytes(), config);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
    return *std::move(imported);
}

// Runs the model and compares its first output.
void check_output(
    const ModelBuilder& model, const std::map<std::string, HostTensor>& inputs, const HostTensor& expected
) {
    const ForwardGraph imported = import_model(model);
    const auto outputs = assay::onnx::test::run_forward(imported, inputs);
    CHECK(assay::onnx::test::difference(imported.outputs.at(0), outputs, expected) == "");
}

// A convolution over [1, C, size, size] by its definition.
struct Convolution {
    std::uint32_t channels_in, channels_out, groups, size, kernel, stride, pad;
    std::uint32_t out_size() const { return (size + 2 * pad - kernel) / stride + 1; }
    std::vector<float> run(const std::vector<float>& x, const std::vector<float>& w) const {
        const std::uint32_t per_group = channels_in / groups;
        std::vector<float> out;
        for (std::uint32_t o = 0; o < channels_out; ++o) {
            const std::uint32_t first = o / (channels_out / groups) * per_group;
            for (std::uint32_t place = 0; place < out_size() * out_size(); ++place) {
                double sum = 0.0;
                for (std::uint32_t i = 0; i < per_group * kernel * kernel; ++i) {
                    const std::uint32_t row = place / out_size() * stride + i / kernel % kernel - pad;
                    const std::uint32_t col = place % out_size() * stride + i % kernel - pad;
                    if (row < size && col < size) {  // what is before 0 has wrapped around
                        const std::uint32_t channel = first + i / (kernel * kernel);
                        sum += static_cast<double>(x[(channel * size + row) * size + col]) *
                               static_cast<double>(w[o * per_group * kernel * kernel + i]);
                    }
                }
                out.push_back(static_cast<float>(sum));
            }
        }
        return out;
    }
};

std::vector<std::int64_t> signed_dims(const program::Dims& dims) { return {dims.begin(), dims.end()}; }

}  // namespace

TEST_CASE("convolutions of any grouping equal their definition") {
    for (const Convolution& c : {
             Convolution{
                 .channels_in = 6, .channels_out = 4, .groups = 2, .size = 5, .kernel = 3, .stride = 1, .pad = 1},
             Convolution{
                 .channels_in = 6, .channels_out = 12, .groups = 6, .size = 6, .kernel = 2, .stride = 2, .pad = 0},
             Convolution{
                 .channels_in = 3, .channels_out = 40, .groups = 1, .size = 7, .kernel = 3, .stride = 2, .pad = 1},
         }) {
        CAPTURE(c.groups);
        Numbers numbers(c.groups);
        const program::Dims x_dims{1, c.channels_in, c.size, c.size};
        const program::Dims w_dims{c.channels_out, c.channels_in / c.groups, c.kernel, c.kernel};
        const std::vector<float> x = numbers.many(program::element_count(x_dims));
        const std::vector<float> w = numbers.many(program::element_count(w_dims));
        ModelBuilder model;
        model.input("x", signed_dims(x_dims));
        model.output("y");
        model.initializer("w", signed_dims(w_dims), w);
        model.node("Conv", {"x", "w"}, {"y"});
        model.attribute("group", std::int64_t{c.groups});
        model.attribute("strides", std::vector<std::int64_t>{c.stride, c.stride});
        model.attribute("pads", std::vector<std::int64_t>{c.pad, c.pad, c.pad, c.pad});
        check_output(
            model, {{"x", host_floats(x_dims, x)}},
            host_floats({1, c.channels_out, c.out_size(), c.out_size()}, c.run(x, w))
        );
    }
}

// A transposed convolution is the adjoint of a convolution: <conv(x), y> = <x, transposed(y)> for all x and y.
TEST_CASE("grouped transposed convolutions are adjoints of convolutions") {
    Numbers numbers(9);
    const Convolution c{
        .channels_in = 4, .channels_out = 6, .groups = 2, .size = 7, .kernel = 3, .stride = 2, .pad = 1};
    const std::vector<float> w = numbers.many(std::size_t{6} * 2 * 9);
    const std::vector<float> y = numbers.many(std::size_t{6} * c.out_size() * c.out_size());
    ModelBuilder model;
    model.input("y", {1, 6, c.out_size(), c.out_size()});
    model.output("x");
    model.initializer("w", {6, 2, 3, 3}, w);
    model.node("ConvTranspose", {"y", "w"}, {"x"});
    model.attribute("group", std::int64_t{2});
    model.attribute("strides", std::vector<std::int64_t>{2, 2});
    model.attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    const ForwardGraph imported = import_model(model);
    const program::Dims y_dims{1, 6, c.out_size(), c.out_size()};
    const auto outputs = assay::onnx::test::run_forward(imported, {{"y", host_floats(y_dims, y)}});
    REQUIRE(imported.outputs[0].dims == program::Dims{1, 4, 7, 7});
    for (int trial = 0; trial < 5; ++trial) {
        const std::vector<float> x = numbers.many(std::size_t{4} * 49);
        const std::vector<float> convolved = c.run(x, w);
        double left = 0.0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            left += static_cast<double>(convolved[i]) * static_cast<double>(y[i]);
        }
        double right = 0.0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            right += static_cast<double>(x[i]) * assay::onnx::test::element(outputs[0], i);
        }
        CHECK(std::abs(left - right) < 1e-4);
    }
}

// Everything between two convolutions works on channels last; what is neither must not notice.
TEST_CASE("channels last do not show") {
    Numbers numbers(11);
    const std::vector<float> x = numbers.many(2 * 3 * 4 * 5);
    const std::vector<float> bias = numbers.many(3);
    const std::vector<float> mask = numbers.many(2 * 4 * 5);
    ModelBuilder model;
    model.input("x", {2, 3, 4, 5});
    model.input("mask", {2, 1, 4, 5});
    model.output("y");
    model.initializer("w", {3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
    model.initializer("bias", {3, 1, 1}, bias);
    model.node("Conv", {"x", "w"}, {"c"});
    model.node("Add", {"c", "bias"}, {"a"});
    model.node("Relu", {"a"}, {"r"});
    model.node("Mul", {"r", "mask"}, {"m"});
    model.node("Sub", {"mask", "m"}, {"s"});
    model.node("Transpose", {"s"}, {"y"});
    model.attribute("perm", std::vector<std::int64_t>{3, 1, 0, 2});
    std::vector<float> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t n = i / 60;
        const std::size_t c = i / 20 % 3;
        const std::size_t h = i / 5 % 4;
        const std::size_t w = i % 5;
        const float m = mask[(n * 4 + h) * 5 + w];
        const float r = std::max(x[i] + bias[c], 0.0F);
        expected[((w * 3 + c) * 2 + n) * 4 + h] = m - r * m;
    }
    check_output(
        model, {{"x", host_floats({2, 3, 4, 5}, x)}, {"mask", host_floats({2, 1, 4, 5}, mask)}},
        host_floats({5, 3, 2, 4}, expected)
    );
}

TEST_CASE("products of batches broadcast and need no round sizes") {
    Numbers numbers(13);
    const std::vector<float> a = numbers.many(2 * 1 * 5 * 7);
    const std::vector<float> b = numbers.many(3 * 7 * 33);
    ModelBuilder model;
    model.input("a", {2, 1, 5, 7});
    model.input("b", {3, 7, 33});
    model.output("y");
    model.node("MatMul", {"a", "b"}, {"y"});
    std::vector<float> expected;
    for (std::size_t i = 0; i < 2 * 3 * 5 * 33; ++i) {
        const std::size_t p = i / (3 * 5 * 33);
        const std::size_t g = i / (5 * 33) % 3;
        const std::size_t m = i / 33 % 5;
        const std::size_t n = i % 33;
        double sum = 0.0;
        for (std::size_t k = 0; k < 7; ++k) {
            sum += static_cast<double>(a[(p * 5 + m) * 7 + k]) * static_cast<double>(b[(g * 7 + k) * 33 + n]);
        }
        expected.push_back(static_cast<float>(sum));
    }
    check_output(
        model, {{"a", host_floats({2, 1, 5, 7}, a)}, {"b", host_floats({3, 7, 33}, b)}},
        host_floats({2, 3, 5, 33}, expected)
    );
}

TEST_CASE("gathers take known and computed indices along any axis") {
    Numbers numbers(17);
    const std::vector<float> x = numbers.many(3 * 50 * 2);
    std::vector<std::int64_t> indices;
    std::vector<float> expected(3 * 40 * 2);
    for (std::size_t i = 0; i < 40; ++i) {
        const std::int64_t at = numbers.below(50);
        indices.push_back(i % 2 == 0 ? at : at - 50);
        for (std::size_t n = 0; n < 3; ++n) {
            for (std::size_t c = 0; c < 2; ++c) {
                expected[(n * 40 + i) * 2 + c] = x[(n * 50 + static_cast<std::size_t>(at)) * 2 + c];
            }
        }
    }
    for (const bool is_known : {true, false}) {
        CAPTURE(is_known);
        ModelBuilder model;
        model.input("x", {3, 50, 2});
        if (is_known) {
            model.integers("indices", indices);
        } else {
            model.input("indices", {40}, ElementType::kInt64);
        }
        model.output("y");
        model.node("Gather", {"x", "indices"}, {"y"});
        model.attribute("axis", std::int64_t{1});
        check_output(
            model, {{"x", host_floats({3, 50, 2}, x)}, {"indices", host_integers({40}, indices)}},
            host_floats({3, 40, 2}, expected)
        );
    }
}

TEST_CASE("the shape arithmetic that exporters write is done at import") {
    ModelBuilder model;
    model.input("x", {-1, 6, 4});
    model.output("y");
    model.node("Shape", {"x"}, {"shape"});
    model.integers("zero", {0});
    model.integers("three", {3});
    model.integers("rest", {-1});
    model.node("Gather", {"shape", "zero"}, {"batch"});
    model.node("Mul", {"batch", "three"}, {"rows"});
    model.node("Concat", {"rows", "rest"}, {"to"});
    model.attribute("axis", std::int64_t{0});
    model.node("Reshape", {"x", "to"}, {"y"});
    ForwardConfig config;
    config.dimensions["batch"] = 5;
    const ForwardGraph imported = import_model(model, config);
    CHECK(imported.outputs[0].dims == program::Dims{15, 8});
    CHECK(imported.graph.size() == 2);  // the view and the commitment
    CHECK(imported.state.size() == 1);
}

TEST_CASE("a causal mask is one primitive and no state") {
    ModelBuilder model;
    model.input("x", {2, 3, 4, 4});
    model.output("y");
    model.integers("square", {4, 4});
    model.node("ConstantOfShape", {"square"}, {"zeros"});
    model.node("Constant", {}, {"one"});
    model.attribute("value_float", 1.0F);
    model.node("Constant", {}, {"never"});
    model.attribute("value_float", -std::numeric_limits<float>::infinity());
    model.node("Add", {"zeros", "one"}, {"ones"});
    model.node("Trilu", {"ones"}, {"lower"});
    model.attribute("upper", std::int64_t{0});
    model.node("Cast", {"lower"}, {"keeps"});
    model.attribute("to", std::int64_t{9});
    model.node("Where", {"keeps", "x", "never"}, {"y"});
    const ForwardGraph imported = import_model(model);
    REQUIRE(imported.graph.size() == 2);
    CHECK(imported.graph[0].op == canonical::Op::kCausalMask);
    CHECK(imported.state.size() == 1);
}

TEST_CASE("outputs may be inputs, constants and empty") {
    ModelBuilder model;
    model.input("x", {2, 3});
    for (const char* name : {"same", "sizes", "none"}) {
        model.output(name);
    }
    model.node("Identity", {"x"}, {"same"});
    model.node("Shape", {"x"}, {"sizes"});
    model.integers("zero", {0});
    model.node("ConstantOfShape", {"zero"}, {"none"});
    const ForwardGraph imported = import_model(model);
    const std::vector<float> x{1, 2, 3, 4, 5, 6};
    const auto outputs = assay::onnx::test::run_forward(imported, {{"x", host_floats({2, 3}, x)}});
    CHECK(assay::onnx::test::difference(imported.outputs[0], outputs, host_floats({2, 3}, x)) == "");
    CHECK(assay::onnx::test::difference(imported.outputs[1], outputs, host_integers({2}, {2, 3})) == "");
    CHECK(assay::onnx::test::difference(imported.outputs[2], outputs, host_floats({0}, {})) == "");
}

TEST_CASE("one model gives one graph") {
    ModelBuilder model;
    Numbers numbers(23);
    model.input("x", {4, 8});
    model.output("y");
    model.initializer("w", {8, 8}, numbers.many(64));
    model.node("MatMul", {"x", "w"}, {"h"});
    model.node("Softmax", {"h"}, {"y"});
    CHECK(import_model(model).graph == import_model(model).graph);
}

TEST_CASE("the documented operators are those that are supported") {
    std::ifstream in(folders::source() + "/docs/operations/onnx.md");
    REQUIRE(in.good());
    std::map<std::string, std::string> documented;
    std::string line;
    while (std::getline(in, line)) {
        // | Add | 7 | yes | ... |
        std::istringstream cells(line);
        std::string bar;
        std::string name;
        std::string since;
        std::string derivative;
        if (cells >> bar >> name >> bar >> since >> bar >> derivative && line.rfind("| ", 0) == 0 &&
            (derivative == "yes" || derivative == "zero")) {
            CHECK_MESSAGE(documented.emplace(name, since + " " + derivative).second, name);
        }
    }
    const std::vector<OperatorInfo> supported = supported_operators();
    for (const OperatorInfo& op : supported) {
        CAPTURE(std::string(op.name));
        const bool flows = op.derivative == Derivative::kExact;
        CHECK(documented[std::string(op.name)] == std::to_string(op.since) + (flows ? " yes" : " zero"));
    }
    CHECK(documented.size() == supported.size());
}
