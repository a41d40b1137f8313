// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/init_questions.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <core/base/amount.hpp>
#include <verifier/compile/program/graph_builder.hpp>

namespace assay::cli {
namespace {

using Families = std::vector<std::string>;

const Families kTransformers{"gpt", "llama"};
const Families kTokens{"gpt", "llama", "char"};
const Families kClassifiers{"cnn", "mlp"};
const Families kBuiltIn{"gpt", "llama", "cnn", "mlp", "char"};

std::vector<std::string> profile_names() {
    std::vector<std::string> out;
    out.reserve(program::kProfiles.size());
    for (const program::NamedProfile& profile : program::kProfiles) {
        out.emplace_back(profile.name);
    }
    return out;
}

void add_model(std::vector<Question>& all) {
    const auto add =
        [&all](const char* name, const char* prompt, Form form, const char* otherwise, const Families& models) {
            all.push_back({name, "model", prompt, form, otherwise, models});
        };
    add("onnx", "ONNX file of the model with its loss", Form::kFile, "", {"onnx"});
    all.push_back(
        {"data", "data", "Data file: a text, or a safetensors file of rows (its name ends in .safetensors)",
         Form::kFile}
    );
    add("vocabulary", "Number of different tokens", Form::kWhole, "", kTokens);
    add("context", "Tokens seen, a multiple of 32", Form::kWhole, "64", kTransformers);
    add("context", "Characters seen", Form::kWhole, "16", {"char"});
    add("layers", "Number of layers", Form::kWhole, "2", kTransformers);
    add("heads", "Heads of each layer", Form::kWhole, "2", {"gpt"});
    add("heads", "Heads of each layer", Form::kWhole, "4", {"llama"});
    add("key-heads", "Heads of keys and values, a divisor of the heads", Form::kWhole, "2", {"llama"});
    add("width", "Width of the model, heads times a multiple of 32", Form::kWhole, "64", {"gpt"});
    add("width", "Width of the model, heads times a multiple of 32", Form::kWhole, "128", {"llama"});
    add("height", "Height of an image", Form::kWhole, "", {"cnn"});
    add("width", "Width of an image", Form::kWhole, "", {"cnn"});
    add("channels", "Values of a pixel", Form::kWhole, "1", {"cnn"});
    add("filters", "Filters of each stage, with commas", Form::kWholes, "16, 32", {"cnn"});
    add("hidden", "Widths of the hidden layers, with commas", Form::kWholes, "128", {"mlp"});
    add("hidden", "Width of the hidden layer", Form::kWhole, "128", {"char"});
    add("classes", "Number of classes", Form::kWhole, "", kClassifiers);
    add("scale", "Factor for the data, such as 0.003921569 for bytes", Form::kReal, "1.0", kClassifiers);
    add("batch-size", "Rows of a batch", Form::kWhole, "8", kTransformers);
    add("batch-size", "Rows of a batch", Form::kWhole, "32", {"cnn"});
    add("batch-size", "Rows of a batch", Form::kWhole, "64", {"mlp", "char"});
    add("batch-size", "Rows of a batch, as in the ONNX file", Form::kWhole, "", {"onnx"});
}

std::vector<Question> make_questions() {
    std::vector<Question> all;
    all.push_back(
        {"model", "model", "Model family", Form::kChoice, "gpt", {}, {"gpt", "llama", "cnn", "mlp", "char", "onnx"}}
    );
    add_model(all);
    all.push_back({"steps", "", "Training steps", Form::kWhole, "1000"});
    all.push_back({"segments", "", "Segments between checkpoints, each of which may be replayed", Form::kWhole, "10"});
    all.push_back(
        {"optimizer", "optimizer", "Optimizer", Form::kChoice, "adamw", {}, {"adamw", "adam", "sgd", "rmsprop"}}
    );
    all.push_back({"learning-rate", "optimizer", "Learning rate", Form::kReal, "0.001"});
    all.push_back({"mode", "", "How checkpoints are judged", Form::kChoice, "exact", {}, {"exact", "tolerance"}});
    all.push_back({"reward", "", "Reward of the solver", Form::kAmount, "20 ASY"});
    all.push_back({"title", "", "Title", Form::kText});
    const auto option = [&all](Question question) {
        question.is_asked = false;
        all.push_back(std::move(question));
    };
    option({"columns", "data", "Tensors whose values make a row, with commas", Form::kNames});
    option(
        {"tokenizer", "data", "tokenizer.json whose tokens the text becomes; default: characters", Form::kFile, "",
         kTransformers}
    );
    option({"holdout", "evaluation", "File of the same kind as the data, on which the result is scored", Form::kFile});
    option(
        {"schedule",
         "schedule",
         "How the learning rate changes; default: constant",
         Form::kChoice,
         "",
         {},
         {"constant", "cosine", "linear"}}
    );
    option({"warmup-updates", "schedule", "Updates in which the learning rate rises to its value", Form::kWhole});
    option({"momentum", "optimizer", "What sgd and rmsprop keep of the last update, above 0 and below 1", Form::kReal});
    option({"clip-norm", "optimizer", "Limit of the norm of all gradients; default: none", Form::kReal});
    option(
        {"replicas", "replicas", "Replicas that the program trains, each on its own rows; default: one", Form::kWhole}
    );
    option(
        {"exchange",
         "replicas",
         "How replicas exchange what they learn: gradients in every step, or (diloco, sparseloco, streaming) changes "
         "after many",
         Form::kChoice,
         "",
         {},
         {"dense", "dgc", "diloco", "sparseloco", "streaming"}}
    );
    option({"dgc-block", "replicas", "DGC sends one element of so many; default: 1024", Form::kWhole, "", kBuiltIn});
    option(
        {"turn-steps", "replicas", "local replicas: steps that one trains on its own; default: a segment's",
         Form::kWhole}
    );
    option({"loss", "model", "Output of the ONNX file that is the loss; default: the first", Form::kText, "", {"onnx"}}
    );
    option({"hidden", "model", "Width within SwiGLU; default: 8/3 of the width", Form::kWhole, "", {"llama"}});
    option({"profile", "numerics", "Precision of products", Form::kChoice, "XG-21", {}, profile_names()});
    option({"members", "", "Accounts that may train the task together as a group; default: one", Form::kWhole});
    option({"seed", "", "Seed of initial values and of the order of the data", Form::kWhole});
    option({"verification-fee", "", "Shared by the verifiers; default: what the work asks for", Form::kAmount});
    option({"training-blocks", "", "Blocks that the solver may take; default: what the work asks for", Form::kWhole});
    return all;
}

template <class T>
bool reads(const std::string& text, T& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
}

bool is_whole(const std::string& text) {
    std::uint32_t value = 0;
    return reads(text, value) && value >= 1;
}

bool is_positive(const std::string& text) {
    double value = 0.0;
    return reads(text, value) && std::isfinite(value) && value > 0.0;
}

std::string without_spaces(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) {
        out += (out.empty() ? "" : ", ") + word;
    }
    return out;
}

bool is_file(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

const std::vector<Question>& questions() {
    static const std::vector<Question> kAll = make_questions();
    return kAll;
}

bool is_rows_file(const std::string& path) { return path.ends_with(".safetensors"); }

bool has_rows(const Answers& answers) {
    const auto data = answers.find("data");
    return data != answers.end() && is_rows_file(data->second);
}

bool applies(const Question& question, const Answers& answers) {
    const auto model = answers.find("model");
    const bool is_for_family =
        question.models.empty() ||
        (model != answers.end() &&
         std::find(question.models.begin(), question.models.end(), model->second) != question.models.end());
    const bool needs_rows = question.name == "vocabulary" || question.name == "columns";
    const bool needs_text = question.name == "tokenizer";
    return is_for_family && (has_rows(answers) ? !needs_text : !needs_rows);
}

std::string default_of(const Question& question, const Answers& answers) {
    if (question.name == "title") {
        const auto answer = [&](const char* name) { return answers.contains(name) ? answers.at(name) : std::string(); };
        std::string title = answer("model") + " on " + std::filesystem::path(answer("data")).filename().string();
        std::replace_if(
            title.begin(), title.end(), [](char c) { return c < ' ' || c > '~'; }, '?'
        );
        return title.substr(0, 64);
    }
    return question.otherwise;
}

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        out.push_back(without_spaces(text.substr(at, end - at)));
        at = end + 1;
    }
    return out;
}

std::string problem_of(const Question& question, const std::string& answer) {
    switch (question.form) {
        case Form::kText:
            return answer.empty() ? "must not be empty" : "";
        case Form::kWhole:
            return is_whole(answer) ? "" : "must be a whole number from 1";
        case Form::kWholes: {
            const std::vector<std::string> parts = split_list(answer);
            const bool is_list = std::all_of(parts.begin(), parts.end(), is_whole);
            return is_list ? "" : "must be whole numbers from 1 with commas between them";
        }
        case Form::kReal:
            return is_positive(answer) ? "" : "must be a number above 0, such as 0.001";
        case Form::kAmount: {
            const auto amount = decode_amount(answer);
            return amount ? "" : std::string(to_string(amount.error())) + "; an amount is as \"20 ASY\"";
        }
        case Form::kChoice: {
            const bool is_known =
                std::find(question.choices.begin(), question.choices.end(), answer) != question.choices.end();
            return is_known ? "" : "must be one of " + joined(question.choices);
        }
        case Form::kFile:
            return is_file(answer) ? "" : "there is no file \"" + answer + "\"";
        case Form::kNames: {
            const std::vector<std::string> parts = split_list(answer);
            const bool is_list =
                std::none_of(parts.begin(), parts.end(), [](const auto& name) { return name.empty(); });
            return is_list ? "" : "must be names with commas between them";
        }
    }
    return "";
}

}  // namespace assay::cli
