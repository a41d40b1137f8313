// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/measured_models.hpp>

#include <stdexcept>

#include <tools/bench/canonical_models.hpp>

namespace assay::bench {
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

Model mlp(const std::string& name, std::int64_t batch) {
    NativeMlpConfig native = mlp_size();
    native.batch = batch;
    return {
        .name = name,
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
    const NativeCnnConfig native = cnn_size();
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

program::Program llama_program(const program::Profile& profile) {
    program::GptConfig model;
    model.vocabulary = 96;
    model.layers = 4;
    model.heads = 4;
    model.width = 128;
    model.rotary = true;
    model.tied_head = false;
    model.dropout = 0.1F;
    model.batch_size = 16;
    model.dataset_rows = kDatasetRows;
    model.profile = profile;
    model.llama = {.key_heads = 2, .hidden = 352};
    program::OptimizerConfig optimizer = adamw();
    optimizer.clip_norm = 1.0F;
    return build_gpt(model, optimizer);
}

// For cells: there is no native one to compare with.
Model llama() {
    return {
        .name = "llama",
        .size = {},
        .limit = 96,
        .canonical = llama_program,
        .native = [](const std::string&) -> std::unique_ptr<NativeModel> {
            throw std::runtime_error("llama has no native model: measure it with assay-bench group");
        },
    };
}

}  // namespace

Model model_named(const std::string& name) {
    if (name == "gpt") {
        return gpt(name, {});
    }
    if (name == "gpt10m") {
        return gpt(name, gpt10m_size());
    }
    if (name == "gpt2" || name == "gpt2-batch8") {
        NativeGptConfig config{.layers = 12, .heads = 12, .width = 768, .context = 1024, .vocabulary = 50'257};
        config.batch = name == "gpt2" ? 1 : 8;
        return gpt(name, config);
    }
    if (name == "llama") {
        return llama();
    }
    if (name == "cnn") {
        return cnn();
    }
    if (name == "mlp") {
        return mlp(name, mlp_size().batch);
    }
    if (name == "mlp-batch1024") {
        return mlp(name, 1024);
    }
    if (name == "resnet18") {
        return resnet(name);
    }
    throw std::runtime_error(
        "no model is called " + name +
        "; there are gpt, gpt10m, gpt2, gpt2-batch8, llama, cnn, mlp, mlp-batch1024 and resnet18"
    );
}

}  // namespace assay::bench
