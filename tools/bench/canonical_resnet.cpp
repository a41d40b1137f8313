// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/canonical_models.hpp>

#include <string>

#include <core/base/assert.hpp>
#include <verifier/compile/program/array.hpp>
#include <verifier/compile/program/model_builder.hpp>

namespace assay::bench {
namespace {

using canonical::Shape;
using program::Dims;
using program::ModelBuilder;
using program::Start;
using program::Value;
using program::Windows;

constexpr float kScale = 1.0F / 16.0F;

std::uint32_t narrow(std::int64_t size) { return static_cast<std::uint32_t>(size); }

/// Images on their way through the layers: [batch, height, width, channels].
struct Images {
    Value value;
    Dims dims;
};

class ResnetWriter {
  public:
    ResnetWriter(const NativeResnetConfig& model, const program::Profile& profile) : model_(model), builder_(profile) {}

    program::Program write(const program::OptimizerConfig& optimizer, std::uint64_t rows) {
        const std::uint32_t strips = narrow(model_.strips);
        const std::uint32_t batch = narrow(model_.batch);
        const std::uint32_t width = narrow(model_.side * model_.side * model_.channels / model_.strips);
        const Shape read{batch * strips, width + 1};
        const Value values = builder_.graph().batch_rows(read);
        const Value labels = builder_.graph().view(
            values, program::slice_view({batch, strips * read.cols}, 1, width, 1), Shape{batch, 1}
        );
        Images x = conv("conv1", "bn1", images(values, {batch * strips, width}), model_.widths.front(), 7, 2);
        const Windows pool{.kernel = {3, 3}, .stride = {2, 2}, .pad_before = {1, 1}, .pad_after = {1, 1}};
        x = {tape().max_pool(tape().relu(x.value), x.dims, pool), program::window_dims(x.dims, pool)};
        for (std::size_t stage = 0; stage < model_.widths.size(); ++stage) {
            const std::string name = "layer" + std::to_string(stage + 1) + ".";
            x = block(name + "0.", x, model_.widths[stage], stage > 0 ? 2 : 1);
            x = block(name + "1.", x, model_.widths[stage], 1);
        }
        const Value logits = head(x, batch);
        return builder_.finish(tape().mean_cross_entropy(logits, labels), optimizer, {read.rows, {rows, read.cols}});
    }

  private:
    program::Tape& tape() { return builder_.tape(); }

    Images images(const Value& values, const Shape& pixels) {
        program::GraphBuilder& graph = builder_.graph();
        const Value numbers = graph.scale(graph.to_float(graph.slice_cols(values, 0, pixels.cols)), kScale);
        const Dims dims{narrow(model_.batch), narrow(model_.side), narrow(model_.side), narrow(model_.channels)};
        const canonical::View view = program::reshape_view({pixels.rows, pixels.cols}, dims);
        return {graph.view(numbers, view, program::matrix_shape(dims)), dims};
    }

    /// A convolution that keeps the size, or halves it with a stride of 2, and batch normalisation.
    Images conv(
        const std::string& name, const std::string& norm, const Images& x, std::int64_t filters, std::uint32_t side,
        std::uint32_t stride
    ) {
        const auto pad = static_cast<std::int32_t>(side / 2);
        const Windows windows{
            .kernel = {side, side}, .stride = {stride, stride}, .pad_before = {pad, pad}, .pad_after = {pad, pad}};
        const std::uint32_t inputs = side * side * x.dims.back();
        const Value weight = builder_.parameter(name + ".weight", {narrow(filters), inputs}, Start::fan_in(inputs));
        Dims dims = program::window_dims(x.dims, windows);
        dims.back() = narrow(filters);
        return {builder_.batch_norm(norm, tape().conv(x.value, x.dims, windows, weight)), dims};
    }

    Images block(const std::string& name, const Images& x, std::int64_t filters, std::uint32_t stride) {
        Images y = conv(name + "conv1", name + "bn1", x, filters, 3, stride);
        y.value = tape().relu(y.value);
        y = conv(name + "conv2", name + "bn2", y, filters, 3, 1);
        const Images kept = stride == 1 ? x : conv(name + "downsample.0", name + "downsample.1", x, filters, 1, stride);
        return {tape().relu(tape().add(y.value, kept.value)), y.dims};
    }

    /// The mean over all places, and a linear layer.
    Value head(const Images& x, std::uint32_t batch) {
        const Windows all{.kernel = {x.dims[1], x.dims[2]}};
        const std::uint32_t features = x.dims.back();
        const Value means = tape().view(
            tape().avg_pool(x.value, x.dims, all), program::reshape_view({batch, 1, 1, features}, {batch, features})
        );
        const std::uint32_t classes = narrow(model_.classes);
        const Value weight = builder_.parameter("fc.weight", {classes, features}, Start::fan_in(features));
        return tape().linear(means, weight, builder_.parameter("fc.bias", {1, classes}, Start::zeros()));
    }

    const NativeResnetConfig& model_;
    ModelBuilder builder_;
};

}  // namespace

program::Program program_of(const NativeResnetConfig& model, std::uint64_t rows, const program::Profile& profile) {
    ASSERT(model.side * model.side * model.channels % model.strips == 0);
    return ResnetWriter(model, profile).write(adamw(), rows);
}

}  // namespace assay::bench
