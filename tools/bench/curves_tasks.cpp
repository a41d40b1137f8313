// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/curves_tasks.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tools/bench/canonical_models.hpp>
#include <tools/bench/rows_file.hpp>

namespace assay::bench {
namespace {

using artifacts::Dataset;

/// Rows of digits that are held out, in three batches.
constexpr std::uint64_t kHeldOutDigits = 360;
constexpr std::uint32_t kDigitsBatch = 120;
constexpr std::uint32_t kTextBatch = 32;
constexpr std::uint64_t kTextRowsMax = 512;
/// Of a pixel, as canonical_models.cpp scales it.
constexpr double kPixelScale = 1.0 / 16.0;

/// What a run is trained on and what it is judged by.
struct Parts {
    std::shared_ptr<const Dataset> rows;
    std::shared_ptr<const Dataset> held_out;
};

/// Of a dataset's rows, so many from `first` on, each `stride` behind the other.
std::shared_ptr<const Dataset> rows_from(
    const Dataset& all, std::uint64_t first, std::uint64_t count, std::uint64_t stride
) {
    Bytes words;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Bytes row = all.row(first + i * stride);
        words.insert(words.end(), row.begin(), row.end());
    }
    return std::make_shared<const Dataset>(artifacts::pack_rows(std::move(words), all.shape().width, false));
}

Parts digits_in_parts(const Dataset& all) {
    const std::uint64_t rows = all.shape().rows;
    if (rows <= kHeldOutDigits) {
        throw std::runtime_error("the dataset has no more than the 360 rows that are held out");
    }
    const std::uint64_t kept = rows - kHeldOutDigits;
    return {rows_from(all, 0, kept, 1), rows_from(all, kept, kHeldOutDigits, 1)};
}

/// Windows of the first nine tenths of a text; and of the rest some that do not overlap, at equal distances.
Parts text_in_parts(const Dataset& all) {
    const canonical::DatasetShape shape = all.shape();
    const std::uint64_t context = shape.width - 1;
    std::vector<std::uint32_t> ids;
    for (std::uint64_t i = 0; i < shape.rows; ++i) {
        const Bytes row = all.row(i);
        std::vector<std::uint32_t> values(shape.width);
        std::memcpy(values.data(), row.data(), row.size());
        ids.insert(ids.end(), values.begin(), i + 1 < shape.rows ? values.begin() + 1 : values.end());
    }
    const std::uint64_t kept = ids.size() / 10 * 9;
    const std::uint64_t most = std::min((ids.size() - kept - 1) / context, kTextRowsMax);
    const std::uint64_t count = most / kTextBatch * kTextBatch;
    auto rows = artifacts::window_tokens(std::span(ids).first(kept), static_cast<std::uint32_t>(context));
    if (!rows || count == 0) {
        throw std::runtime_error("the text is too short: its last tenth has to have 32 contexts");
    }
    return {
        std::make_shared<const Dataset>(*std::move(rows)), rows_from(all, kept, count, (shape.rows - kept) / count)};
}

template <class Config>
auto with_optimizer_of(const Config& native, std::uint64_t rows) {
    return [native, rows](const program::OptimizerConfig& optimizer, std::uint32_t batch) {
        Config larger = native;
        larger.batch = batch;
        return program_of(larger, rows, program::kXg21, optimizer);
    };
}

NativeGptConfig gpt_named(const std::string& name) {
    if (name == "gpt-small") {
        return {.layers = 2, .heads = 2, .width = 64};
    }
    if (name == "gpt3m") {
        return {.width = 256, .batch = 4};
    }
    return name == "gpt10m" ? gpt10m_size() : NativeGptConfig{};
}

CurveTask gpt(const CurveOptions& options) {
    NativeGptConfig native = gpt_named(options.model);
    artifacts::TextDataset text = read_text(options.data, static_cast<std::uint32_t>(native.context));
    native.vocabulary = text.vocabulary_size;
    Parts parts;
    if (options.replicas.count > 0) {
        parts = text_in_parts(text.dataset);
    } else {
        parts.rows = std::make_shared<const Dataset>(std::move(text.dataset));
    }
    const std::uint64_t count = parts.rows->shape().rows;
    return {
        .title = "character GPT, " + std::to_string(native.layers) + " layers of width " +
                 std::to_string(native.width) + ", on " + options.data,
        .rows = parts.rows,
        .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
        .with_optimizer = with_optimizer_of(native, count),
        .native = [native](const NativeOptions& o) { return make_native_gpt(native, o); },
        .batch = static_cast<std::uint32_t>(native.batch),
        .held_out = parts.held_out,
        .held_out_batch = kTextBatch,
    };
}

CurveTask classifier(const CurveOptions& options) {
    const auto all = read_rows(options.data);
    const Parts parts = options.replicas.count > 0 ? digits_in_parts(*all) : Parts{all, {}};
    const std::uint64_t count = parts.rows->shape().rows;
    if (options.model == "mlp") {
        NativeMlpConfig native;
        native.hidden = {kMlpHidden, kMlpHidden};
        return {
            .title = "MLP 64-64-64-10 on 8x8 digits",
            .rows = parts.rows,
            .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
            .with_optimizer = with_optimizer_of(native, count),
            .native = [native](const NativeOptions& o) { return make_native_mlp(native, o); },
            .with_boundary = [native, count](
                                 const program::OptimizerConfig& o, const program::Boundary& b
                             ) { return program_of(native, count, b, o); },
            .batch = static_cast<std::uint32_t>(native.batch),
            .held_out = parts.held_out,
            .held_out_batch = kDigitsBatch,
            .hidden_layers = static_cast<std::uint32_t>(native.hidden.size()),
            .scale = kPixelScale,
        };
    }
    NativeCnnConfig native;
    native.channels = {16, 32};
    return {
        .title = "CNN with 16 and 32 filters on 8x8 digits",
        .rows = parts.rows,
        .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
        .native = [native](const NativeOptions& o) { return make_native_cnn(native, o); },
    };
}

}  // namespace

CurveTask curve_task(const CurveOptions& options) {
    return options.model.rfind("gpt", 0) == 0 ? gpt(options) : classifier(options);
}

}  // namespace assay::bench
