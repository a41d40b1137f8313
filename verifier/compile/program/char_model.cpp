// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/models.hpp>

#include <verifier/compile/program/model_builder.hpp>
#include <verifier/compile/program/model_checks.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::program {
namespace {

Value append_loss(ModelBuilder& builder, const CharModelConfig& model, const Value& batch) {
    GraphBuilder& graph = builder.graph();
    Tape& tape = builder.tape();
    const std::uint32_t features = model.context * model.embedding;
    const Value table =
        builder.parameter("embedding.weight", {model.vocabulary, model.embedding}, Start::uniform(1.0F));
    const Value hidden_weight = builder.parameter("hidden.weight", {model.hidden, features}, Start::fan_in(features));
    const Value hidden_bias = builder.parameter("hidden.bias", {1, model.hidden}, Start::zeros());
    const Value output_weight =
        builder.parameter("output.weight", {model.vocabulary, model.hidden}, Start::fan_in(model.hidden));
    const Value output_bias = builder.parameter("output.bias", {1, model.vocabulary}, Start::zeros());

    const Value index = graph.slice_cols(batch, 0, model.context);
    const Value target = graph.slice_cols(batch, model.context, 1);
    const Value hidden = tape.relu(tape.linear(tape.embed(table, index), hidden_weight, hidden_bias));
    return tape.mean_cross_entropy(tape.linear(hidden, output_weight, output_bias), target);
}

Program write(const CharModelConfig& model, const OptimizerConfig& optimizer) {
    ModelBuilder builder(model.profile);
    const canonical::DatasetShape dataset{model.dataset_rows, model.context + 1};
    const auto forward = [&](const Value& batch) { return append_loss(builder, model, batch); };
    return builder.finish(forward, optimizer, {model.batch_size, dataset});
}

}  // namespace

Result<void, ModelError> check_model(const CharModelConfig& model, const OptimizerConfig& optimizer) {
    return check_written(model, optimizer, write);
}

Program build_char_model(const CharModelConfig& model, const OptimizerConfig& optimizer) {
    return build_checked(model, optimizer, write);
}

}  // namespace assay::program
