// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/model_checks.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

namespace assay::program {
namespace {

using Check = Result<void, ModelError>;

Check fail(ModelError error) { return Unexpected{error}; }

Check expect_sizes(std::initializer_list<std::uint64_t> sizes) {
    const bool is_whole = std::all_of(sizes.begin(), sizes.end(), [](std::uint64_t n) { return n >= 1; });
    return is_whole ? Check{} : fail(ModelError::kZero);
}

Check expect_aligned(std::initializer_list<std::uint64_t> sizes) {
    const bool is_aligned = std::all_of(sizes.begin(), sizes.end(), [](std::uint64_t n) { return n % 32 == 0; });
    return is_aligned ? Check{} : fail(ModelError::kAlignment);
}

Check expect_dimensions(std::initializer_list<std::uint64_t> sizes) {
    const bool is_small =
        std::all_of(sizes.begin(), sizes.end(), [](std::uint64_t n) { return n <= canonical::kMaxDimension; });
    return is_small ? Check{} : fail(ModelError::kTooLarge);
}

Check expect_row_width(std::uint64_t width) {
    return width <= canonical::kMaxDimension ? Check{} : fail(ModelError::kRowWidth);
}

Check expect_profile(const Profile& profile) {
    const auto [precision, chunk] = profile;
    const bool is_valid = precision >= 2 && precision <= 24 && chunk >= 32 && chunk % 32 == 0 &&
                          2 * precision + static_cast<std::uint32_t>(std::bit_width(chunk - 1)) <= 62;
    return is_valid ? Check{} : fail(ModelError::kProfile);
}

// Of a tensor that starts from random numbers.
Check expect_elements(std::uint64_t rows, std::uint64_t cols) {
    return rows * cols <= std::uint64_t{1} << 34U ? Check{} : fail(ModelError::kTooLarge);
}

// Each replica has as many rows of a batch as the others.
Check expect_replicas(std::uint32_t batch_size, const Replicas& replicas) {
    const bool is_whole = replicas.count >= 1 && batch_size % replicas.count == 0;
    return is_whole ? Check{} : fail(ModelError::kReplicas);
}

Check expect_boundary(const MlpConfig& model, const OptimizerConfig& optimizer) {
    const Boundary& boundary = model.boundary;
    const auto is_width = [](std::uint32_t bits) { return bits >= kMinBoundaryBits && bits <= kMaxBoundaryBits; };
    if (boundary.after == 0) {
        return {};
    }
    const bool is_possible = boundary.after <= model.hidden.size() && is_width(boundary.bits) &&
                             is_width(boundary.gradient_bits) &&
                             model.hidden[boundary.after - 1] % kBoundaryAlignment == 0 &&
                             model.dataset_rows <= canonical::kMaxDimension && optimizer.replicas.count == 1;
    return is_possible ? Check{} : fail(ModelError::kBoundary);
}

// Every parameter, and the optimizer's slots.
Check expect_state(std::uint64_t parameters, std::uint64_t buffers, const OptimizerConfig& optimizer) {
    if (!check_optimizer(optimizer)) {
        return fail(ModelError::kOptimizer);
    }
    const std::uint64_t tensors =
        parameters * (1 + slots_per_parameter(optimizer)) + buffers + slots_besides(optimizer);
    return tensors <= canonical::kMaxStateTensors ? Check{} : fail(ModelError::kTooLarge);
}

}  // namespace

Check check_sizes(const CharModelConfig& model, const OptimizerConfig& optimizer) {
    TRY(expect_sizes(
        {model.vocabulary, model.context, model.embedding, model.hidden, model.batch_size, model.dataset_rows}
    ));
    TRY(expect_aligned({model.embedding}));
    TRY(expect_row_width(model.context + std::uint64_t{1}));
    TRY(expect_dimensions(
        {model.vocabulary, std::uint64_t{model.context} * model.embedding, model.hidden, model.batch_size}
    ));
    TRY(expect_elements(model.vocabulary, std::max(model.embedding, model.hidden)));
    TRY(expect_elements(model.hidden, std::uint64_t{model.context} * model.embedding));
    TRY(expect_profile(model.profile));
    TRY(expect_replicas(model.batch_size, optimizer.replicas));
    return expect_state(5, 0, optimizer);
}

Check check_sizes(const MlpConfig& model, const OptimizerConfig& optimizer) {
    TRY(expect_sizes({model.features, model.classes, model.batch_size, model.dataset_rows}));
    TRY(expect_row_width(model.features + std::uint64_t{1}));
    TRY(expect_dimensions({model.classes, model.batch_size}));
    std::uint64_t inputs = model.features;
    for (const std::uint32_t size : model.hidden) {
        TRY(expect_sizes({size}));
        TRY(expect_dimensions({size}));
        TRY(expect_elements(inputs, size));
        inputs = size;
    }
    TRY(expect_elements(inputs, model.classes));
    if (!std::isfinite(model.scale)) {
        return fail(ModelError::kZero);
    }
    TRY(expect_profile(model.profile));
    TRY(expect_replicas(model.batch_size, optimizer.replicas));
    TRY(expect_boundary(model, optimizer));
    const std::uint64_t tables = model.boundary.after == 0 ? 0 : 1;
    return expect_state(2 * (model.hidden.size() + std::uint64_t{1}), tables, optimizer);
}

Check check_sizes(const CnnConfig& model, const OptimizerConfig& optimizer) {
    TRY(expect_sizes(
        {model.height, model.width, model.channels, model.kernel % 2, model.classes, model.batch_size,
         model.dataset_rows, model.filters.size()}
    ));
    TRY(expect_dimensions({model.height, model.width, model.channels, model.kernel, model.classes, model.batch_size}));
    const auto limit = std::uint64_t{canonical::kMaxDimension};
    TRY(expect_row_width(
        model.height > limit || model.width > limit || model.channels > limit
            ? limit + 1
            : std::uint64_t{model.height} * model.width * model.channels + 1
    ));
    std::uint64_t height = model.height;
    std::uint64_t width = model.width;
    std::uint64_t channels = model.channels;
    for (const std::uint32_t filters : model.filters) {
        TRY(expect_sizes({filters}));
        TRY(expect_dimensions({filters}));
        const std::uint64_t kernel = std::uint64_t{model.kernel} * model.kernel;
        TRY(expect_dimensions({kernel, model.batch_size * height * width}));
        // The windows of the convolution, of its gradient, and of the pooling.
        TRY(expect_dimensions(
            {kernel * channels, kernel * filters, model.batch_size * height * width * channels,
             model.batch_size * height * width * filters}
        ));
        TRY(expect_elements(kernel * channels, filters));
        if (height < 2 || width < 2) {
            return fail(ModelError::kTooSmall);
        }
        height /= 2;
        width /= 2;
        channels = filters;
    }
    if (!std::isfinite(model.scale)) {
        return fail(ModelError::kZero);
    }
    TRY(expect_dimensions({height * width * channels}));
    TRY(expect_elements(height * width * channels, model.classes));
    TRY(expect_profile(model.profile));
    TRY(expect_replicas(model.batch_size, optimizer.replicas));
    const std::uint64_t stages = model.filters.size();
    return expect_state((model.batch_norm ? 3 : 2) * stages + 2, model.batch_norm ? 2 * stages : 0, optimizer);
}

Check check_sizes(const GptConfig& model, const OptimizerConfig& optimizer) {
    TRY(expect_sizes(
        {model.vocabulary, model.context, model.layers, model.heads, model.width, model.batch_size, model.dataset_rows}
    ));
    TRY(expect_row_width(model.context + std::uint64_t{1}));
    if (model.llama) {
        TRY(expect_sizes({model.llama->key_heads, model.llama->hidden}));
    }
    const std::uint64_t hidden = model.llama ? model.llama->hidden : 4 * std::uint64_t{model.width};
    TRY(expect_dimensions({model.vocabulary, model.heads, model.width, hidden, model.batch_size}));
    TRY(expect_elements(std::max<std::uint64_t>(model.vocabulary, hidden), model.width));
    if (model.width % model.heads != 0 || (model.llama && model.heads % model.llama->key_heads != 0)) {
        return fail(ModelError::kAlignment);
    }
    TRY(expect_aligned({model.context, model.width / model.heads}));
    // Rows of scores.
    TRY(expect_dimensions({std::uint64_t{model.batch_size} * model.heads * model.context}));
    // Rows of the transposed values.
    TRY(expect_dimensions({std::uint64_t{model.batch_size} * model.width}));
    if (!(model.dropout >= 0.0F && model.dropout < 1.0F)) {
        return fail(ModelError::kProbability);
    }
    if (model.rotary && !(std::isfinite(model.rotary_base) && model.rotary_base > 0.0F)) {
        return fail(ModelError::kZero);
    }
    TRY(expect_profile(model.profile));
    TRY(expect_replicas(model.batch_size, optimizer.replicas));
    return expect_state((model.llama ? 9 : 12) * std::uint64_t{model.layers} + 4, 0, optimizer);
}

}  // namespace assay::program
