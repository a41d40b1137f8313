// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/onnx/model_builder.hpp>
#include <tests/unit/onnx/models.hpp>

using namespace assay;
using namespace assay::onnx;
using assay::onnx::test::ModelBuilder;

namespace {

ImportError refused(const ModelBuilder& model, const ForwardConfig& config = {}) {
    const auto imported = import_forward(model.bytes(), config);
    REQUIRE_FALSE(imported.has_value());
    return imported.error();
}

ImportError refused_training(const ModelBuilder& model, const TrainingConfig& config) {
    const auto imported = import_training(model.bytes(), config);
    REQUIRE_FALSE(imported.has_value());
    return imported.error();
}

// x [2,3] -> `op` -> y
ModelBuilder one_node(const std::string& op, std::int64_t opset = 17) {
    ModelBuilder model(opset);
    model.input("x", {2, 3});
    model.output("y");
    model.node(op, {"x"}, {"y"});
    return model;
}

TrainingConfig small_config() {
    TrainingConfig config;
    config.batch_size = 4;
    config.dataset_rows = 10;
    return config;
}

// mean((x * w)^2)
ModelBuilder trainable() {
    ModelBuilder model;
    model.input("x", {-1, 3});
    model.output("loss");
    model.output("squares");
    model.initializer("w", {3}, {1, 2, 3});
    model.node("Mul", {"x", "w"}, {"y"});
    model.node("Mul", {"y", "y"}, {"squares"});
    model.node("ReduceMean", {"squares"}, {"loss"});
    model.attribute("keepdims", std::int64_t{0});
    return model;
}

// The cross entropy of `batch` tokens over a vocabulary of 30,522, as of BERT.
ModelBuilder tokens_over_a_vocabulary(std::int64_t batch) {
    ModelBuilder model;
    model.input("x", {batch, 2});
    model.input("t", {batch, 1}, ElementType::kInt64);
    model.output("loss");
    model.initializer("w", {2, 30522}, std::vector<float>(2 * 30522, 0.5F));
    model.node("MatMul", {"x", "w"}, {"flat"});
    model.integers("shape", {-1, 512, 30522});
    model.node("Reshape", {"flat", "shape"}, {"logits"});
    model.integers("back", {-1, 30522});
    model.node("Reshape", {"logits", "back"}, {"rows"});
    model.integers("one", {-1});
    model.node("Reshape", {"t", "one"}, {"labels"});
    model.node("SoftmaxCrossEntropyLoss", {"rows", "labels"}, {"loss"});
    return model;
}

bool mentions(const ImportError& error, const std::string& text) {
    return error.message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a refusal names node, operator and opset") {
    ModelBuilder model = one_node("Relu");
    model.node("Unique", {"y"}, {"z"});
    const ImportError error = refused(model);
    CHECK(error.kind == ImportErrorKind::kUnsupported);
    CHECK(error.op == "Unique");
    CHECK(error.message == "node 1 'make_z' (Unique, opset 17): the operator is not supported");
}

TEST_CASE("unknown attributes, domains and old definitions are refused") {
    ModelBuilder attribute = one_node("Softmax");
    attribute.attribute("temperature", 2.0F);
    CHECK(mentions(refused(attribute), "attribute 'temperature' is not supported"));

    ModelBuilder domain = one_node("Relu");
    domain.proto().mutable_graph()->mutable_node(0)->set_domain("com.example");
    CHECK(mentions(refused(domain), "operators of domain 'com.example'"));
    // An operator belongs to one domain.
    domain.proto().mutable_graph()->mutable_node(0)->set_domain("assay");
    CHECK(mentions(refused(domain), "the operator is not supported"));
    CHECK(mentions(refused(one_node("StopGradient")), "the operator is not supported"));

    CHECK(mentions(refused(one_node("Relu", 5)), "supported from opset 6 on"));
    CHECK(refused(one_node("Relu", 18)).kind == ImportErrorKind::kUnsupported);

    ModelBuilder wrong = one_node("LeakyRelu");
    wrong.attribute("alpha", std::int64_t{1});
    CHECK(refused(wrong).kind == ImportErrorKind::kInvalid);
}

TEST_CASE("bytes that are no model are refused") {
    CHECK(import_forward({}).error().kind == ImportErrorKind::kMalformed);
    const Bytes noise(100, 0xff);
    CHECK(import_forward(noise).error().kind == ImportErrorKind::kMalformed);
    CHECK(import_training(noise, small_config()).error().kind == ImportErrorKind::kMalformed);
    CHECK(decode_tensor(noise).error().kind == ImportErrorKind::kMalformed);
    Bytes cut = one_node("Relu").bytes();
    cut.resize(cut.size() - 3);
    CHECK_FALSE(import_forward(cut).has_value());
}

TEST_CASE("values that nobody produces in time are refused") {
    ModelBuilder cycle;
    cycle.input("x", {2});
    cycle.output("a");
    cycle.node("Add", {"x", "b"}, {"a"});
    cycle.node("Relu", {"a"}, {"b"});
    const ImportError error = refused(cycle);
    CHECK(error.kind == ImportErrorKind::kInvalid);
    CHECK(mentions(error, "node 0 'make_a' (Add, opset 17): value 'b' is not produced by anything before it is used"));

    ModelBuilder output = one_node("Relu");
    output.output("elsewhere");
    CHECK(mentions(refused(output), "'elsewhere'"));

    ModelBuilder twice = one_node("Relu");
    twice.node("Tanh", {"x"}, {"y"});
    CHECK(mentions(refused(twice), "'y' has no name or is produced twice"));

    ModelBuilder missing;
    missing.input("x", {2});
    missing.output("y");
    missing.node("Add", {"x"}, {"y"});
    CHECK(mentions(refused(missing), "input 1 is missing"));
}

TEST_CASE("shapes that do not fit are refused") {
    ModelBuilder broadcast;
    broadcast.input("x", {2, 3});
    broadcast.input("z", {2, 4});
    broadcast.output("y");
    broadcast.node("Add", {"x", "z"}, {"y"});
    CHECK(mentions(refused(broadcast), "dimensions [2,4] do not broadcast to [2,3]"));

    ModelBuilder product;
    product.input("x", {2, 3});
    product.output("y");
    product.node("MatMul", {"x", "x"}, {"y"});
    CHECK(refused(product).kind == ImportErrorKind::kInvalid);

    ModelBuilder types;
    types.input("x", {2});
    types.input("i", {2}, ElementType::kInt64);
    types.output("y");
    types.node("Add", {"x", "i"}, {"y"});
    CHECK(mentions(refused(types), "operands have element types float32 and int64"));
}

TEST_CASE("what is too large is refused before anything is allocated for it") {
    ModelBuilder wide;
    wide.input("x", {1 << 20, 1 << 20});
    wide.output("y");
    wide.node("Relu", {"x"}, {"y"});
    CHECK(refused(wide).kind == ImportErrorKind::kTooLarge);

    ModelBuilder windows;
    windows.input("x", {64, 64, 512, 512});
    windows.output("y");
    windows.initializer("w", {1, 64, 3, 3}, std::vector<float>(576, 1.0F));
    windows.node("Conv", {"x", "w"}, {"y"});
    CHECK(refused(windows).kind == ImportErrorKind::kTooLarge);

    ModelBuilder range;
    range.output("y");
    range.node("Constant", {}, {"zero"});
    range.attribute("value_int", std::int64_t{0});
    range.node("Constant", {}, {"end"});
    range.attribute("value_int", std::int64_t{1} << 60U);
    range.node("Constant", {}, {"one"});
    range.attribute("value_int", std::int64_t{1});
    range.node("Range", {"zero", "end", "one"}, {"y"});
    CHECK(refused(range).kind == ImportErrorKind::kTooLarge);

    ModelBuilder integers;
    integers.output("y");
    integers.integers("big", {std::int64_t{1} << 40U, 3});
    integers.node("Identity", {"big"}, {"y"});
    CHECK(refused(integers).kind == ImportErrorKind::kTooLarge);
}

TEST_CASE("arrays of up to 2^31 elements are imported, and larger ones refused with what to do") {
    const auto imported = [](std::uint32_t batch) {
        return import_training(tokens_over_a_vocabulary(batch).bytes(), {.batch_size = batch, .dataset_rows = batch});
    };
    const auto large = imported(32 * 512);  // 500 million logits
    REQUIRE_MESSAGE(large.has_value(), large.error().message);
    CHECK(program::check_program(large->program).has_value());
    const auto larger = imported(256 * 512);
    REQUIRE_FALSE(larger.has_value());
    CHECK(larger.error().kind == ImportErrorKind::kTooLarge);
    CHECK(mentions(larger.error(), "2^31 elements; a smaller batch, with accumulation"));
}

TEST_CASE("pooling has no limit of 2^24 windows, only of places for so many") {
    const auto pooled = [](const char* op, std::int64_t side) {
        ModelBuilder model;
        model.input("x", {32, 64, 112, 112});  // of a ResNet's stem, 25 million elements
        model.output("y");
        model.node(op, {"x"}, {"y"});
        model.attribute("kernel_shape", std::vector<std::int64_t>{side, side});
        return model;
    };
    for (const char* op : {"MaxPool", "AveragePool"}) {
        CHECK(import_forward(pooled(op, 3).bytes()).has_value());
        CHECK(mentions(refused(pooled(op, 17)), "above 2^24 elements a window has at most 256"));
    }
}

TEST_CASE("a convolution of many groups takes as many at once as a matrix has rows for") {
    ModelBuilder model;
    model.input("x", {64, 32, 112, 112});  // of MobileNetV2's first block: 25 million rows for 32 groups
    model.output("y");
    model.initializer("w", {32, 1, 3, 3}, std::vector<float>(288, 0.5F));
    model.node("Conv", {"x", "w"}, {"y"});
    model.attribute("group", std::int64_t{32});
    model.attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    const auto imported = import_forward(model.bytes());
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
    const auto contracts = std::count_if(imported->graph.begin(), imported->graph.end(), [](const auto& node) {
        return node.op == canonical::Op::kContract;
    });
    CHECK(contracts == 4);
}

TEST_CASE("what a model keeps in another file must have the length that its type and dimensions ask for") {
    ModelBuilder model = assay::onnx::test::mlp();
    auto& weight = *model.proto().mutable_graph()->mutable_initializer(0);
    const std::vector<float> values(weight.float_data().begin(), weight.float_data().end());
    const auto expected = import_training(model.bytes(), {.batch_size = 8, .dataset_rows = 8});
    REQUIRE(expected.has_value());
    weight.clear_float_data();
    weight.set_data_location(::onnx::TensorProto::EXTERNAL);
    const auto set = [&](const std::string& key, const std::string& value) {
        auto* const entry = weight.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
    };
    set("location", "weights.bin");
    set("offset", "8");
    TrainingConfig config{.batch_size = 8, .dataset_rows = 8};
    config.external = [&](const std::string& location, std::uint64_t offset, std::uint64_t length) {
        CHECK(location == "weights.bin");
        CHECK(offset == 8);
        Bytes out(length);
        std::memcpy(out.data(), values.data(), std::min<std::size_t>(length, values.size() * sizeof(float)));
        return std::optional(out);
    };
    const auto imported = import_training(model.bytes(), config);
    REQUIRE(imported.has_value());
    CHECK(imported->initial == expected->initial);
    config.external = [](const std::string&, std::uint64_t, std::uint64_t) { return std::optional<Bytes>(); };
    CHECK(mentions(import_training(model.bytes(), config).error(), "cannot be read there"));
    set("length", "12");
    CHECK(mentions(import_training(model.bytes(), config).error(), "has 12 bytes in another file"));
    set("offset", "1x");
    weight.mutable_external_data(2)->set_key("checksum");
    CHECK(mentions(import_training(model.bytes(), config).error(), "'1x' as a place"));
}

TEST_CASE("a Constant may keep its value in another file") {
    ModelBuilder model;
    model.input("x", {-1, 2});
    model.output("loss");
    model.initializer("w", {2}, {1.0F, 2.0F});
    model.node("Constant", {}, {"c"});
    auto* const attribute = model.proto().mutable_graph()->mutable_node(0)->add_attribute();
    attribute->set_name("value");
    attribute->set_type(::onnx::AttributeProto::TENSOR);
    attribute->mutable_t()->set_data_type(1);
    attribute->mutable_t()->add_dims(2);
    attribute->mutable_t()->set_data_location(::onnx::TensorProto::EXTERNAL);
    auto* const entry = attribute->mutable_t()->add_external_data();
    entry->set_key("location");
    entry->set_value("constants.bin");
    model.node("Mul", {"x", "w"}, {"y"});
    model.node("Sub", {"y", "c"}, {"z"});
    model.node("ReduceSumSquare", {"z"}, {"loss"});
    TrainingConfig config{.batch_size = 8, .dataset_rows = 8};
    CHECK(mentions(import_training(model.bytes(), config).error(), "tensor 'value' keeps its data in another file"));
    config.external = [](const std::string& location, std::uint64_t offset, std::uint64_t length) {
        CHECK(location == "constants.bin");
        CHECK(offset == 0);
        return std::optional(Bytes(length));
    };
    CHECK(import_training(model.bytes(), config).has_value());
}

TEST_CASE("tensors in other files, halves and strings are refused") {
    ModelBuilder external = one_node("Relu");
    auto* tensor = external.proto().mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(1);
    tensor->set_data_location(::onnx::TensorProto::EXTERNAL);
    CHECK(mentions(refused(external), "tensor 'w' keeps its data in another file"));

    ModelBuilder half;
    half.input("x", {2}, ElementType::kFloat16);
    half.output("y");
    half.node("Relu", {"x"}, {"y"});
    CHECK(mentions(refused(half), "float16"));

    ModelBuilder text = one_node("Relu");
    text.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
    CHECK(refused(text).kind == ImportErrorKind::kUnsupported);

    ModelBuilder lengths = one_node("Relu");
    lengths.initializer("w", {5}, {1, 2, 3});
    CHECK(mentions(refused(lengths), "tensor 'w' has 12 bytes of data"));
}

TEST_CASE("inputs that decide shapes are asked for by name") {
    ModelBuilder model;
    model.input("x", {2, 3});
    model.input("shape", {1}, ElementType::kInt64);
    model.output("y");
    model.node("Reshape", {"x", "shape"}, {"y"});
    const ImportError error = refused(model);
    CHECK(error.kind == ImportErrorKind::kNeedsConstant);
    CHECK(error.input == "shape");
    ForwardConfig config;
    config.constants["shape"] = assay::onnx::test::host_integers({1}, {6});
    CHECK(import_forward(model.bytes(), config).has_value());
    config.constants["shape"] = assay::onnx::test::host_floats({1}, {6});
    CHECK(refused(model, config).kind == ImportErrorKind::kConfig);
    config.constants.erase("shape");
    config.constants["y"] = assay::onnx::test::host_integers({1}, {6});
    CHECK(refused(model, config).kind == ImportErrorKind::kConfig);
}

TEST_CASE("open dimensions are asked for") {
    ModelBuilder model;
    model.input("x", {-1, 3});
    model.output("y");
    model.node("Relu", {"x"}, {"y"});
    const ImportError error = refused(model);
    CHECK(error.kind == ImportErrorKind::kConfig);
    CHECK(mentions(error, "dimension 0 'batch' of graph input 'x' is open"));
}

TEST_CASE("what cannot be trained is refused with the reason") {
    CHECK(import_training(trainable().bytes(), small_config()).has_value());

    TrainingConfig config = small_config();
    config.loss = "squares";
    CHECK(mentions(refused_training(trainable(), config), "dimensions [4,3] is not a scalar loss"));
    config.loss = "nothing";
    CHECK(mentions(refused_training(trainable(), config), "no graph output 'nothing'"));
    config = small_config();
    config.frozen = {"w"};
    CHECK(mentions(refused_training(trainable(), config), "depends on no initializer that could be trained"));
    config.frozen = {"v"};
    CHECK(mentions(refused_training(trainable(), config), "no initializer 'v' to freeze"));
    config = small_config();
    config.batch_size = 0;
    CHECK(refused_training(trainable(), config).kind == ImportErrorKind::kConfig);
    config = small_config();
    config.optimizer.learning_rate = -1.0F;
    CHECK(mentions(refused_training(trainable(), config), "optimizer"));

    ModelBuilder batch = trainable();
    batch.input("z", {5, 3});
    CHECK(mentions(refused_training(batch, small_config()), "has a batch of 5, not of 4"));

    ModelBuilder wide = trainable();
    wide.input("z", {-1, 5000, 5000});
    CHECK(mentions(refused_training(wide, small_config()), "more than 16777216 numbers"));

    ModelBuilder scalar = trainable();
    scalar.input("z", {});
    CHECK(mentions(refused_training(scalar, small_config()), "no batch dimension"));
}

TEST_CASE("state tensors hold what tensors of models hold") {
    const auto floats = to_state_tensor(assay::onnx::test::host_floats({2, 3}, {1, 2, 3, 4, 5, 6}));
    REQUIRE(floats.has_value());
    CHECK(floats->shape == canonical::Shape{2, 3});
    const auto integers = to_state_tensor(assay::onnx::test::host_integers({3}, {-1, 0, 7}));
    REQUIRE(integers.has_value());
    CHECK(integers->dtype == canonical::DType::kI32);
    CHECK(
        to_state_tensor(assay::onnx::test::host_integers({1}, {std::int64_t{1} << 31U})).error().kind ==
        ImportErrorKind::kTooLarge
    );
    CHECK(to_state_tensor(assay::onnx::test::host_floats({0}, {})).error().kind == ImportErrorKind::kUnsupported);
    CHECK(to_state_tensor(assay::onnx::test::host_floats({4}, {1})).error().kind == ImportErrorKind::kInvalid);
}
