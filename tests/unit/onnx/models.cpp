// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/onnx/models.hpp>

#include <limits>

namespace assay::onnx::test {

ModelBuilder mlp() {
    Numbers numbers(1);
    ModelBuilder model;
    model.input("x", {-1, 6});
    model.input("label", {-1}, ElementType::kInt64);
    model.output("loss");
    model.output("scores");
    model.initializer("fc1.weight", {10, 6}, numbers.many(60, 0.5F));
    model.initializer("fc1.bias", {10}, numbers.many(10, 0.2F));
    model.initializer("fc2.weight", {4, 10}, numbers.many(40, 0.5F));
    model.initializer("fc2.bias", {4}, numbers.many(4, 0.2F));
    model.node("Gemm", {"x", "fc1.weight", "fc1.bias"}, {"h"});
    model.attribute("transB", std::int64_t{1});
    model.node("Tanh", {"h"}, {"a"});
    model.node("Gemm", {"a", "fc2.weight", "fc2.bias"}, {"scores"});
    model.attribute("transB", std::int64_t{1});
    model.node("SoftmaxCrossEntropyLoss", {"scores", "label"}, {"loss"});
    model.attribute("ignore_index", std::int64_t{-100});
    return model;
}

ModelBuilder cnn() {
    Numbers numbers(2);
    ModelBuilder model;
    model.input("image", {-1, 2, 8, 8});
    model.input("label", {-1}, ElementType::kInt64);
    model.output("loss");
    model.initializer("conv1.weight", {4, 2, 3, 3}, numbers.many(72, 0.4F));
    model.initializer("bn.weight", {4}, {1.0F, 0.75F, 1.25F, 0.5F});
    model.initializer("bn.bias", {4}, numbers.many(4, 0.3F));
    model.initializer("bn.mean", {4}, {0.0F, 0.0F, 0.0F, 0.0F});
    model.initializer("bn.variance", {4}, {1.0F, 1.0F, 1.0F, 1.0F});
    model.initializer("conv2.weight", {4, 2, 3, 3}, numbers.many(72, 0.4F));
    model.initializer("conv2.bias", {4}, numbers.many(4, 0.2F));
    model.initializer("fc.weight", {64, 3}, numbers.many(192, 0.3F));
    model.integers("shape", {-1, 64});
    model.node("Conv", {"image", "conv1.weight"}, {"c1"});
    model.attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    model.node("BatchNormalization", {"c1", "bn.weight", "bn.bias", "bn.mean", "bn.variance"}, {"n", "m", "v"});
    model.attribute("training_mode", std::int64_t{1});
    model.attribute("momentum", 0.75F);
    model.node("Softplus", {"n"}, {"r"});
    model.node("Conv", {"r", "conv2.weight", "conv2.bias"}, {"c2"});
    model.attribute("group", std::int64_t{2});
    model.attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    model.node("AveragePool", {"c2"}, {"p"});
    model.attribute("kernel_shape", std::vector<std::int64_t>{2, 2});
    model.attribute("strides", std::vector<std::int64_t>{2, 2});
    model.node("Reshape", {"p", "shape"}, {"flat"});
    model.node("MatMul", {"flat", "fc.weight"}, {"scores"});
    model.node("SoftmaxCrossEntropyLoss", {"scores", "label"}, {"loss"});
    return model;
}

// As torch writes it: embedding, attention with a mask, layer norm, a GELU of primitives.
ModelBuilder transformer() {
    constexpr std::int64_t kTokens = 4;
    constexpr std::int64_t kWidth = 8;
    Numbers numbers(3);
    ModelBuilder model;
    model.input("tokens", {-1, kTokens}, ElementType::kInt64);
    model.input("targets", {-1, kTokens}, ElementType::kInt64);
    model.output("loss");
    model.initializer("embed", {11, kWidth}, numbers.many(88, 0.6F));
    model.initializer("position", {kTokens, kWidth}, numbers.many(32, 0.3F));
    model.initializer("ln.weight", {kWidth}, {1.0F, 0.5F, 1.5F, 1.0F, 0.75F, 1.25F, 1.0F, 1.0F});
    model.initializer("ln.bias", {kWidth}, numbers.many(8, 0.2F));
    model.initializer("qkv", {kWidth, 3 * kWidth}, numbers.many(192, 0.6F));
    model.initializer("head", {kWidth, 11}, numbers.many(88, 0.4F));
    model.integers("heads", {0, 0, 2, 4});
    model.integers("merged", {0, 0, 8});
    model.integers("rows", {-1, 11});
    model.integers("all", {-1});
    model.node("Gather", {"embed", "tokens"}, {"e"});
    model.node("Add", {"e", "position"}, {"x"});
    model.node("LayerNormalization", {"x", "ln.weight", "ln.bias"}, {"n"});
    model.node("MatMul", {"n", "qkv"}, {"qkv_out"});
    model.node("Split", {"qkv_out"}, {"q", "k", "v"});
    model.attribute("axis", std::int64_t{2});
    for (const std::string name : {"q", "k", "v"}) {
        model.node("Reshape", {name, "heads"}, {name + "_heads"});
        model.node("Transpose", {name + "_heads"}, {name + "_t"});
        const bool is_key = name == "k";
        model.attribute("perm", is_key ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3});
    }
    model.node("MatMul", {"q_t", "k_t"}, {"products"});
    model.node("Constant", {}, {"half"});
    model.attribute("value_float", 0.5F);
    model.node("Mul", {"products", "half"}, {"scaled"});
    model.node("Shape", {"scaled"}, {"shape"});
    model.node("Constant", {}, {"last"});
    model.attribute("value_ints", std::vector<std::int64_t>{2});
    model.node("Constant", {}, {"end"});
    model.attribute("value_ints", std::vector<std::int64_t>{4});
    model.node("Slice", {"shape", "last", "end"}, {"square"});
    model.node("ConstantOfShape", {"square"}, {"zeros"});
    model.node("Constant", {}, {"one"});
    model.attribute("value_float", 1.0F);
    model.node("Add", {"zeros", "one"}, {"ones"});
    model.node("Trilu", {"ones"}, {"lower"});
    model.attribute("upper", std::int64_t{0});
    model.node("Cast", {"lower"}, {"keeps"});
    model.attribute("to", std::int64_t{9});
    model.node("Constant", {}, {"never"});
    model.attribute("value_float", -std::numeric_limits<float>::infinity());
    model.node("Where", {"keeps", "scaled", "never"}, {"masked"});
    model.node("Softmax", {"masked"}, {"weights"});
    model.node("MatMul", {"weights", "v_t"}, {"mixed"});
    model.node("Transpose", {"mixed"}, {"mixed_t"});
    model.attribute("perm", std::vector<std::int64_t>{0, 2, 1, 3});
    model.node("Reshape", {"mixed_t", "merged"}, {"attended"});
    model.node("Add", {"x", "attended"}, {"residual"});
    model.node("Constant", {}, {"root"});
    model.attribute("value_float", 1.41421356F);
    model.node("Div", {"residual", "root"}, {"g1"});
    model.node("Erf", {"g1"}, {"g2"});
    model.node("Add", {"g2", "one"}, {"g3"});
    model.node("Mul", {"residual", "g3"}, {"g4"});
    model.node("Mul", {"g4", "half"}, {"g"});
    model.node("MatMul", {"g", "head"}, {"logits"});
    model.node("Reshape", {"logits", "rows"}, {"flat"});
    model.node("Reshape", {"targets", "all"}, {"wanted"});
    model.node("SoftmaxCrossEntropyLoss", {"flat", "wanted"}, {"loss"});
    return model;
}

}  // namespace assay::onnx::test
