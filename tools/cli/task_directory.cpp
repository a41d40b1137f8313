// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task_directory.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <vector>

#include <toml++/toml.h>

#include <contracts/tasks/tasks.hpp>
#include <core/codec/borsh.hpp>
#include <node/app/nearest.hpp>
#include <tools/cli/amount.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/program/program.hpp>
#include <verifier/trace/commitment.hpp>

namespace assay::cli {
namespace {

/// A table of task.toml. Every reader throws TaskDirectoryError naming file, line and key.
class Section {
  public:
    Section(std::string file, std::string name, const toml::table& table)
        : file_(std::move(file)), name_(std::move(name)), table_(table) {}

    [[noreturn]] void fail(const std::string& key, const std::string& what) const {
        const toml::node* node = table_.get(key);
        const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
        throw TaskDirectoryError(file_ + (line > 0 ? ":" + std::to_string(line) : "") + ": " + name_ + key + ": " + what);
    }
    void allow(std::initializer_list<const char*> keys) const {
        const std::vector<std::string> known(keys.begin(), keys.end());
        for (const auto& [key, value] : table_) {
            const std::string name(key.str());
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                fail(name, "unknown key; nearest: " + name_ + node::nearest(name, known));
            }
        }
    }
    bool has(const std::string& key) const { return table_.contains(key); }
    void require(const std::string& key) const {
        if (!has(key)) {
            fail(key, "is missing");
        }
    }
    std::string text(const std::string& key) const {
        require(key);
        const auto* value = table_.get(key)->as_string();
        if (value == nullptr) {
            fail(key, "must be a text in quotes");
        }
        return value->get();
    }
    std::string choice(const std::string& key, const std::vector<std::string>& choices) const {
        const std::string value = text(key);
        if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
            fail(key, "\"" + value + "\" is unknown; nearest: \"" + node::nearest(value, choices) + "\"");
        }
        return value;
    }
    template <class T>
    T number(const std::string& key, T min, T max) const {
        require(key);
        const auto* value = table_.get(key)->as_integer();
        if (value == nullptr || value->get() < 0 || static_cast<std::uint64_t>(value->get()) < min ||
            static_cast<std::uint64_t>(value->get()) > max) {
            fail(key, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
        }
        return static_cast<T>(value->get());
    }
    template <class T>
    void read(const std::string& key, T min, T max, T& out) const {
        if (has(key)) {
            out = number<T>(key, min, max);
        }
    }
    /// A number above 0 (or from 0 on, where `zero` may be) and below `limit`.
    void read(const std::string& key, bool zero, double limit, float& out) const {
        if (!has(key)) {
            return;
        }
        const auto value = table_.get(key)->value<double>();
        const bool good = value && std::isfinite(*value) && (*value > 0.0 || (zero && *value >= 0.0)) && *value < limit;
        if (!good || (!zero && static_cast<float>(*value) <= 0.0F)) {
            fail(key, "must be a number " + std::string(zero ? "from 0" : "above 0") + " and below " + short_text(limit));
        }
        out = static_cast<float>(*value);
    }
    Amount amount(const std::string& key) const {
        const auto value = decode_amount(text(key));
        if (!value) {
            fail(key, to_string(value.error()));
        }
        return *value;
    }
    Section section(const std::string& key) const {
        static const toml::table kEmpty;
        if (!has(key)) {
            return {file_, "[" + key + "] ", kEmpty};
        }
        const toml::table* table = table_.get(key)->as_table();
        if (table == nullptr) {
            fail(key, "must be a section [" + key + "]");
        }
        return {file_, "[" + key + "] ", *table};
    }

  private:
    static std::string short_text(double value) { return std::to_string(static_cast<std::uint64_t>(value)); }

    std::string file_;
    std::string name_;
    const toml::table& table_;
};

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in.is_open() || in.bad()) {
        throw TaskDirectoryError("cannot read " + file.string());
    }
    return text;
}

program::CharModelConfig read_model(const Section& model) {
    model.allow({"kind", "context", "embedding", "hidden", "batch_size"});
    model.choice("kind", {"char"});
    program::CharModelConfig config;
    model.read("context", 1U, canonical::kMaxRowWidth - 1, config.context);
    model.read("embedding", 32U, canonical::kMaxDimension, config.embedding);
    model.read("hidden", 1U, canonical::kMaxDimension, config.hidden);
    model.read("batch_size", 1U, canonical::kMaxDimension, config.batch_size);
    if (config.embedding % 32 != 0) {
        model.fail("embedding", "must be a multiple of 32");
    }
    if (std::uint64_t{config.context} * config.embedding > canonical::kMaxDimension) {
        model.fail("embedding", "context times embedding must not exceed " + std::to_string(canonical::kMaxDimension));
    }
    return config;
}

program::OptimizerConfig read_optimizer(const Section& optimizer) {
    program::OptimizerConfig config;
    if (optimizer.choice("kind", {"adam", "sgd"}) == "sgd") {
        optimizer.allow({"kind", "learning_rate", "momentum"});
        config.kind = program::OptimizerKind::kSgdMomentum;
    } else {
        optimizer.allow({"kind", "learning_rate", "beta1", "beta2", "epsilon"});
        config.kind = program::OptimizerKind::kAdam;
    }
    constexpr double kLimit = 1'000;
    optimizer.read("learning_rate", false, kLimit, config.learning_rate);
    optimizer.read("momentum", true, 1, config.momentum);
    optimizer.read("beta1", true, 1, config.beta1);
    optimizer.read("beta2", true, 1, config.beta2);
    optimizer.read("epsilon", false, 1, config.epsilon);
    return config;
}

artifacts::TextDataset build_dataset(const std::filesystem::path& directory, const Section& data, std::uint32_t context) {
    data.allow({"text"});
    const auto file = directory / data.text("text");  // an absolute path replaces the directory
    const std::string text = read_text(file);
    const std::uint64_t row_bytes = 4 * (std::uint64_t{context} + 1);
    if (text.size() > artifacts::FetchLimits{}.size_max / row_bytes) {
        data.fail("text", file.string() + " is too long: workers do not fetch datasets above 1 GiB");
    }
    auto dataset = artifacts::build_text_dataset(text, context);
    if (!dataset) {
        data.fail("text", file.string() + ": " + artifacts::to_string(dataset.error()));
    }
    return *std::move(dataset);
}

contracts::TaskSpec read_root(const Section& root) {
    root.allow({"title", "steps", "checkpoint_interval", "seed", "reward", "verification_fee", "training_blocks",
                "model", "optimizer", "data"});
    constexpr std::uint64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();  // TOML's
    constexpr std::uint32_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
    contracts::TaskSpec spec;
    spec.title = root.text("title");
    spec.steps = root.number<std::uint64_t>("steps", 1, kMaxInteger);
    spec.checkpoint_interval = root.number<std::uint32_t>("checkpoint_interval", 1, kMaxU32);
    spec.seed = 1;
    root.read<std::uint64_t>("seed", 0, kMaxInteger, spec.seed);
    spec.reward = root.amount("reward");
    spec.verification_fee = root.amount("verification_fee");
    spec.training_blocks = root.number<std::uint32_t>("training_blocks", 1, kMaxU32);
    if (div_ceil<std::uint64_t>(spec.steps, spec.checkpoint_interval) > contracts::kMaxSegments) {
        root.fail("checkpoint_interval", "makes more than " + std::to_string(contracts::kMaxSegments) + " segments");
    }
    return spec;
}

/// What the chain would refuse, named while the file is at hand.
void check_against_chain(const Section& root, const contracts::TaskSpec& spec) {
    const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
    if (spec.title.size() > 64 || !std::all_of(spec.title.begin(), spec.title.end(), is_printable)) {
        root.fail("title", "must be printable ASCII of at most 64 characters");
    }
    if (!contracts::is_location(spec.dataset_artifact.location)) {
        throw TaskDirectoryError("the location must be printable ASCII of at most 256 characters");
    }
    if (contracts::dispute_rounds_max(spec) > trace::kMaxRounds) {
        root.fail("checkpoint_interval", "is so long that a dispute could take more than " +
                                             std::to_string(trace::kMaxRounds) + " rounds");
    }
    if (!contracts::check_spec(spec)) {
        root.fail("steps", "the chain does not take a task of this shape (TASK-2)");
    }
}

}  // namespace

contracts::TaskSpec pack_task(
    const std::filesystem::path& directory, artifacts::ContentStore& store, const std::string& location
) {
    const std::string file = (directory / "task.toml").string();
    const std::string source = read_text(file);
    toml::table table;
    try {
        table = toml::parse(source, file);
    } catch (const toml::parse_error& error) {
        throw TaskDirectoryError(
            file + ":" + std::to_string(error.source().begin.line) + ": " + std::string(error.description())
        );
    }
    const Section root(file, "", table);
    contracts::TaskSpec spec = read_root(root);
    program::CharModelConfig model = read_model(root.section("model"));
    const program::OptimizerConfig optimizer = read_optimizer(root.section("optimizer"));
    const artifacts::TextDataset text = build_dataset(directory, root.section("data"), model.context);
    const auto dataset = artifacts::Dataset::decode(text.artifact);
    ASSERT(dataset.has_value());

    model.vocabulary = text.vocabulary_size;
    model.dataset_rows = text.shape.rows;
    const program::Program program = program::build_char_model(model, optimizer);
    const Bytes encoded = codec::encode(program);
    spec.program = trace::commit_program(
        program.init, program.step, static_cast<std::uint32_t>(program.state.size()), program.batch_size, program.dataset
    );
    spec.dataset_root = artifacts::dataset_root(*dataset);
    spec.program_artifact = {.sha256 = store.put(encoded), .size_bytes = encoded.size(), .location = location};
    spec.dataset_artifact = {
        .sha256 = store.put(text.artifact), .size_bytes = text.artifact.size(), .location = location};
    check_against_chain(root, spec);
    return spec;
}

}  // namespace assay::cli
