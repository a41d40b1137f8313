// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/model_trainer.hpp>
#include <tests/unit/program/scalar_graph.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using namespace assay::test;

namespace {

constexpr std::uint64_t kRows = 40;

GptConfig tiny_llama() {
    GptConfig config{.vocabulary = 11, .context = 32, .layers = 2, .heads = 4, .width = 128, .rotary = true};
    config.tied_head = false;
    config.batch_size = 1;
    config.dataset_rows = kRows;
    config.llama = {.key_heads = 2, .hidden = 40};
    return config;
}

}  // namespace

TEST_CASE("gradients of a Llama agree with finite differences" * doctest::test_suite("unsanitized")) {
    const TextRows rows(kRows, 33, 11);
    GptConfig tied = tiny_llama();  // with one head of keys, and what GPT-2 has besides
    tied.layers = 1;
    tied.heads = 2;
    tied.width = 64;
    tied.rotary = false;
    tied.tied_head = true;
    tied.dropout = 0.1F;
    tied.llama = {.key_heads = 1, .hidden = 32};
    GptConfig single = tiny_llama();
    single.layers = 1;
    for (const GptConfig& config : {single, tied}) {
        Trainer trainer(build_gpt(config, optimizer(OptimizerKind::kSgdMomentum, 0.5F)), rows);
        // Larger weights than those at the start, whose SwiGLU gives next to nothing.
        for (std::size_t i = 0; i < trainer.state.size(); ++i) {
            if (trainer.program.state[i].name.find(".mlp.") != std::string::npos) {
                const std::vector<double> values = test::to_matrix(trainer.state[i]).values;
                for (std::size_t j = 0; j < values.size(); ++j) {
                    set_element(trainer.state[i], j, 8 * values[j]);
                }
            }
        }
        check_gradients(trainer, kSmooth);
    }
}

TEST_CASE("a Llama has the tensors that a checkpoint of Hugging Face has") {
    const auto shapes_of = [](const GptConfig& config) {
        std::map<std::string, canonical::Shape> out;
        for (const StateTensor& tensor : build_gpt(config, optimizer(OptimizerKind::kSgd, 0.1F)).state) {
            out[tensor.name] = tensor.type.shape;
        }
        return out;
    };
    const auto shapes = shapes_of(tiny_llama());
    CHECK(shapes.size() == 2 * 9 + 3);
    CHECK((shapes.at("model.embed_tokens.weight") == canonical::Shape{11, 128}));
    CHECK((shapes.at("model.layers.1.input_layernorm.weight") == canonical::Shape{1, 128}));
    CHECK((shapes.at("model.layers.1.self_attn.q_proj.weight") == canonical::Shape{128, 128}));
    CHECK((shapes.at("model.layers.1.self_attn.k_proj.weight") == canonical::Shape{64, 128}));
    CHECK((shapes.at("model.layers.1.self_attn.v_proj.weight") == canonical::Shape{64, 128}));
    CHECK((shapes.at("model.layers.1.self_attn.o_proj.weight") == canonical::Shape{128, 128}));
    CHECK((shapes.at("model.layers.1.post_attention_layernorm.weight") == canonical::Shape{1, 128}));
    CHECK((shapes.at("model.layers.1.mlp.gate_proj.weight") == canonical::Shape{40, 128}));
    CHECK((shapes.at("model.layers.1.mlp.up_proj.weight") == canonical::Shape{40, 128}));
    CHECK((shapes.at("model.layers.1.mlp.down_proj.weight") == canonical::Shape{128, 40}));
    CHECK((shapes.at("model.norm.weight") == canonical::Shape{1, 128}));
    CHECK((shapes.at("lm_head.weight") == canonical::Shape{11, 128}));
    std::uint64_t parameters = 0;
    for (const auto& [name, shape] : shapes) {
        parameters += shape.element_count();
    }
    const std::uint64_t block = 2 * 128 * 128 + 2 * 64 * 128 + 3 * 40 * 128 + 2 * 128;
    CHECK(parameters == 2 * 11 * 128 + 2 * block + 128);
    GptConfig tied = tiny_llama();
    tied.tied_head = true;
    CHECK(shapes_of(tied).size() == shapes.size() - 1);
    CHECK(shapes_of(tied).count("lm_head.weight") == 0);
}

TEST_CASE("heads of queries that share keys and values attend as if each had a copy") {
    const TextRows rows(kRows, 33, 11);
    Trainer grouped(build_gpt(tiny_llama(), optimizer(OptimizerKind::kSgd, 0.1F)), rows);
    GptConfig config = tiny_llama();
    config.llama->key_heads = 4;
    Trainer apart(build_gpt(config, optimizer(OptimizerKind::kSgd, 0.1F)), rows);
    for (std::size_t i = 0; i < grouped.state.size(); ++i) {
        const std::string& name = grouped.program.state[i].name;
        const Bytes& from = grouped.state[i].data;
        Bytes& to = apart.state[apart.index_of(name)].data;
        const std::size_t head_bytes = std::size_t{32} * 128 * 4;
        const std::size_t copies = to.size() / from.size();
        const bool is_shared = name.ends_with("k_proj.weight") || name.ends_with("v_proj.weight");
        REQUIRE(copies == (is_shared ? 2 : 1));
        for (std::size_t at = 0; at < to.size(); ++at) {
            const std::size_t head = at / head_bytes / copies;
            to[at] = copies == 1 ? from[at] : from[head * head_bytes + at % head_bytes];
        }
    }
    CHECK(grouped.loss(0) == apart.loss(0));
    set_element(apart.state[apart.index_of("model.layers.0.self_attn.v_proj.weight")], 32 * 128, 1.0);
    CHECK(grouped.loss(0) != apart.loss(0));
}

TEST_CASE("a Llama's loss falls, with every profile" * doctest::test_suite("unsanitized")) {
    const TextRows rows(kRows, 33, 11);
    for (const NamedProfile& each : kProfiles) {
        CAPTURE(each.name);
        GptConfig config = tiny_llama();
        config.profile = each.profile;
        Trainer trainer(build_gpt(config, optimizer(OptimizerKind::kAdamW, 0.01F)), rows);
        CHECK(fall(trainer, 10) < 0.9);
    }
}

TEST_CASE("configurations of a Llama that have no program are refused") {
    const auto error_of = [](const std::function<void(GptConfig&)>& change) {
        GptConfig config = tiny_llama();
        change(config);
        const auto checked = check_model(config, {});
        REQUIRE_FALSE(checked.has_value());
        return checked.error();
    };
    CHECK(check_model(tiny_llama(), {}).has_value());
    CHECK(error_of([](auto& c) { c.llama->key_heads = 0; }) == ModelError::kZero);
    CHECK(error_of([](auto& c) { c.llama->hidden = 0; }) == ModelError::kZero);
    CHECK(error_of([](auto& c) { c.llama->key_heads = 3; }) == ModelError::kAlignment);
    CHECK(error_of([](auto& c) { c.llama->key_heads = 8; }) == ModelError::kAlignment);
    CHECK(error_of([](auto& c) { c.llama->hidden = 1U << 25U; }) == ModelError::kTooLarge);
    CHECK(error_of([](auto& c) { c.layers = 1'000; }) == ModelError::kTooLarge);
}
