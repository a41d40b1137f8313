// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/engine/small_models.hpp>

#include <functional>

#include <doctest/doctest.h>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/narrow_moments.hpp>

namespace assay::test {

using namespace assay::program;
using canonical::DatasetShape;

namespace {

// Features that follow from the class, with some noise, and then the class.
class LabelledRows final : public canonical::RowSource {
  public:
    LabelledRows(std::uint64_t rows, std::uint32_t features, std::uint32_t classes) : shape_{rows, features + 1} {
        data_.resize(rows * shape_.width * 4);
        for (std::uint64_t r = 0; r < rows; ++r) {
            const std::uint64_t label = r % classes;
            for (std::uint32_t j = 0; j <= features; ++j) {
                const std::uint64_t noise = (r * 7919 + j * 104'729U) % 61;
                const std::uint64_t pixel = j % classes == label ? 190 + noise : noise;
                const auto value = static_cast<std::int32_t>(j < features ? pixel : label);
                std::memcpy(data_.data() + (r * shape_.width + j) * 4, &value, 4);
            }
        }
    }
    DatasetShape shape() const override { return shape_; }
    Bytes row(std::uint64_t index) const override {
        const std::size_t size = std::size_t{shape_.width} * 4;
        const ByteView row = ByteView(data_).subspan(index * size, size);
        return {row.begin(), row.end()};
    }

  private:
    DatasetShape shape_;
    Bytes data_;
};

constexpr std::uint64_t kRows = 500;

SmallModel char_model(const OptimizerConfig& optimizer, const Profile& profile) {
    CharModelConfig model;
    model.vocabulary = 37;
    model.context = 5;
    model.hidden = 45;
    model.batch_size = 33;
    model.dataset_rows = kRows;
    model.profile = profile;
    return {"char", build_char_model(model, optimizer), std::make_shared<TextRows>(kRows, model.context + 1, 37)};
}

OptimizerConfig clipped_adamw() {
    OptimizerConfig out;
    out.kind = OptimizerKind::kAdamW;
    out.weight_decay = 0.1F;
    out.clip_norm = 0.5F;
    return out;
}

SmallModel mlp(const Profile& profile, const OptimizerConfig& optimizer) {
    MlpConfig model;
    model.features = 45;
    model.hidden = {70, 33};
    model.classes = 5;
    model.scale = 1.0F / 255.0F;
    model.batch_size = 30;
    model.dataset_rows = kRows;
    model.profile = profile;
    return {"mlp", build_mlp(model, optimizer), std::make_shared<LabelledRows>(kRows, 45, 5)};
}

OptimizerConfig accumulated_momentum() {
    OptimizerConfig out;
    out.kind = OptimizerKind::kSgdMomentum;
    out.learning_rate = 0.05F;
    out.weight_decay = 0.01F;
    out.accumulation = 2;
    return out;
}

OptimizerConfig plain_sgd() {
    OptimizerConfig out;
    out.kind = OptimizerKind::kSgd;
    out.learning_rate = 0.05F;
    return out;
}

SmallModel cnn(const Profile& profile, const OptimizerConfig& optimizer) {
    CnnConfig model;
    model.height = 9;
    model.width = 7;
    model.channels = 2;
    model.filters = {5, 8};
    model.classes = 3;
    model.batch_norm = true;
    model.scale = 1.0F / 255.0F;
    model.batch_size = 6;
    model.dataset_rows = kRows;
    model.profile = profile;
    return {"cnn", build_cnn(model, optimizer), std::make_shared<LabelledRows>(kRows, 9 * 7 * 2, 3)};
}

// Blocks that no tensor's size is a multiple of, small tensors that are exchanged whole, and momentum and norms of each
// replica.
SmallModel replicas_by_dgc(const Profile& profile) {
    CnnConfig model;
    model.height = 9;
    model.width = 7;
    model.channels = 2;
    model.filters = {5, 8};
    model.classes = 3;
    model.batch_norm = true;
    model.scale = 1.0F / 255.0F;
    model.batch_size = 9;
    model.dataset_rows = kRows;
    model.profile = profile;
    OptimizerConfig optimizer;
    optimizer.kind = OptimizerKind::kSgdMomentum;
    optimizer.learning_rate = 0.05F;
    optimizer.weight_decay = 0.01F;
    optimizer.clip_norm = 0.5F;
    optimizer.replicas = {.count = 3, .exchange = ExchangeKind::kDgc, .block = 37, .dense_below = 8};
    return {"cnn of replicas by DGC", build_cnn(model, optimizer), std::make_shared<LabelledRows>(kRows, 9 * 7 * 2, 3)};
}

SmallModel gpt(const Profile& profile, bool is_rotary) {
    GptConfig model;
    model.vocabulary = 41;
    model.context = 32;
    model.layers = 2;
    model.heads = 2;
    model.width = 64;
    model.rotary = is_rotary;
    model.tied_head = is_rotary;
    model.dropout = is_rotary ? 0.0F : 0.1F;
    model.batch_size = 3;
    model.dataset_rows = kRows;
    model.profile = profile;
    OptimizerConfig optimizer = clipped_adamw();
    optimizer.schedule = {
        .kind = ScheduleKind::kCosine, .warmup_updates = 2, .total_updates = 20, .final_fraction = 0.1F};
    return {
        is_rotary ? "gpt with rotary positions" : "gpt with dropout", build_gpt(model, optimizer),
        std::make_shared<TextRows>(kRows, model.context + 1, 41)};
}

SmallModel llama(const Profile& profile) {
    GptConfig model;
    model.vocabulary = 41;
    model.context = 32;
    model.layers = 2;
    model.heads = 4;
    model.width = 128;
    model.rotary = true;
    model.tied_head = false;
    model.dropout = 0.1F;
    model.batch_size = 2;
    model.dataset_rows = kRows;
    model.profile = profile;
    model.llama = {.key_heads = 2, .hidden = 88};
    OptimizerConfig optimizer = clipped_adamw();
    // Gradients of SwiGLU are small at first, and Adam makes their rounding as large as they are.
    optimizer.epsilon = 1e-6F;
    return {"llama", build_gpt(model, optimizer), std::make_shared<TextRows>(kRows, model.context + 1, 41)};
}

// Moments of 4,096 elements and more that are no whole number of blocks, and small ones that stay f32.
SmallModel mlp_with_moments(const Profile& profile, Moments moments) {
    MlpConfig model;
    model.features = 45;
    model.hidden = {110, 40};
    model.classes = 5;
    model.scale = 1.0F / 255.0F;
    model.batch_size = 30;
    model.dataset_rows = kRows;
    model.profile = profile;
    OptimizerConfig optimizer;
    optimizer.kind = moments == Moments::kInt8 ? OptimizerKind::kAdamW : OptimizerKind::kRmsprop;
    optimizer.learning_rate = 0.001F;
    optimizer.accumulation = moments == Moments::kInt8 ? 2 : 1;
    optimizer.moments = moments;
    return {
        moments == Moments::kInt8 ? "mlp with int8 moments" : "mlp with bf16 moments",
        with_narrow_moments(build_mlp(model, optimizer), optimizer).value(),
        std::make_shared<LabelledRows>(kRows, 45, 5)};
}

}  // namespace

std::vector<canonical::Tensor> SmallModel::initial() const {
    auto state = canonical::execute_graph(program.init, context(0), *rows, {});
    REQUIRE(state.has_value());
    return *std::move(state);
}

std::vector<SmallModel> small_models(const Profile& profile) {
    std::vector<SmallModel> out;
    out.push_back(char_model({}, profile));
    out.push_back(mlp(profile, accumulated_momentum()));
    out.push_back(cnn(profile, plain_sgd()));
    out.push_back(gpt(profile, false));
    out.push_back(gpt(profile, true));
    out.push_back(replicas_by_dgc(profile));
    out.push_back(llama(profile));
    out.push_back(mlp_with_moments(profile, Moments::kBf16));
    out.push_back(mlp_with_moments(profile, Moments::kInt8));
    return out;
}

std::vector<SmallModel> clipped_models() {
    std::vector<SmallModel> out;
    out.push_back(mlp(kXg21, clipped_adamw()));
    out.push_back(cnn(kXg21, clipped_adamw()));
    out.push_back(gpt(kXg21, false));
    out.push_back(llama(kXg21));
    return out;
}

SmallModel small_char_model(OptimizerKind kind) {
    OptimizerConfig optimizer;
    optimizer.kind = kind;
    return char_model(optimizer, kXg21);
}

}  // namespace assay::test
