// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/canonical_models.hpp>

#include <stdexcept>
#include <vector>

namespace assay::bench {
namespace {

constexpr float kScale = 1.0F / 16.0F;

std::uint32_t narrow(std::int64_t size) { return static_cast<std::uint32_t>(size); }

std::vector<std::uint32_t> narrow(const std::vector<std::int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

}  // namespace

program::OptimizerConfig adamw() {
    const NativeOptimizer native;
    program::OptimizerConfig config;
    config.kind = program::OptimizerKind::kAdamW;
    config.learning_rate = static_cast<float>(native.learning_rate);
    config.weight_decay = static_cast<float>(native.weight_decay);
    return config;
}

program::Program program_of(const NativeGptConfig& model, std::uint64_t rows, const program::Profile& profile) {
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
    return build_gpt(config, adamw());
}

program::Program program_of(const NativeMlpConfig& model, std::uint64_t rows, const program::Profile& profile) {
    program::MlpConfig config;
    config.features = narrow(model.inputs);
    config.hidden = narrow(model.hidden);
    config.classes = narrow(model.classes);
    config.scale = kScale;
    config.batch_size = narrow(model.batch);
    config.dataset_rows = rows;
    config.profile = profile;
    return build_mlp(config, adamw());
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

namespace {

Model gpt(const std::string& name, const NativeGptConfig& native) {
    return {
        .name = name,
        .size =
            {{"layers", native.layers},
             {"heads", native.heads},
             {"width", native.width},
             {"context", native.context},
             {"batch", native.batch},
             {"vocabulary", native.vocabulary}},
        .limit = static_cast<std::uint32_t>(native.vocabulary),
        .canonical = [native](const program::Profile& profile) { return program_of(native, kDatasetRows, profile); },
        .native = [native](const std::string& device) { return make_native_gpt(native, {.device = device}); },
    };
}

Model mlp() {
    NativeMlpConfig native;
    native.hidden = {256, 256};
    native.batch = 128;
    return {
        .name = "mlp",
        .size =
            {{"inputs", native.inputs},
             {"hidden", native.hidden},
             {"classes", native.classes},
             {"batch", native.batch}},
        .limit = static_cast<std::uint32_t>(native.classes),
        .canonical = [native](const program::Profile& profile) { return program_of(native, kDatasetRows, profile); },
        .native = [native](const std::string& device) { return make_native_mlp(native, {.device = device}); },
    };
}

Model cnn() {
    NativeCnnConfig native;
    native.channels = {32, 64};
    return {
        .name = "cnn",
        .size =
            {{"side", native.side}, {"filters", native.channels}, {"classes", native.classes}, {"batch", native.batch}},
        .limit = static_cast<std::uint32_t>(native.classes),
        .canonical = [native](const program::Profile& profile) { return program_of(native, kDatasetRows, profile); },
        .native = [native](const std::string& device) { return make_native_cnn(native, {.device = device}); },
    };
}

Model resnet(const std::string& name) {
    const NativeResnetConfig native;
    return {
        .name = name,
        .size =
            {{"side", native.side},
             {"channels", native.channels},
             {"widths", native.widths},
             {"classes", native.classes},
             {"batch", native.batch}},
        .limit = static_cast<std::uint32_t>(native.classes),
        .canonical = [native](const program::Profile& profile) { return program_of(native, kDatasetRows, profile); },
        .native = [native](const std::string& device) { return make_native_resnet(native, {.device = device}); },
    };
}

}  // namespace

Model model_named(const std::string& name) {
    if (name == "gpt") {
        return gpt(name, {});
    }
    if (name == "gpt10m") {
        return gpt(name, {.layers = 6, .heads = 6, .width = 384, .context = 256, .batch = 4});
    }
    if (name == "gpt2" || name == "gpt2-batch8") {
        NativeGptConfig config{.layers = 12, .heads = 12, .width = 768, .context = 1024, .vocabulary = 50'257};
        config.batch = name == "gpt2" ? 1 : 8;
        return gpt(name, config);
    }
    if (name == "cnn") {
        return cnn();
    }
    if (name == "mlp") {
        return mlp();
    }
    if (name == "resnet18") {
        return resnet(name);
    }
    throw std::runtime_error(
        "no model is called " + name + "; there are gpt, gpt10m, gpt2, gpt2-batch8, cnn, mlp and resnet18"
    );
}

}  // namespace assay::bench
