// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/canonical_models.hpp>

#include <vector>

namespace assay::bench {
namespace {

constexpr float kScale = 1.0F / 16.0F;

std::uint32_t narrow(std::int64_t size) { return static_cast<std::uint32_t>(size); }

std::vector<std::uint32_t> narrow(const std::vector<std::int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

program::GptConfig config_of(const NativeGptConfig& model, std::uint64_t rows, const program::Profile& profile) {
    program::GptConfig config;
    config.vocabulary = narrow(model.vocabulary);
    config.context = narrow(model.context);
    config.layers = narrow(model.layers);
    config.heads = narrow(model.heads);
    config.width = narrow(model.width);
    config.tied_head = false;
    config.batch_size = narrow(model.batch);
    config.dataset_rows = rows;
    config.profile = profile;
    return config;
}

program::MlpConfig config_of(const NativeMlpConfig& model, std::uint64_t rows) {
    program::MlpConfig config;
    config.features = narrow(model.inputs);
    config.hidden = narrow(model.hidden);
    config.classes = narrow(model.classes);
    config.scale = kScale;
    config.batch_size = narrow(model.batch);
    config.dataset_rows = rows;
    return config;
}

}  // namespace

program::OptimizerConfig adamw() {
    const NativeOptimizer native;
    program::OptimizerConfig config;
    config.kind = program::OptimizerKind::kAdamW;
    config.learning_rate = static_cast<float>(native.learning_rate);
    config.weight_decay = static_cast<float>(native.weight_decay);
    return config;
}

NativeGptConfig gpt10m_size() { return {.layers = 6, .heads = 6, .width = 384, .context = 256, .batch = 4}; }

NativeMlpConfig mlp_size() {
    NativeMlpConfig out;
    out.hidden = {256, 256};
    out.batch = 128;
    return out;
}

NativeCnnConfig cnn_size() {
    NativeCnnConfig out;
    out.channels = {32, 64};
    return out;
}

program::Program program_of(
    const NativeGptConfig& model, std::uint64_t rows, const program::Profile& profile, bool tied_head
) {
    program::GptConfig config = config_of(model, rows, profile);
    config.tied_head = tied_head;
    return build_gpt(config, adamw());
}

program::Program program_of(
    const NativeGptConfig& model, std::uint64_t rows, const program::Profile& profile,
    const program::OptimizerConfig& optimizer
) {
    return build_gpt(config_of(model, rows, profile), optimizer);
}

program::Program program_of(const NativeMlpConfig& model, std::uint64_t rows, const program::Profile& profile) {
    return program_of(model, rows, profile, adamw());
}

program::Program program_of(
    const NativeMlpConfig& model, std::uint64_t rows, const program::Profile& profile,
    const program::OptimizerConfig& optimizer
) {
    program::MlpConfig config = config_of(model, rows);
    config.profile = profile;
    return build_mlp(config, optimizer);
}

program::Program program_of(
    const NativeMlpConfig& model, std::uint64_t rows, const program::Boundary& boundary,
    const program::OptimizerConfig& optimizer
) {
    program::MlpConfig config = config_of(model, rows);
    config.boundary = boundary;
    return build_mlp(config, optimizer);
}

program::Program program_of(const NativeCnnConfig& model, std::uint64_t rows, const program::Profile& profile) {
    program::CnnConfig config;
    config.height = narrow(model.side);
    config.width = narrow(model.side);
    config.filters = narrow(model.channels);
    config.classes = narrow(model.classes);
    config.scale = kScale;
    config.batch_size = narrow(model.batch);
    config.dataset_rows = rows;
    config.profile = profile;
    return build_cnn(config, adamw());
}

std::uint64_t parameters_of(const program::Program& program) {
    std::uint64_t total = 0;
    for (const program::StateTensor& tensor : program.state) {
        total += tensor.name.starts_with("adam.first.") ? tensor.type.shape.element_count() : 0;
    }
    return total;
}

}  // namespace assay::bench
