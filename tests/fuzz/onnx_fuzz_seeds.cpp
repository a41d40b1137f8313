// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/seeds.hpp>
#include <tests/unit/onnx/models.hpp>

namespace assay::fuzz {
namespace {

using onnx::test::ModelBuilder;

// The operator on everything a node may need: an image, indices, weights, sizes. Most are used; the rest is refused.
ModelBuilder one_node(const std::string& op, const std::vector<std::string>& inputs) {
    ModelBuilder model;
    model.input("x", {2, 4, 4, 4});
    model.input("i", {2, 4}, onnx::ElementType::kInt64);
    model.input("b", {2, 4, 4, 4}, onnx::ElementType::kBool);
    model.output("y");
    model.initializer("w", {4, 4, 3, 3}, std::vector<float>(144, 0.5F));
    model.initializer("v", {4}, {1, 2, 3, 4});
    model.integers("n", {1, 2});
    model.integers("one", {1});
    model.node(op, inputs, {"y"});
    return model;
}

std::vector<std::string> inputs_for(const std::string& op) {
    for (const char* name : {"And", "Or", "Xor"}) {
        if (op == name) {
            return {"b", "b"};
        }
    }
    if (op == "Conv" || op == "ConvTranspose") {
        return {"x", "w", "v"};
    }
    if (op == "BatchNormalization") {
        return {"x", "v", "v", "v", "v"};
    }
    if (op == "LayerNormalization" || op == "InstanceNormalization") {
        return {"x", "v", "v"};
    }
    if (op == "Where") {
        return {"b", "x", "v"};
    }
    if (op == "Not") {
        return {"b"};
    }
    if (op.rfind("Gather", 0) == 0) {
        return {"x", "i"};
    }
    if (op == "Slice") {
        return {"x", "n", "n", "n"};
    }
    if (op == "Reshape" || op == "Expand" || op == "Unsqueeze" || op == "Trilu" || op == "CumSum" || op == "Compress") {
        return {"x", "one"};
    }
    if (op == "OneHot") {
        return {"i", "one", "n"};
    }
    if (op == "Range") {
        return {"one", "one", "one"};
    }
    const bool takes_two = op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow" || op == "PRelu" ||
                           op == "MatMul" || op == "Equal" || op.rfind("Less", 0) == 0 || op.rfind("Greater", 0) == 0;
    return takes_two ? std::vector<std::string>{"x", "v"} : std::vector<std::string>{"x"};
}

}  // namespace

void write_onnx_seeds(const CorpusWriter& out) {
    out.write("onnx", "mlp", onnx::test::mlp().bytes());
    out.write("onnx", "cnn", onnx::test::cnn().bytes());
    out.write("onnx", "transformer", onnx::test::transformer().bytes());
    for (const onnx::OperatorInfo& op : onnx::supported_operators()) {
        const std::string name(op.name);
        out.write("onnx", name, one_node(name, inputs_for(name)).bytes());
    }
    ModelBuilder pool = one_node("MaxPool", {"x"});
    pool.attribute("kernel_shape", std::vector<std::int64_t>{3, 3});
    pool.attribute("ceil_mode", std::int64_t{1});
    pool.attribute("strides", std::vector<std::int64_t>{2, 2});
    out.write("onnx", "pool", pool.bytes());
    ModelBuilder product = one_node("Einsum", {"x", "x"});
    product.attribute("equation", std::string("...ij,...jk->...ik"));
    out.write("onnx", "einsum", product.bytes());
    for (const auto& [op, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
        ModelBuilder layer;
        layer.input("x", {3, 2, 4});
        layer.output("y");
        layer.initializer("w", {1, gates * 2, 4}, std::vector<float>(static_cast<std::size_t>(gates) * 8, 0.25F));
        layer.initializer("r", {1, gates * 2, 2}, std::vector<float>(static_cast<std::size_t>(gates) * 4, 0.5F));
        layer.node(op, {"x", "w", "r"}, {"y"});
        layer.attribute("hidden_size", std::int64_t{2});
        out.write("onnx", std::string("layer_") + op, layer.bytes());
    }
    ModelBuilder resize;
    resize.input("x", {1, 2, 4, 4});
    resize.output("y");
    resize.integers("sizes", {1, 2, 7, 8});
    resize.node("Resize", {"x", "", "", "sizes"}, {"y"});
    resize.attribute("mode", std::string("cubic"));
    out.write("onnx", "resize", resize.bytes());
    ModelBuilder tensor;
    tensor.initializer("t", {2, 2}, {1, 2, 3, 4});
    const std::string text = tensor.proto().graph().initializer(0).SerializeAsString();
    out.write("onnx", "tensor", std::string_view(text));
}

}  // namespace assay::fuzz
