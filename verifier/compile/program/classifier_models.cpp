// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/models.hpp>

#include <string>

#include <verifier/compile/program/model_builder.hpp>
#include <verifier/compile/program/model_checks.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::program {
namespace {

// A batch whose rows are real numbers and then a class.
struct Samples {
    Value features;
    Value classes;
};

Samples read_samples(GraphBuilder& graph, const Value& batch, Encoding encoding, float scale) {
    const std::uint32_t count = batch.shape.cols - 1;
    const Value raw = graph.slice_cols(batch, 0, count);
    const Value features = encoding == Encoding::kInteger ? graph.to_float(raw) : graph.from_bits(raw);
    return Samples{scale == 1.0F ? features : graph.scale(features, scale), graph.slice_cols(batch, count, 1)};
}

Value append_linear(ModelBuilder& builder, const std::string& name, const Value& x, std::uint32_t outputs) {
    const std::uint32_t inputs = x.shape.cols;
    const Value weight = builder.parameter(name + ".weight", {outputs, inputs}, Start::fan_in(inputs));
    const Value bias = builder.parameter(name + ".bias", {1, outputs}, Start::zeros());
    return builder.tape().linear(x, weight, bias);
}

// An image while it goes through the stages.
struct Image {
    Value value;
    Dims dims;
};

Image append_stage(ModelBuilder& builder, const CnnConfig& model, std::size_t stage, const Image& image) {
    const std::uint32_t filters = model.filters[stage];
    const std::string number = std::to_string(stage + 1);
    const auto pad = static_cast<std::int32_t>(model.kernel / 2);
    const Windows same{.kernel = {model.kernel, model.kernel}, .pad_before = {pad, pad}, .pad_after = {pad, pad}};
    const std::uint32_t inputs = model.kernel * model.kernel * image.dims.back();
    const Value weight = builder.parameter("conv" + number + ".weight", {filters, inputs}, Start::fan_in(inputs));
    Value value = builder.tape().conv(image.value, image.dims, same, weight);
    Dims dims = image.dims;
    dims.back() = filters;
    if (model.batch_norm) {  // which takes any bias out again
        value = builder.batch_norm("norm" + number, value);
    } else {
        value = builder.tape().add(value, builder.parameter("conv" + number + ".bias", {1, filters}, Start::zeros()));
    }
    const Windows halves{.kernel = {2, 2}, .stride = {2, 2}};
    const Value pooled = builder.tape().max_pool(builder.tape().relu(value), dims, halves);
    return Image{pooled, window_dims(dims, halves)};
}

Value append_loss(ModelBuilder& builder, const MlpConfig& model, const Value& batch) {
    GraphBuilder& graph = builder.graph();
    const std::uint32_t after = model.boundary.after;
    const std::uint32_t width = model.features + 1;
    const Samples samples =
        read_samples(graph, after == 0 ? batch : graph.slice_cols(batch, 0, width), model.encoding, model.scale);
    Value x = samples.features;
    for (std::size_t i = 0; i < model.hidden.size(); ++i) {
        const std::string name = "hidden" + std::to_string(i + 1);
        x = builder.tape().relu(append_linear(builder, name, x, model.hidden[i]));
        if (i + 1 == after) {
            const auto rows = static_cast<std::uint32_t>(model.dataset_rows);
            x = append_boundary(builder, name, x, graph.slice_cols(batch, width, 1), rows, model.boundary);
        }
    }
    const Value logits = append_linear(builder, "output", x, model.classes);
    return builder.tape().mean_cross_entropy(logits, samples.classes);
}

Program write_mlp(const MlpConfig& model, const OptimizerConfig& optimizer) {
    ModelBuilder builder(model.profile);
    const auto forward = [&](const Value& batch) { return append_loss(builder, model, batch); };
    const std::uint32_t width = model.features + 1 + (model.boundary.after == 0 ? 0 : 1);
    return builder.finish(forward, optimizer, {model.batch_size, {model.dataset_rows, width}});
}

Value append_loss(ModelBuilder& builder, const CnnConfig& model, const Value& batch) {
    const Samples samples = read_samples(builder.graph(), batch, model.encoding, model.scale);
    const std::uint32_t rows = batch.shape.rows;
    Image image{{}, {rows, model.height, model.width, model.channels}};
    image.value = builder.graph().view(
        samples.features, reshape_view({rows, samples.features.shape.cols}, image.dims), matrix_shape(image.dims)
    );
    for (std::size_t stage = 0; stage < model.filters.size(); ++stage) {
        image = append_stage(builder, model, stage, image);
    }
    const auto features = static_cast<std::uint32_t>(element_count(image.dims) / rows);
    const Value flat = builder.tape().view(image.value, reshape_view(image.dims, {rows, features}));
    const Value logits = append_linear(builder, "output", flat, model.classes);
    return builder.tape().mean_cross_entropy(logits, samples.classes);
}

Program write_cnn(const CnnConfig& model, const OptimizerConfig& optimizer) {
    ModelBuilder builder(model.profile);
    const std::uint32_t pixels = model.height * model.width * model.channels;
    const auto forward = [&](const Value& batch) { return append_loss(builder, model, batch); };
    return builder.finish(forward, optimizer, {model.batch_size, {model.dataset_rows, pixels + 1}});
}

}  // namespace

Result<void, ModelError> check_model(const MlpConfig& model, const OptimizerConfig& optimizer) {
    return check_written(model, optimizer, write_mlp);
}

Program build_mlp(const MlpConfig& model, const OptimizerConfig& optimizer) {
    return build_checked(model, optimizer, write_mlp);
}

Result<void, ModelError> check_model(const CnnConfig& model, const OptimizerConfig& optimizer) {
    return check_written(model, optimizer, write_cnn);
}

Program build_cnn(const CnnConfig& model, const OptimizerConfig& optimizer) {
    return build_checked(model, optimizer, write_cnn);
}

}  // namespace assay::program
