// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/identity_models.hpp>

#include <verifier/compile/program/models.hpp>

namespace assay::bench {
namespace {

constexpr std::uint32_t kBatch = 16;
constexpr std::uint64_t kRows = 1024;
constexpr std::uint32_t kClasses = 10;
constexpr std::uint32_t kVocabulary = 96;
constexpr float kScale = 1.0F / 16.0F;

program::OptimizerConfig clipped_adamw() {
    program::OptimizerConfig out;
    out.kind = program::OptimizerKind::kAdamW;
    out.learning_rate = 1e-3F;
    out.weight_decay = 0.01F;
    out.clip_norm = 0.5F;
    return out;
}

program::Program mlp() {
    program::MlpConfig model;
    model.features = 64;
    model.hidden = {96, 64, 48};
    model.classes = kClasses;
    model.scale = kScale;
    model.batch_size = kBatch;
    model.dataset_rows = kRows;
    return build_mlp(model, clipped_adamw());
}

program::Program cnn() {
    program::CnnConfig model;
    model.filters = {8, 16};
    model.classes = kClasses;
    model.batch_norm = true;
    model.scale = kScale;
    model.batch_size = kBatch;
    model.dataset_rows = kRows;
    return build_cnn(model, clipped_adamw());
}

program::GptConfig transformer() {
    program::GptConfig model;
    model.vocabulary = kVocabulary;
    model.context = 32;
    model.dropout = 0.1F;
    model.batch_size = kBatch;
    model.dataset_rows = kRows;
    return model;
}

program::Program gpt() { return build_gpt(transformer(), clipped_adamw()); }

program::Program llama() {
    program::GptConfig model = transformer();
    model.heads = 4;
    model.width = 128;
    model.rotary = true;
    model.tied_head = false;
    model.llama = {.key_heads = 2, .hidden = 88};
    return build_gpt(model, clipped_adamw());
}

}  // namespace

std::vector<IdentityModel> identity_models() {
    std::vector<IdentityModel> out;
    out.push_back({"mlp", mlp(), kClasses});
    out.push_back({"cnn", cnn(), kClasses});
    out.push_back({"gpt", gpt(), kVocabulary});
    out.push_back({"llama", llama(), kVocabulary});
    return out;
}

}  // namespace assay::bench
