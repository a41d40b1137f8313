// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/bench.hpp>

#include <cmath>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <core/canonical/executor.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/curves_progress.hpp>
#include <tools/bench/curves_replicas.hpp>
#include <tools/bench/curves_tasks.hpp>
#include <tools/bench/native_models.hpp>
#include <tools/bench/rows_file.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/compile/program/narrow_moments.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::bench {
namespace {

using canonical::Tensor;
using nlohmann::json;

using Task = CurveTask;

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

/// A program, and the step before which another one takes its state over.
struct Stage {
    program::Program program;
    std::uint64_t end = 0;
};

json train_stages(
    const Task& task, json run, const CurveOptions& options, const CurvesProgress& progress,
    const std::vector<Stage>& stages
) {
    const std::uint64_t seed = run.at("seed");
    const auto saved = progress.saved(run, stages.front().program);
    std::vector<Tensor> state = saved ? *saved : initial_state(task, stages.front().program, seed);
    json& losses = run["losses"];
    for (const Stage& stage : stages) {
        if (losses.size() >= stage.end) {
            continue;
        }
        const program::Program& program = stage.program;
        engine::Engine engine(program.step, task.rows, {.device = options.device, .threads = options.threads});
        engine.keep(program.loss_node);
        engine.set_state(state);
        for (std::uint64_t step = losses.size(); step < stage.end; ++step) {
            if (!engine.run_step(context_of(task, seed, step))) {
                throw std::runtime_error("training has diverged at step " + std::to_string(step));
            }
            losses.push_back(rounded(engine.scalar(program.loss_node)));
            if (losses.size() % kSavedSteps == 0) {
                progress.save(run, program, engine.state());
            }
        }
        state = engine.state();
    }
    return run;
}

json train_canonical(const Task& task, json run, const CurveOptions& options, const CurvesProgress& progress) {
    const std::string profile = run.at("profile");
    return train_stages(
        task, std::move(run), options, progress, {{task.canonical(profile_named(profile)), options.steps}}
    );
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

program::OptimizerConfig optimizer_of(const BoundaryOptions& options) {
    program::OptimizerConfig out;
    out.kind = program::OptimizerKind::kAdamW;
    out.learning_rate = options.learning_rate;
    out.weight_decay = 0.1F;
    return out;
}

program::Boundary boundary_of(const BoundaryOptions& options, std::uint32_t bits) {
    return {.after = options.after, .bits = bits, .gradient_bits = options.gradient_bits};
}

/// Adds what crosses for a row of a batch. `columns` is the width of the layer before the boundary.
void describe_boundary(const CurveOptions& options, std::uint32_t columns, json& result) {
    const BoundaryOptions& boundary = options.boundary;
    result["boundary"] = {{"after", boundary.after}, {"learning_rate", rounded(boundary.learning_rate)}};
    for (const std::uint32_t bits : boundary.bits) {
        const program::BoundaryTraffic traffic = program::boundary_traffic(boundary_of(boundary, bits), columns);
        const auto both = static_cast<double>(traffic.forward + traffic.back);
        result["boundary"]["bits_" + std::to_string(bits)] = {
            {"first_bits", traffic.first},
            {"forward_bits", traffic.forward},
            {"back_bits", traffic.back},
            {"ratio", 2.0 * static_cast<double>(traffic.first) / both}};
    }
}

program::Program with_moments(const Task& task, const std::string& moments) {
    program::Program wide = task.canonical(program::kXg21);
    if (moments == "f32") {
        return wide;
    }
    program::OptimizerConfig config;
    config.moments = moments == "bf16" ? program::Moments::kBf16 : program::Moments::kInt8;
    auto narrow = program::with_narrow_moments(wide, config);
    if (!narrow) {
        throw std::runtime_error("the model has no moments that could be " + moments);
    }
    return *std::move(narrow);
}

/// One run, with the size of its last checkpoint's file.
json train_with_moments(const Task& task, json run, const CurveOptions& options, const CurvesProgress& progress) {
    const program::Program program = with_moments(task, run.at("moments"));
    const std::vector<Tensor> state = initial_state(task, program, run.at("seed"));
    run["checkpoint_bytes"] = artifacts::encode_state(program, state).size();
    return train_stages(task, std::move(run), options, progress, {{program, options.steps}});
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

/// AdamW without a boundary, and with one for each number of bits, on the same rows.
json run_boundary_curves(const CurveOptions& options) {
    const Task without = curve_task(options);
    if (!without.with_boundary) {
        throw std::runtime_error("--boundary is for MLPs");
    }
    Task task = without;
    task.rows = numbered(*task.rows);
    json result{
        {"bench", "curves"},
        {"model", options.model},
        {"title", task.title + ", a boundary behind a hidden layer"},
        {"device", options.device},
        {"steps", options.steps},
        {"runs", json::array()},
    };
    describe_boundary(options, kMlpHidden, result);
    CurvesProgress progress(options.out, std::move(result));
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
        std::vector<std::uint32_t> all_bits{0};
        all_bits.insert(all_bits.end(), options.boundary.bits.begin(), options.boundary.bits.end());
        for (const std::uint32_t bits : all_bits) {
            const std::string name = bits == 0 ? "dense" : "aqsgd-" + std::to_string(bits);
            json run{{"executor", name}, {"profile", "XG-21"}, {"seed", seed}};
            run["losses"] = json::array();
            if (progress.has(run)) {
                continue;
            }
            const program::Boundary boundary = bits == 0 ? program::Boundary{} : boundary_of(options.boundary, bits);
            run = train_stages(
                bits == 0 ? without : task, std::move(run), options, progress,
                {{task.with_boundary(optimizer_of(options.boundary), boundary), options.steps}}
            );
            run["final"] = final_loss(run);
            std::cerr << name << ", seed " << seed << ": " << run.at("final") << "\n";
            progress.add(std::move(run));
        }
    }
    return progress.result();
}

}  // namespace

json run_curves(const CurveOptions& options) {
    if (options.boundary.after != 0) {
        return run_boundary_curves(options);
    }
    if (options.replicas.count > 0) {
        return run_replica_curves(options);
    }
    const Task task = curve_task(options);
    json result{
        {"bench", "curves"},        {"model", options.model}, {"title", task.title},
        {"device", options.device}, {"steps", options.steps}, {"runs", json::array()},
    };
    CurvesProgress progress(options.out, std::move(result));
    const auto add = [&](json run, const auto& train) {
        run["losses"] = json::array();
        if (progress.has(run)) {
            return;
        }
        run = train(std::move(run));
        run["final"] = final_loss(run);
        std::cerr << run.at("executor").get<std::string>() << " " << run.value("profile", "fp32") << ", seed "
                  << run.at("seed") << " " << run.value("moments", "") << ": " << run.at("final") << "\n";
        progress.add(std::move(run));
    };
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
        for (const std::string& moments : options.moments) {
            add({{"executor", "canonical"}, {"profile", "XG-21"}, {"moments", moments}, {"seed", seed}},
                [&](json run) { return train_with_moments(task, std::move(run), options, progress); });
        }
    }
    const bool has_moments = !options.moments.empty();
    for (std::uint64_t seed = 1; seed <= options.seeds && !has_moments; ++seed) {
        add({{"executor", "native"}, {"seed", seed}},
            [&](json run) { return train_native(task, std::move(run), options); });
    }
    for (const std::string& profile : has_moments ? std::vector<std::string>{} : options.profiles) {
        const std::uint64_t seeds = options.all_seeds || profile == "XG-21" ? options.seeds : 1;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            add({{"executor", "canonical"}, {"profile", profile}, {"seed", seed}},
                [&](json run) { return train_canonical(task, std::move(run), options, progress); });
        }
    }
    return progress.result();
}

}  // namespace assay::bench
