// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/models.hpp>

#include <array>
#include <cmath>
#include <string>

#include <verifier/compile/program/model_builder.hpp>
#include <verifier/compile/program/model_checks.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::program {
namespace {

using canonical::Shape;

constexpr float kDeviation = 0.02F;  // of every weight, as GPT-2 starts

class GptWriter {
  public:
    explicit GptWriter(const GptConfig& model)
        : model_(model), builder_(model.profile), graph_(builder_.graph()), tape_(builder_.tape()) {}

    Program write(const OptimizerConfig& optimizer);

  private:
    std::uint32_t positions() const { return model_.batch_size * model_.context; }
    Value norm(const std::string& name, const Value& x);
    Value linear(const std::string& name, const Value& x, std::uint32_t outputs, float deviation);
    Value embed(const Value& table, const Value& batch);
    Value attention(const std::string& name, const Value& x);
    Value block(const std::string& name, const Value& x);
    Value drop(const Value& x);
    // What is added to the stream starts smaller the more layers add to it.
    float residual_deviation() const { return kDeviation / std::sqrt(2.0F * static_cast<float>(model_.layers)); }

    const GptConfig& model_;
    ModelBuilder builder_;
    GraphBuilder& graph_;
    Tape& tape_;
};

Value GptWriter::norm(const std::string& name, const Value& x) {
    const Value gain = builder_.parameter(name + ".weight", {1, model_.width}, Start::constant(1.0F));
    const Value bias = builder_.parameter(name + ".bias", {1, model_.width}, Start::zeros());
    return tape_.layer_norm(x, gain, bias, kNormEpsilon);
}

Value GptWriter::linear(const std::string& name, const Value& x, std::uint32_t outputs, float deviation) {
    const Value weight = builder_.parameter(name + ".weight", {outputs, x.shape.cols}, Start::spread(deviation));
    const Value bias = builder_.parameter(name + ".bias", {1, outputs}, Start::zeros());
    return tape_.linear(x, weight, bias);
}

Value GptWriter::drop(const Value& x) {
    return model_.dropout > 0.0F ? tape_.dropout(x, model_.dropout, builder_.new_tensor_id()) : x;
}

// The first `context` tokens of each row, one below the other.
Value GptWriter::embed(const Value& table, const Value& batch) {
    const Dims rows{model_.batch_size, model_.context + 1};
    const Value tokens = graph_.view(batch, slice_view(rows, 1, 0, model_.context), Shape{positions(), 1});
    const Value x = tape_.embed(table, tokens);
    if (model_.rotary) {
        return drop(x);
    }
    const Value table_of_positions =
        builder_.parameter("wpe.weight", {model_.context, model_.width}, Start::spread(kDeviation));
    const canonical::View repeat =
        expand_view({model_.context, model_.width}, {model_.batch_size, model_.context, model_.width});
    return drop(tape_.add(x, tape_.view(table_of_positions, repeat)));
}

Value GptWriter::attention(const std::string& name, const Value& x) {
    const Value all = linear(name + ".c_attn", x, 3 * model_.width, kDeviation);
    std::array<Value, 3> parts;
    for (std::uint32_t i = 0; i < 3; ++i) {
        parts[i] = tape_.view(
            all, slice_view({positions(), 3 * model_.width}, 1, std::int64_t{i} * model_.width, model_.width)
        );
        if (model_.rotary && i < 2) {
            parts[i] = tape_.rotary(parts[i], model_.context, model_.heads, model_.rotary_base);
        }
    }
    const Value mixed = tape_.causal_attention(parts[0], parts[1], parts[2], model_.context, model_.heads);
    return linear(name + ".c_proj", mixed, model_.width, residual_deviation());
}

Value GptWriter::block(const std::string& name, const Value& x) {
    const Value attended = tape_.add(x, drop(attention(name + ".attn", norm(name + ".ln_1", x))));
    const Value wide = linear(name + ".mlp.c_fc", norm(name + ".ln_2", attended), 4 * model_.width, kDeviation);
    const Value narrow = linear(name + ".mlp.c_proj", tape_.gelu(wide), model_.width, residual_deviation());
    return tape_.add(attended, drop(narrow));
}

Program GptWriter::write(const OptimizerConfig& optimizer) {
    const ModelBuilder::Data data{model_.batch_size, {model_.dataset_rows, model_.context + 1}};
    const Value batch = graph_.batch_rows(Shape{model_.batch_size, data.dataset.width});
    const Shape table{model_.vocabulary, model_.width};
    const Value embedding = builder_.parameter("wte.weight", table, Start::spread(kDeviation));
    Value x = embed(embedding, batch);
    for (std::uint32_t i = 0; i < model_.layers; ++i) {
        x = block("h." + std::to_string(i), x);
    }
    x = norm("ln_f", x);
    const Value head =
        model_.tied_head ? embedding : builder_.parameter("lm_head.weight", table, Start::spread(kDeviation));
    const Value target = graph_.view(
        batch, slice_view({model_.batch_size, data.dataset.width}, 1, 1, model_.context), Shape{positions(), 1}
    );
    return builder_.finish(tape_.mean_cross_entropy(tape_.matmul_nt(x, head), target), optimizer, data);
}

Program write_gpt(const GptConfig& model, const OptimizerConfig& optimizer) {
    return GptWriter(model).write(optimizer);
}

}  // namespace

Result<void, ModelError> check_model(const GptConfig& model, const OptimizerConfig& optimizer) {
    return check_written(model, optimizer, write_gpt);
}

Program build_gpt(const GptConfig& model, const OptimizerConfig& optimizer) {
    return build_checked(model, optimizer, write_gpt);
}

}  // namespace assay::program
