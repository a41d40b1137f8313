// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/bench.hpp>

#include <cmath>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <core/canonical/executor.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/curves_progress.hpp>
#include <tools/bench/native_models.hpp>
#include <tools/bench/rows_file.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::bench {
namespace {

using canonical::Tensor;
using nlohmann::json;

struct Task {
    std::string title;
    std::shared_ptr<const artifacts::Dataset> rows;
    std::function<program::Program(const program::Profile&)> canonical;
    std::function<std::unique_ptr<NativeModel>(const NativeOptions&)> native;
};

NativeGptConfig gpt_named(const std::string& name) {
    if (name == "gpt3m") {
        return {.width = 256, .batch = 4};
    }
    return name == "gpt10m" ? gpt10m_size() : NativeGptConfig{};
}

Task gpt(const CurveOptions& options) {
    NativeGptConfig native = gpt_named(options.model);
    artifacts::TextDataset text = read_text(options.data, static_cast<std::uint32_t>(native.context));
    native.vocabulary = text.vocabulary_size;
    const std::uint64_t count = text.dataset.shape().rows;
    return {
        .title = "character GPT, " + std::to_string(native.layers) + " layers of width " +
                 std::to_string(native.width) + ", on " + options.data,
        .rows = std::make_shared<const artifacts::Dataset>(std::move(text.dataset)),
        .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
        .native = [native](const NativeOptions& o) { return make_native_gpt(native, o); },
    };
}

Task classifier(const CurveOptions& options) {
    const auto rows = read_rows(options.data);
    const std::uint64_t count = rows->shape().rows;
    if (options.model == "mlp") {
        NativeMlpConfig native;
        native.hidden = {64, 64};
        return {
            .title = "MLP 64-64-64-10 on 8x8 digits",
            .rows = rows,
            .canonical = [native, count](const program::Profile& p) { return program_of(native, count, p); },
            .native = [native](const NativeOptions& o) { return make_native_mlp(native, o); },
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

/// After how many steps a run's state is saved.
constexpr std::uint64_t kSavedSteps = 50;

// As many digits as a curve can show.
double rounded(float loss) { return std::round(static_cast<double>(loss) * 1e6) / 1e6; }

canonical::StepContext context_of(const Task& task, std::uint64_t seed, std::uint64_t step) {
    return {.seed = seed, .step = step, .dataset = task.rows->shape()};
}

std::vector<Tensor> initial_state(const Task& task, const program::Program& program, std::uint64_t seed) {
    auto state = canonical::execute_graph(program.init, context_of(task, seed, 0), *task.rows, {});
    if (!state) {
        throw std::runtime_error("the initial state has diverged");
    }
    return *std::move(state);
}

json train_canonical(const Task& task, json run, const CurveOptions& options, const CurvesProgress& progress) {
    const std::string profile = run.at("profile");
    const std::uint64_t seed = run.at("seed");
    const program::Program program = task.canonical(profile_named(profile));
    engine::Engine engine(program.step, task.rows, {.device = options.device, .threads = options.threads});
    engine.keep(program.loss_node);
    const auto saved = progress.saved(run, program);
    engine.set_state(saved ? *saved : initial_state(task, program, seed));
    json& losses = run["losses"];
    for (std::uint64_t step = losses.size(); step < options.steps; ++step) {
        if (!engine.run_step(context_of(task, seed, step))) {
            throw std::runtime_error(profile + ": training has diverged at step " + std::to_string(step));
        }
        losses.push_back(rounded(engine.scalar(program.loss_node)));
        if (losses.size() % kSavedSteps == 0) {
            progress.save(run, program, engine.state());
        }
    }
    return run;
}

// The same start and the same batches, in libtorch's own arithmetic.
json train_native(const Task& task, json run, const CurveOptions& options) {
    const std::uint64_t seed = run.at("seed");
    const program::Program program = task.canonical(program::kXg21);
    const std::vector<Tensor> state = initial_state(task, program, seed);
    const auto find = [&](const std::string& name) -> const float* {
        for (std::size_t i = 0; i < state.size(); ++i) {
            if (program.state[i].name == name) {
                return reinterpret_cast<const float*>(state[i].data.data());
            }
        }
        throw std::runtime_error("the program has no parameter called " + name);
    };
    set_native_threads(options.threads);
    const auto model = task.native({
        .device = options.device,
        .initial = find,
    });
    json& losses = run["losses"];
    const canonical::DatasetShape shape = task.rows->shape();
    for (std::uint64_t step = 0; step < options.steps; ++step) {
        std::vector<std::int32_t> batch;
        for (std::uint32_t r = 0; r < program.batch_size; ++r) {
            const Bytes row = task.rows->row(canonical::batch_row(seed, step * program.batch_size + r, shape.rows));
            const auto* values = reinterpret_cast<const std::int32_t*>(row.data());
            batch.insert(batch.end(), values, values + shape.width);
        }
        model->step(batch);
        losses.push_back(rounded(model->loss()));
    }
    return run;
}

double final_loss(const json& run) {
    const auto losses = run.at("losses").get<std::vector<double>>();
    const std::size_t tail = std::max<std::size_t>(losses.size() / 10, 1);
    double sum = 0.0;
    for (std::size_t i = losses.size() - tail; i < losses.size(); ++i) {
        sum += losses[i];
    }
    return sum / static_cast<double>(tail);
}

}  // namespace

json run_curves(const CurveOptions& options) {
    const Task task = options.model.rfind("gpt", 0) == 0 ? gpt(options) : classifier(options);
    CurvesProgress progress(
        options.out,
        {
            {"bench", "curves"},
            {"model", options.model},
            {"title", task.title},
            {"device", options.device},
            {"steps", options.steps},
            {"runs", json::array()},
        }
    );
    const auto add = [&](json run, const auto& train) {
        run["losses"] = json::array();
        if (progress.has(run)) {
            return;
        }
        run = train(std::move(run));
        run["final"] = final_loss(run);
        std::cerr << run.at("executor").get<std::string>() << " " << run.value("profile", "fp32") << ", seed "
                  << run.at("seed") << ": " << run.at("final") << "\n";
        progress.add(std::move(run));
    };
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
        add({{"executor", "native"}, {"seed", seed}},
            [&](json run) { return train_native(task, std::move(run), options); });
    }
    for (const std::string& profile : options.profiles) {
        const std::uint64_t seeds = options.all_seeds || profile == "XG-21" ? options.seeds : 1;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            add({{"executor", "canonical"}, {"profile", profile}, {"seed", seed}},
                [&](json run) { return train_canonical(task, std::move(run), options, progress); });
        }
    }
    return progress.result();
}

}  // namespace assay::bench
