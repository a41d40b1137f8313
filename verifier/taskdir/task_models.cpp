// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_models.hpp>

#include <algorithm>

#include <core/canonical/node.hpp>

namespace assay::taskdir {
namespace {

using canonical::kMaxDimension;

constexpr std::uint32_t kAlignment = 32;
/// More would not fit the state tensors of a program.
constexpr std::size_t kMaxLayers = canonical::kMaxStateTensors / 2;

void read_batch_size(const TomlSection& model, std::uint32_t& out) { model.read("batch_size", 1U, kMaxDimension, out); }

program::CharModelConfig read_char(const TomlSection& model) {
    model.allow({"kind", "vocabulary", "context", "embedding", "hidden", "batch_size"});
    program::CharModelConfig config;
    model.read("vocabulary", 1U, kMaxDimension, config.vocabulary);
    model.read("context", 1U, kMaxDimension - 1, config.context);
    model.read("embedding", kAlignment, kMaxDimension, config.embedding);
    model.read("hidden", 1U, kMaxDimension, config.hidden);
    read_batch_size(model, config.batch_size);
    if (config.embedding % kAlignment != 0) {
        model.fail("embedding", "must be a multiple of 32");
    }
    if (std::uint64_t{config.context} * config.embedding > kMaxDimension) {
        model.fail("embedding", "context times embedding must not exceed " + std::to_string(kMaxDimension));
    }
    return config;
}

/// Whether activations cross a boundary behind a hidden layer in few bits (AQ-SGD).
void read_boundary(const TomlSection& model, program::MlpConfig& config) {
    constexpr std::uint32_t kMin = program::kMinBoundaryBits;
    constexpr std::uint32_t kMax = program::kMaxBoundaryBits;
    program::Boundary& boundary = config.boundary;
    for (const char* const key : {"boundary_bits", "gradient_bits"}) {
        if (!model.has("boundary") && model.has(key)) {
            model.fail(key, "is for a model with a boundary");
        }
    }
    if (!model.has("boundary")) {
        return;
    }
    boundary.after = model.number("boundary", 1U, static_cast<std::uint32_t>(config.hidden.size()));
    model.read("boundary_bits", kMin, kMax, boundary.bits);
    model.read("gradient_bits", kMin, kMax, boundary.gradient_bits);
    if (boundary.after >= 1 && boundary.after <= config.hidden.size() &&
        config.hidden[boundary.after - 1] % program::kBoundaryAlignment != 0) {
        model.fail("boundary", "the layer before it must have a multiple of 32 outputs");
    }
}

program::MlpConfig read_mlp(const TomlSection& model) {
    model.allow({"kind", "hidden", "classes", "scale", "batch_size", "boundary", "boundary_bits", "gradient_bits"});
    program::MlpConfig config;
    if (model.has("hidden")) {
        config.hidden = model.numbers("hidden", 1, kMaxDimension, kMaxLayers);
    }
    config.classes = model.number("classes", 1U, kMaxDimension);
    model.read("scale", {.min = 0.0, .above = true}, config.scale);
    read_batch_size(model, config.batch_size);
    read_boundary(model, config);
    return config;
}

program::CnnConfig read_cnn(const TomlSection& model) {
    model.allow(
        {"kind", "height", "width", "channels", "filters", "kernel", "classes", "batch_norm", "scale", "batch_size"}
    );
    program::CnnConfig config;
    config.height = model.number("height", 2U, kMaxDimension);
    config.width = model.number("width", 2U, kMaxDimension);
    model.read("channels", 1U, kMaxDimension, config.channels);
    if (model.has("filters")) {
        config.filters = model.numbers("filters", 1, kMaxDimension, kMaxLayers);
        if (config.filters.empty()) {
            model.fail("filters", "must have at least one number, one for each stage");
        }
    }
    model.read("kernel", 1U, kMaxDimension, config.kernel);
    if (config.kernel % 2 == 0) {
        model.fail("kernel", "must be odd");
    }
    config.classes = model.number("classes", 1U, kMaxDimension);
    config.batch_norm = model.flag("batch_norm", false);
    model.read("scale", {.min = 0.0, .above = true}, config.scale);
    read_batch_size(model, config.batch_size);
    return config;
}

/// The keys that every transformer has.
void read_transformer(const TomlSection& model, program::GptConfig& config) {
    model.read("vocabulary", 1U, kMaxDimension, config.vocabulary);
    model.read("context", kAlignment, kMaxDimension - 1, config.context);
    model.read("layers", 1U, canonical::kMaxStateTensors, config.layers);
    model.read("heads", 1U, kMaxDimension, config.heads);
    model.read("width", kAlignment, kMaxDimension, config.width);
    model.read("rotary_base", {.min = 0.0, .above = true}, config.rotary_base);
    config.tied_head = model.flag("tied_head", config.tied_head);
    model.read("dropout", {.min = 0.0, .max = 1.0, .below = true}, config.dropout);
    read_batch_size(model, config.batch_size);
    if (config.context % kAlignment != 0) {
        model.fail("context", "must be a multiple of 32");
    }
    if (config.width % config.heads != 0 || config.width / config.heads % kAlignment != 0) {
        model.fail("width", "must be heads times a multiple of 32");
    }
}

program::GptConfig read_gpt(const TomlSection& model) {
    model.allow(
        {"kind", "vocabulary", "context", "layers", "heads", "width", "positions", "rotary_base", "tied_head",
         "dropout", "batch_size"}
    );
    program::GptConfig config;
    read_transformer(model, config);
    config.rotary = model.choice_or("positions", {"learned", "rotary"}, "learned") == "rotary";
    return config;
}

/// As Llama 2 7B has it, to a multiple of 32: 8/3 of the width.
std::uint32_t usual_hidden(std::uint32_t width) {
    const std::uint64_t least = (std::uint64_t{8} * width + 2) / 3;
    return static_cast<std::uint32_t>((least + kAlignment - 1) / kAlignment * kAlignment);
}

program::GptConfig read_llama(const TomlSection& model) {
    model.allow(
        {"kind", "vocabulary", "context", "layers", "heads", "key_heads", "width", "hidden", "rotary_base", "tied_head",
         "dropout", "batch_size"}
    );
    program::GptConfig config;
    config.rotary = true;
    config.tied_head = false;
    read_transformer(model, config);
    config.llama = {.key_heads = config.heads, .hidden = std::min(usual_hidden(config.width), kMaxDimension)};
    model.read("key_heads", 1U, kMaxDimension, config.llama->key_heads);
    model.read("hidden", 1U, kMaxDimension, config.llama->hidden);
    if (config.heads % config.llama->key_heads != 0) {
        model.fail("key_heads", "must divide heads");
    }
    return config;
}

OnnxModel read_onnx(const TomlSection& model) {
    model.allow({"kind", "file", "loss", "frozen", "decayed", "rates", "batch_size"});
    OnnxModel onnx;
    onnx.file = model.text_or("file", onnx.file);
    onnx.loss = model.text_or("loss", "");
    onnx.frozen = model.texts("frozen");
    if (model.has("decayed")) {
        onnx.decayed = model.texts("decayed");
    }
    if (model.has("rates")) {
        onnx.rates = model.section("rates").real_table({.min = 0.0, .max = 1'000'000.0});
    }
    onnx.batch_size = model.number("batch_size", 1U, kMaxDimension);
    return onnx;
}

}  // namespace

Model read_model(const TomlSection& section) {
    const std::string kind = section.choice("kind", {"char", "mlp", "cnn", "gpt", "llama", "onnx"});
    if (kind == "mlp") {
        return read_mlp(section);
    }
    if (kind == "cnn") {
        return read_cnn(section);
    }
    if (kind == "gpt") {
        return read_gpt(section);
    }
    if (kind == "llama") {
        return read_llama(section);
    }
    if (kind == "onnx") {
        return read_onnx(section);
    }
    return read_char(section);
}

void set_profile(Model& model, const program::Profile& profile) {
    std::visit(
        [&profile](auto& config) {
            if constexpr (requires { config.profile; }) {
                config.profile = profile;
            }
        },
        model
    );
}

const char* kind_of(const Model& model) noexcept {
    struct Name {
        const char* operator()(const program::CharModelConfig&) const { return "char"; }
        const char* operator()(const program::MlpConfig&) const { return "mlp"; }
        const char* operator()(const program::CnnConfig&) const { return "cnn"; }
        const char* operator()(const program::GptConfig& config) const { return config.llama ? "llama" : "gpt"; }
        const char* operator()(const OnnxModel&) const { return "onnx"; }
    };
    return std::visit(Name{}, model);
}

std::string explain(program::ModelError error) {
    using enum program::ModelError;
    switch (error) {
        case kZero:
            return "a size is 0, or a number is not finite";
        case kAlignment:
            return "a size that must be a multiple of 32 is not, or heads do not divide the width";
        case kRowWidth:
            return "a row of the dataset would have more than " + std::to_string(kMaxDimension) + " values";
        case kTooLarge:
            return "too large: a matrix has a dimension above " + std::to_string(kMaxDimension) +
                   ", or there are more than " + std::to_string(canonical::kMaxStateTensors) +
                   " tensors of parameters and optimizer together, or " + std::to_string(canonical::kMaxNodes) +
                   " nodes";
        case kProbability:
            return "dropout must be from 0 to below 1";
        case kProfile:
            return "the numerics cannot be exact";
        case kTooSmall:
            return "the image is so small that pooling leaves nothing of it";
        case kOptimizer:
            return "the optimizer's numbers are out of range";
        case kBoundary:
            return "a boundary cannot be there: its layer has a multiple of 32 outputs, and the data at most 2^24 rows";
        case kReplicas:
            return "the number of replicas does not divide the batch size";
    }
    return "";
}

}  // namespace assay::taskdir
