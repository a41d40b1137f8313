// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/bench.hpp>

#include <cmath>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <core/canonical/executor.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/curves_progress.hpp>
#include <tools/bench/curves_tasks.hpp>
#include <tools/bench/native_models.hpp>
#include <tools/bench/rows_file.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/narrow_moments.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/compile/program/replicas.hpp>

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

program::OptimizerConfig optimizer_of(const ReplicaOptions& options, const std::string& exchange, std::uint32_t block) {
    program::OptimizerConfig out;
    out.kind = program::OptimizerKind::kSgdMomentum;
    out.learning_rate = options.learning_rate;
    out.momentum = options.momentum;
    out.clip_norm = options.clip_norm;
    out.replicas.count = options.count;
    out.replicas.exchange = exchange == "dgc" ? program::ExchangeKind::kDgc : program::ExchangeKind::kDense;
    out.replicas.block = block;
    return out;
}

/// A block of DGC, and the step before which another one takes its place.
struct Selecting {
    std::uint32_t block = 0;
    std::uint64_t end = 0;
};

std::vector<Selecting> selections_of(const CurveOptions& options) {
    const ReplicaOptions& replicas = options.replicas;
    std::vector<Selecting> out;
    for (std::size_t i = 0; i < replicas.warmup_blocks.size(); ++i) {
        out.push_back({replicas.warmup_blocks[i], options.steps * (i + 1) / (4 * replicas.warmup_blocks.size())});
    }
    out.push_back({replicas.block, options.steps});
    return out;
}

std::vector<Stage> stages_of(const Task& task, const CurveOptions& options, const std::string& exchange) {
    const ReplicaOptions& replicas = options.replicas;
    if (exchange != "dgc") {
        return {{task.with_optimizer(optimizer_of(replicas, exchange, replicas.block), 1), options.steps}};
    }
    std::vector<Stage> out;
    for (const Selecting& selecting : selections_of(options)) {
        out.push_back({task.with_optimizer(optimizer_of(replicas, exchange, selecting.block), 1), selecting.end});
    }
    return out;
}

json traffic_of(const program::Program& program, const program::OptimizerConfig& optimizer) {
    std::vector<program::StateTensor> parameters;
    for (const program::StateTensor& tensor : program.state) {
        if (!tensor.name.starts_with("momentum.") && !tensor.name.starts_with("accumulated.")) {
            parameters.push_back(tensor);
        }
    }
    const program::Traffic traffic = program::traffic_of(optimizer.replicas, parameters);
    const auto times = [&](std::uint64_t bits) {
        return static_cast<double>(traffic.dense) / static_cast<double>(bits);
    };
    return {{"block", optimizer.replicas.block},        {"dense_bytes", traffic.dense / 8},
            {"packed_bytes", (traffic.packed + 7) / 8}, {"written_bytes", traffic.written / 8},
            {"packed_ratio", times(traffic.packed)},    {"written_ratio", times(traffic.written)}};
}

/// Adds what one replica sends in a step of each stage, with indices.
void describe_replicas(const Task& task, const CurveOptions& options, json& result) {
    const ReplicaOptions& replicas = options.replicas;
    if (!task.with_optimizer) {
        throw std::runtime_error("--replicas is for GPTs and MLPs");
    }
    result["title"] = task.title + ", " + std::to_string(replicas.count) + " replicas";
    result["replicas"] = {
        {"count", replicas.count},
        {"learning_rate", rounded(replicas.learning_rate)},
        {"momentum", rounded(replicas.momentum)},
        {"clip_norm", rounded(replicas.clip_norm)}};
    json stages = json::array();
    std::uint64_t first = 0;
    double bytes = 0.0;
    for (const Selecting& selecting : selections_of(options)) {
        const program::OptimizerConfig optimizer = optimizer_of(replicas, "dgc", selecting.block);
        json stage = traffic_of(task.with_optimizer(optimizer, 1), optimizer);
        stage["steps"] = selecting.end - first;
        bytes += stage.at("packed_bytes").get<double>() * static_cast<double>(selecting.end - first);
        first = selecting.end;
        stages.push_back(std::move(stage));
    }
    const double dense = stages.back().at("dense_bytes").get<double>() * static_cast<double>(options.steps);
    result["replicas"]["packed_ratio_of_all_steps"] = dense / bytes;
    result["replicas"]["dgc"] = std::move(stages);
}

program::OptimizerConfig optimizer_of(const LocalOptions& options) {
    program::OptimizerConfig out;
    out.kind = program::OptimizerKind::kAdamW;
    out.learning_rate = options.learning_rate;
    out.weight_decay = 0.1F;
    out.clip_norm = 1.0F;
    return out;
}

program::LocalReplicas replicas_of(const LocalOptions& options, const std::string& exchange) {
    program::LocalReplicas out{.count = options.count, .turn_steps = options.turn_steps};
    if (exchange == "sparseloco") {
        out.sent = program::SentForm::kSparse;
        out.outer_rate = 1.0F;
        out.outer_momentum = 0.0F;
    } else if (exchange == "streaming") {
        out.fragments = options.fragments;
        out.turn_steps = options.turn_steps / options.fragments;
    }
    return out;
}

/// Local replicas take as many steps each as the dense run has, which has the batches of all of them.
std::vector<Stage> local_stages_of(const Task& task, const CurveOptions& options, const std::string& exchange) {
    const LocalOptions& local = options.local;
    const program::OptimizerConfig optimizer = optimizer_of(local);
    if (exchange == "dense") {
        return {{task.with_optimizer(optimizer, local.count), options.steps}};
    }
    auto made = program::with_local_replicas(task.with_optimizer(optimizer, 1), replicas_of(local, exchange));
    if (!made) {
        throw std::runtime_error("the program of local replicas would pass the limits of programs");
    }
    return {{*std::move(made), options.steps * local.count}};
}

/// Adds what one replica sends for each of its steps, beside the f32 gradients of one step.
void describe_local(const Task& task, const CurveOptions& options, json& result) {
    const LocalOptions& local = options.local;
    if (!task.with_optimizer) {
        throw std::runtime_error("--local-replicas is for GPTs and MLPs");
    }
    std::vector<program::StateTensor> parameters;
    for (const program::StateTensor& tensor : task.with_optimizer(optimizer_of(local), 1).state) {
        if (program::group_of(tensor) == program::StateGroup::kParameter) {
            parameters.push_back(tensor);
        }
    }
    result["title"] = task.title + ", " + std::to_string(local.count) + " local replicas";
    result["local"] = {
        {"count", local.count}, {"turn_steps", local.turn_steps}, {"learning_rate", rounded(local.learning_rate)}};
    for (const std::string exchange : {"diloco", "sparseloco", "streaming"}) {
        const program::RoundTraffic traffic = program::round_traffic(replicas_of(local, exchange), parameters);
        const double ratio = static_cast<double>(traffic.whole) / static_cast<double>(traffic.packed);
        result["local"][exchange] = {
            {"round_bytes", traffic.packed / 8},
            {"peak_bytes", traffic.peak / 8},
            {"gradient_bytes", traffic.whole / 8},
            {"ratio_of_a_round", ratio},
            {"ratio_of_a_step", ratio * local.turn_steps}};
    }
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

/// The losses of local replicas, whose turns follow each other, as their means at each of their own steps.
json mean_over_replicas(const json& losses, const program::LocalReplicas& local) {
    const std::size_t round = std::size_t{local.count} * local.turn_steps;
    json out = json::array();
    for (std::size_t first = 0; first + round <= losses.size(); first += round) {
        for (std::size_t step = 0; step < local.turn_steps; ++step) {
            double sum = 0.0;
            for (std::size_t replica = 0; replica < local.count; ++replica) {
                sum += losses[first + replica * local.turn_steps + step].get<double>();
            }
            out.push_back(std::round(sum / local.count * 1e6) / 1e6);
        }
    }
    return out;
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
    const Task task = curve_task(options);
    json result{
        {"bench", "curves"},        {"model", options.model}, {"title", task.title},
        {"device", options.device}, {"steps", options.steps}, {"runs", json::array()},
    };
    if (options.replicas.count > 0) {
        describe_replicas(task, options, result);
    }
    if (options.local.count > 0) {
        describe_local(task, options, result);
    }
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
    const bool has_local = options.local.count > 0;
    for (std::uint64_t seed = 1; seed <= options.seeds && has_local; ++seed) {
        for (const std::string& exchange : options.local.exchanges) {
            add({{"executor", exchange}, {"profile", "XG-21"}, {"seed", seed}}, [&](json run) {
                run = train_stages(task, std::move(run), options, progress, local_stages_of(task, options, exchange));
                if (exchange != "dense") {
                    run["losses"] = mean_over_replicas(run["losses"], replicas_of(options.local, exchange));
                }
                return run;
            });
        }
    }
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
        for (const std::string& moments : options.moments) {
            add({{"executor", "canonical"}, {"profile", "XG-21"}, {"moments", moments}, {"seed", seed}},
                [&](json run) { return train_with_moments(task, std::move(run), options, progress); });
        }
    }
    const bool has_replicas = options.replicas.count > 0 || has_local || !options.moments.empty();
    for (std::uint64_t seed = 1; seed <= options.seeds && options.replicas.count > 0; ++seed) {
        for (const std::string& exchange : options.replicas.exchanges) {
            add({{"executor", exchange}, {"profile", "XG-21"}, {"seed", seed}}, [&](json run) {
                return train_stages(task, std::move(run), options, progress, stages_of(task, options, exchange));
            });
        }
    }
    for (std::uint64_t seed = 1; seed <= options.seeds && !has_replicas; ++seed) {
        add({{"executor", "native"}, {"seed", seed}},
            [&](json run) { return train_native(task, std::move(run), options); });
    }
    for (const std::string& profile : has_replicas ? std::vector<std::string>{} : options.profiles) {
        const std::uint64_t seeds = options.all_seeds || profile == "XG-21" ? options.seeds : 1;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            add({{"executor", "canonical"}, {"profile", profile}, {"seed", seed}},
                [&](json run) { return train_canonical(task, std::move(run), options, progress); });
        }
    }
    return progress.result();
}

}  // namespace assay::bench
