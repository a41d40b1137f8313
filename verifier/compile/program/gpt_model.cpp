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

/// What the tensors are called: GPT-2's names, or those of a Llama, as in Hugging Face's checkpoints.
struct Names {
    const char* tokens;
    const char* positions;
    const char* block;
    const char* last_norm;
};
constexpr Names kGptNames{"wte", "wpe", "h.", "ln_f"};
constexpr Names kLlamaNames{"model.embed_tokens", "model.embed_positions", "model.layers.", "model.norm"};

class GptWriter {
  public:
    GptWriter(const GptConfig& model, std::uint32_t replicas)
        : model_(model),
          rows_(model.batch_size / replicas),
          names_(model.llama ? kLlamaNames : kGptNames),
          builder_(model.profile),
          graph_(builder_.graph()),
          tape_(builder_.tape()) {}

    Program write(const OptimizerConfig& optimizer);

  private:
    using Heads = std::array<Value, 3>;  // queries, keys and values, each for all heads

    std::uint32_t positions() const { return rows_ * model_.context; }
    Value append_loss(const Value& batch);
    Value norm(const std::string& name, const Value& x);
    Value linear(const std::string& name, const Value& x, std::uint32_t outputs, float deviation);
    Value embed(const Value& table, const Value& batch);
    Value turn(const Value& x, std::uint32_t heads);
    Heads split_heads(const Value& all);
    Heads grouped_heads(const std::string& name, const Value& x);
    Value mix(const Heads& heads);
    Value gpt_block(const std::string& name, const Value& x);
    Value llama_block(const std::string& name, const Value& x);
    Value drop(const Value& x);
    // What is added to the stream starts smaller the more layers add to it.
    float residual_deviation() const { return kDeviation / std::sqrt(2.0F * static_cast<float>(model_.layers)); }

    const GptConfig& model_;
    const std::uint32_t rows_;  // of a replica
    Names names_;
    ModelBuilder builder_;
    GraphBuilder& graph_;
    Tape& tape_;
};

Value GptWriter::norm(const std::string& name, const Value& x) {
    const Value gain = builder_.parameter(name + ".weight", {1, model_.width}, Start::constant(1.0F));
    if (model_.llama) {
        return tape_.rms_norm(x, gain, kNormEpsilon);
    }
    const Value bias = builder_.parameter(name + ".bias", {1, model_.width}, Start::zeros());
    return tape_.layer_norm(x, gain, bias, kNormEpsilon);
}

Value GptWriter::linear(const std::string& name, const Value& x, std::uint32_t outputs, float deviation) {
    const Value weight = builder_.parameter(name + ".weight", {outputs, x.shape.cols}, Start::spread(deviation));
    if (model_.llama) {
        return tape_.matmul_nt(x, weight);
    }
    const Value bias = builder_.parameter(name + ".bias", {1, outputs}, Start::zeros());
    return tape_.linear(x, weight, bias);
}

Value GptWriter::drop(const Value& x) {
    return model_.dropout > 0.0F ? tape_.dropout(x, model_.dropout, builder_.new_tensor_id()) : x;
}

// The first `context` tokens of each row, one below the other.
Value GptWriter::embed(const Value& table, const Value& batch) {
    const Dims rows{rows_, model_.context + 1};
    const Value tokens = graph_.view(batch, slice_view(rows, 1, 0, model_.context), Shape{positions(), 1});
    const Value x = tape_.embed(table, tokens);
    if (model_.rotary) {
        return drop(x);
    }
    const Value table_of_positions = builder_.parameter(
        names_.positions + std::string(".weight"), {model_.context, model_.width}, Start::spread(kDeviation)
    );
    const canonical::View repeat = expand_view({model_.context, model_.width}, {rows_, model_.context, model_.width});
    return drop(tape_.add(x, tape_.view(table_of_positions, repeat)));
}

Value GptWriter::turn(const Value& x, std::uint32_t heads) {
    return model_.rotary ? tape_.rotary(x, model_.context, heads, model_.rotary_base) : x;
}

GptWriter::Heads GptWriter::split_heads(const Value& all) {
    Heads parts;
    for (std::uint32_t i = 0; i < 3; ++i) {
        parts[i] = tape_.view(
            all, slice_view({positions(), 3 * model_.width}, 1, std::int64_t{i} * model_.width, model_.width)
        );
        if (i < 2) {
            parts[i] = turn(parts[i], model_.heads);
        }
    }
    return parts;
}

// Every head of the keys and of the values serves as many heads of the queries, which stand together.
GptWriter::Heads GptWriter::grouped_heads(const std::string& name, const Value& x) {
    const std::uint32_t depth = model_.width / model_.heads;
    const std::uint32_t key_heads = model_.llama->key_heads;
    const canonical::View repeat =
        expand_view({positions(), key_heads, 1, depth}, {positions(), key_heads, model_.heads / key_heads, depth});
    const auto repeated = [&](const Value& part) { return tape_.view(part, repeat, Shape{positions(), model_.width}); };
    const Value queries = linear(name + ".q_proj", x, model_.width, kDeviation);
    const Value keys = linear(name + ".k_proj", x, key_heads * depth, kDeviation);
    const Value values = linear(name + ".v_proj", x, key_heads * depth, kDeviation);
    return {turn(queries, model_.heads), repeated(turn(keys, key_heads)), repeated(values)};
}

Value GptWriter::mix(const Heads& heads) {
    return tape_.causal_attention(heads[0], heads[1], heads[2], model_.context, model_.heads);
}

Value GptWriter::gpt_block(const std::string& name, const Value& x) {
    const Value all = linear(name + ".attn.c_attn", norm(name + ".ln_1", x), 3 * model_.width, kDeviation);
    const Value mixed = linear(name + ".attn.c_proj", mix(split_heads(all)), model_.width, residual_deviation());
    const Value attended = tape_.add(x, drop(mixed));
    const Value wide = linear(name + ".mlp.c_fc", norm(name + ".ln_2", attended), 4 * model_.width, kDeviation);
    const Value narrow = linear(name + ".mlp.c_proj", tape_.gelu(wide), model_.width, residual_deviation());
    return tape_.add(attended, drop(narrow));
}

Value GptWriter::llama_block(const std::string& name, const Value& x) {
    const Heads heads = grouped_heads(name + ".self_attn", norm(name + ".input_layernorm", x));
    const Value mixed = linear(name + ".self_attn.o_proj", mix(heads), model_.width, residual_deviation());
    const Value attended = tape_.add(x, drop(mixed));
    const Value unit = norm(name + ".post_attention_layernorm", attended);
    const Value gate = linear(name + ".mlp.gate_proj", unit, model_.llama->hidden, kDeviation);
    const Value wide = linear(name + ".mlp.up_proj", unit, model_.llama->hidden, kDeviation);
    const Value narrow =
        linear(name + ".mlp.down_proj", tape_.mul(tape_.silu(gate), wide), model_.width, residual_deviation());
    return tape_.add(attended, drop(narrow));
}

Value GptWriter::append_loss(const Value& batch) {
    const Shape table{model_.vocabulary, model_.width};
    const Value embedding =
        builder_.parameter(names_.tokens + std::string(".weight"), table, Start::spread(kDeviation));
    Value x = embed(embedding, batch);
    for (std::uint32_t i = 0; i < model_.layers; ++i) {
        const std::string name = names_.block + std::to_string(i);
        x = model_.llama ? llama_block(name, x) : gpt_block(name, x);
    }
    x = norm(names_.last_norm, x);
    const Value head =
        model_.tied_head ? embedding : builder_.parameter("lm_head.weight", table, Start::spread(kDeviation));
    const canonical::View targets = slice_view({rows_, model_.context + 1}, 1, 1, model_.context);
    const Value target = graph_.view(batch, targets, Shape{positions(), 1});
    return tape_.mean_cross_entropy(tape_.matmul_nt(x, head), target);
}

Program GptWriter::write(const OptimizerConfig& optimizer) {
    const auto forward = [this](const Value& batch) { return append_loss(batch); };
    return builder_.finish(forward, optimizer, {model_.batch_size, {model_.dataset_rows, model_.context + 1}});
}

Program write_gpt(const GptConfig& model, const OptimizerConfig& optimizer) {
    return GptWriter(model, optimizer.replicas.count).write(optimizer);
}

}  // namespace

Result<void, ModelError> check_model(const GptConfig& model, const OptimizerConfig& optimizer) {
    return check_written(model, optimizer, write_gpt);
}

Program build_gpt(const GptConfig& model, const OptimizerConfig& optimizer) {
    return build_checked(model, optimizer, write_gpt);
}

}  // namespace assay::program
