// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/curves_tasks.hpp>

#include <utility>

#include <tools/bench/canonical_models.hpp>
#include <tools/bench/rows_file.hpp>

namespace assay::bench {
namespace {

template <class Config>
auto with_optimizer_of(const Config& native, std::uint64_t rows) {
    return [native, rows](const program::OptimizerConfig& optimizer, std::uint32_t batches) {
        Config larger = native;
        larger.batch *= batches;
        return program_of(larger, rows, program::kXg21, optimizer);
    };
}

NativeGptConfig gpt_named(const std::string& name) {
    if (name == "gpt3m") {
        return {.width = 256, .batch = 4};
    }
    return name == "gpt10m" ? gpt10m_size() : NativeGptConfig{};
}

CurveTask gpt(const CurveOptions& options) {
    NativeGptConfig native = gpt_named(options.model);
    artifacts::TextDataset text = read_text(options.data, static_cast<std::uint32_t>(native.context));
    native.vocabulary = text.vocabulary_size;
    const std::uint64_t count = text.dataset.shape().rows;
    return {
        .title = "character GPT, " + std::to_string(native.layers) + " layers of width " +
                 std::to_string(native.width) + ", on " + options.data,
        .rows = std::make_shared<const artifacts::Dataset>(std::move(text.dataset)),
        .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
        .with_optimizer = with_optimizer_of(native, count),
        .native = [native](const NativeOptions& o) { return make_native_gpt(native, o); },
    };
}

CurveTask classifier(const CurveOptions& options) {
    const auto rows = read_rows(options.data);
    const std::uint64_t count = rows->shape().rows;
    if (options.model == "mlp") {
        NativeMlpConfig native;
        native.hidden = {kMlpHidden, kMlpHidden};
        return {
            .title = "MLP 64-64-64-10 on 8x8 digits",
            .rows = rows,
            .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
            .with_optimizer = with_optimizer_of(native, count),
            .native = [native](const NativeOptions& o) { return make_native_mlp(native, o); },
            .with_boundary = [native, count](
                                 const program::OptimizerConfig& o, const program::Boundary& b
                             ) { return program_of(native, count, b, o); },
        };
    }
    NativeCnnConfig native;
    native.channels = {16, 32};
    return {
        .title = "CNN with 16 and 32 filters on 8x8 digits",
        .rows = rows,
        .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
        .native = [native](const NativeOptions& o) { return make_native_cnn(native, o); },
    };
}

}  // namespace

CurveTask curve_task(const CurveOptions& options) {
    return options.model.rfind("gpt", 0) == 0 ? gpt(options) : classifier(options);
}

}  // namespace assay::bench
