// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/curves_replicas.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <core/canonical/executor.hpp>
#include <tools/bench/curves_held_out.hpp>
#include <tools/bench/curves_progress.hpp>
#include <tools/bench/curves_tasks.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/compile/program/replicas.hpp>
#include <verifier/engine/cell/packing.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/plan/turns.hpp>

namespace assay::bench {
namespace {

using canonical::Tensor;
using nlohmann::json;
using program::OptimizerConfig;
using program::Program;

/// Of the seeds of parents, so that a run's batches are not its parent's once more.
constexpr std::uint64_t kParentSeeds = 1000;
/// The part of the steps in which the learning rate rises, and what it falls to.
constexpr std::uint64_t kWarmingPart = 20;
constexpr float kLastRate = 0.1F;

double rounded(double x) { return std::round(x * 1e6) / 1e6; }

bool is_local(const std::string& exchange) {
    return exchange == "diloco" || exchange == "diloco-int4" || exchange == "streaming" || exchange == "sparseloco";
}

std::uint32_t batch_of(const CurveTask& task, const ReplicaOptions& replicas) {
    return replicas.batch == 0 ? task.batch : replicas.batch;
}

/// A rise, then half a cosine to a tenth.
program::Schedule falling(std::uint64_t steps) {
    program::Schedule out;
    out.kind = program::ScheduleKind::kCosine;
    out.warmup_updates = static_cast<std::uint32_t>(steps / kWarmingPart);
    out.total_updates = static_cast<std::uint32_t>(steps);
    out.final_fraction = kLastRate;
    return out;
}

OptimizerConfig adamw_of(const ReplicaOptions& replicas, program::Schedule schedule) {
    OptimizerConfig out;
    out.kind = program::OptimizerKind::kAdamW;
    out.learning_rate = replicas.learning_rate;
    out.weight_decay = 0.1F;
    out.clip_norm = 1.0F;
    out.schedule = std::move(schedule);
    return out;
}

OptimizerConfig sgd_of(const ReplicaOptions& replicas, std::uint64_t steps) {
    OptimizerConfig out;
    out.kind = program::OptimizerKind::kSgdMomentum;
    out.learning_rate = replicas.sgd_rate;
    out.momentum = replicas.momentum;
    out.clip_norm = replicas.clip_norm;
    out.schedule = falling(steps);
    return out;
}

OptimizerConfig dgc_of(const ReplicaOptions& replicas, std::uint64_t steps, std::uint32_t block) {
    OptimizerConfig out = sgd_of(replicas, steps);
    out.clip_norm = replicas.dgc_clip_norm;
    out.replicas.count = replicas.count;
    out.replicas.exchange = program::ExchangeKind::kDgc;
    out.replicas.block = block;
    return out;
}

program::LocalReplicas local_of(const ReplicaOptions& replicas, const std::string& exchange) {
    program::LocalReplicas out{.count = replicas.count, .turn_steps = replicas.turn_steps};
    if (exchange == "sparseloco") {
        out.sent = program::SentForm::kSparse;
        out.outer_rate = replicas.sparse_outer_rate;
        out.outer_momentum = 0.0F;
        return out;
    }
    out.outer_rate = replicas.outer_rate;
    out.outer_momentum = replicas.outer_momentum;
    out.bits = exchange == "diloco-int4" ? 4 : 8;
    if (exchange == "streaming") {
        out.fragments = replicas.fragments;
        out.turn_steps = replicas.turn_steps / replicas.fragments;
    }
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

/// A program, and the step before which another one takes its state over.
struct Stage {
    Program program;
    std::uint64_t end = 0;
};

/// Local replicas take as many steps each as the dense run has, which has the batches of all of them.
std::vector<Stage> stages_of(const CurveTask& task, const CurveOptions& options, const std::string& exchange) {
    const ReplicaOptions& replicas = options.replicas;
    const std::uint32_t own = batch_of(task, replicas);
    const std::uint32_t all = own * replicas.count;
    if (exchange == "dense") {
        return {{task.with_optimizer(adamw_of(replicas, falling(options.steps)), all), options.steps}};
    }
    if (exchange == "sgd") {
        return {{task.with_optimizer(sgd_of(replicas, options.steps), all), options.steps}};
    }
    if (exchange == "dgc") {
        std::vector<Stage> out;
        for (const Selecting& selecting : selections_of(options)) {
            const OptimizerConfig optimizer = dgc_of(replicas, options.steps, selecting.block);
            out.push_back({task.with_optimizer(optimizer, all), selecting.end});
        }
        return out;
    }
    const Program base = task.with_optimizer(adamw_of(replicas, falling(options.steps)), own);
    auto made = program::with_local_replicas(base, local_of(replicas, exchange));
    if (!made) {
        throw std::runtime_error("the program of local replicas would pass the limits of programs");
    }
    return {{*std::move(made), options.steps * replicas.count}};
}

canonical::StepContext context_of(const CurveTask& task, std::uint64_t seed, std::uint64_t step) {
    return {.seed = seed, .step = step, .dataset = task.rows->shape()};
}

std::vector<Tensor> initial_state(const CurveTask& task, const Program& program, std::uint64_t seed) {
    auto state = canonical::execute_graph(program.init, context_of(task, seed, 0), *task.rows, {});
    if (!state) {
        throw std::runtime_error("the initial state has diverged");
    }
    return *std::move(state);
}

float run_step(engine::Engine& engine, const Program& program, const canonical::StepContext& context) {
    if (!engine.run_step(context)) {
        throw std::runtime_error("training has diverged at step " + std::to_string(context.step));
    }
    return engine.scalar(program.loss_node);
}

engine::Engine engine_of(const CurveTask& task, const CurveOptions& options, const Program& program) {
    engine::Engine out(program.step, task.rows, {.device = options.device, .threads = options.threads});
    out.keep(program.loss_node);
    return out;
}

using NamedTensors = std::map<std::string, Tensor>;

/// The parameters from which all runs of a seed start: those that AdamW has found by a constant rate.
NamedTensors parent_of(const CurveTask& task, const CurveOptions& options, std::uint64_t seed) {
    const ReplicaOptions& replicas = options.replicas;
    program::Schedule rising;
    rising.warmup_updates = static_cast<std::uint32_t>(replicas.parent_steps / kWarmingPart);
    const Program program = task.with_optimizer(adamw_of(replicas, rising), batch_of(task, replicas) * replicas.count);
    engine::Engine engine = engine_of(task, options, program);
    engine.set_state(initial_state(task, program, seed));
    for (std::uint64_t step = 0; step < replicas.parent_steps; ++step) {
        run_step(engine, program, context_of(task, kParentSeeds + seed, step));
    }
    NamedTensors out;
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        if (program::group_of(program.state[i]) == program::StateGroup::kParameter) {
            out.emplace(program.state[i].name, engine.tensor(i));
        }
    }
    return out;
}

/// The name of the parameter that a tensor of the state is, a replica's or one that they share; or the tensor's own
/// name.
std::string parameter_in(const std::string& tensor, const ReplicaOptions& replicas) {
    std::vector<std::string> prefixes{"accumulated.shared."};
    for (std::uint32_t i = 0; i < replicas.count; ++i) {
        prefixes.push_back("accumulated.replica." + std::to_string(i) + ".");
    }
    for (const std::string& prefix : prefixes) {
        if (tensor.starts_with(prefix)) {
            return tensor.substr(prefix.size());
        }
    }
    return tensor;
}

/// One run's training, from a parent's parameters.
class Training {
  public:
    Training(const CurveTask& task, const CurveOptions& options, const std::string& exchange)
        : task_(task),
          options_(options),
          is_local_(is_local(exchange)),
          stages_(stages_of(task, options, exchange)),
          point_steps_(std::uint64_t{options.replicas.turn_steps} * (is_local_ ? options.replicas.count : 1)) {
        const Program& program = stages_.front().program;
        for (std::size_t i = 0; i < program.state.size(); ++i) {
            places_.emplace(program.state[i].name, i);
        }
        if (is_local_) {
            const auto turns = plan::find_turns(program);
            for (const auto& of_round : turns.value().sent) {
                sent_.insert(sent_.end(), of_round.front().begin(), of_round.front().end());
            }
        }
    }

    json run(json run, const NamedTensors& parent, HeldOut& held_out, const CurvesProgress& progress) {
        const std::uint64_t seed = run.at("seed");
        const auto saved = progress.saved(run, stages_.front().program);
        json& points = run["points"];
        std::vector<Tensor> state = saved ? *saved : start(parent, seed);
        if (points.empty()) {
            points.push_back(held_out.judge([&](const std::string& name) { return parent.at(name); }));
        }
        std::uint64_t step = (points.size() - 1) * point_steps_;
        double sum = 0.0;
        for (const Stage& stage : stages_) {
            if (step >= stage.end) {
                continue;
            }
            engine::Engine engine = engine_of(task_, options_, stage.program);
            engine.set_state(state);
            while (step < stage.end) {
                sum += static_cast<double>(run_step(engine, stage.program, context_of(task_, seed, step)));
                if (++step % point_steps_ == 0) {
                    points.push_back(point(engine, held_out, std::exchange(sum, 0.0)));
                    progress.save(run, stage.program, engine.state());
                }
            }
            state = engine.take_state();
        }
        return run;
    }

  private:
    std::vector<Tensor> start(const NamedTensors& parent, std::uint64_t seed) const {
        const Program& program = stages_.front().program;
        std::vector<Tensor> state = initial_state(task_, program, seed);
        for (std::size_t i = 0; i < state.size(); ++i) {
            const auto from = parent.find(parameter_in(program.state[i].name, options_.replicas));
            if (from != parent.end()) {
                state[i] = from->second;
            }
        }
        return state;
    }

    /// What is known after a turn of every replica.
    json point(const engine::Engine& engine, HeldOut& held_out, double losses) const {
        const std::string prefix = is_local_ ? "accumulated.shared." : "";
        json out = held_out.judge([&](const std::string& name) { return engine.tensor(places_.at(prefix + name)); });
        out["training"] = rounded(losses / static_cast<double>(point_steps_));
        if (is_local_) {
            std::uint64_t bytes = 0;
            for (const std::uint32_t tensor : sent_) {
                bytes += engine::cell::pack(engine.tensor(tensor)).size();
            }
            out["sent_bytes"] = bytes;
        }
        return out;
    }

    const CurveTask& task_;
    const CurveOptions& options_;
    const bool is_local_;
    const std::vector<Stage> stages_;
    const std::uint64_t point_steps_;            ///< of the program, between two points
    std::map<std::string, std::size_t> places_;  ///< of tensors in the state
    std::vector<std::uint32_t> sent_;            ///< by replica 0, in the rounds of a cycle
};

std::vector<program::StateTensor> parameters_of_task(const CurveTask& task, const ReplicaOptions& replicas) {
    std::vector<program::StateTensor> out;
    for (const program::StateTensor& tensor :
         task.with_optimizer(adamw_of(replicas, {}), batch_of(task, replicas)).state) {
        if (program::group_of(tensor) == program::StateGroup::kParameter) {
            out.push_back(tensor);
        }
    }
    return out;
}

json traffic_of_local(
    const ReplicaOptions& replicas, const std::vector<program::StateTensor>& parameters, const std::string& exchange
) {
    const program::RoundTraffic traffic = program::round_traffic(local_of(replicas, exchange), parameters);
    const double ratio = static_cast<double>(traffic.whole) / static_cast<double>(traffic.packed);
    return {
        {"round_bytes", traffic.packed / 8},
        {"peak_bytes", traffic.peak / 8},
        {"ratio_of_a_round", ratio},
        {"ratio_of_a_step", ratio * replicas.turn_steps}};
}

json traffic_of_dgc(const CurveOptions& options, const std::vector<program::StateTensor>& parameters) {
    json blocks = json::array();
    std::uint64_t first = 0;
    double bits = 0.0;
    program::Traffic traffic;
    for (const Selecting& selecting : selections_of(options)) {
        traffic = program::traffic_of(dgc_of(options.replicas, options.steps, selecting.block).replicas, parameters);
        const auto times = [&](std::uint64_t sent) {
            return static_cast<double>(traffic.dense) / static_cast<double>(sent);
        };
        blocks.push_back({
            {"block", selecting.block},
            {"steps", selecting.end - first},
            {"step_bytes", (traffic.packed + 7) / 8},
            {"ratio_of_a_step", times(traffic.packed)},
            {"ratio_as_written", times(traffic.written)},
        });
        bits += static_cast<double>(traffic.packed) * static_cast<double>(selecting.end - first);
        first = selecting.end;
    }
    const double all = static_cast<double>(traffic.dense) * static_cast<double>(options.steps);
    return {{"blocks", std::move(blocks)}, {"ratio_of_all_steps", all / bits}};
}

json describe(const CurveTask& task, const CurveOptions& options) {
    const ReplicaOptions& replicas = options.replicas;
    const std::vector<program::StateTensor> parameters = parameters_of_task(task, replicas);
    json out{
        {"count", replicas.count},
        {"batch", batch_of(task, replicas)},
        {"parent_steps", replicas.parent_steps},
        {"turn_steps", replicas.turn_steps},
        {"learning_rate", rounded(static_cast<double>(replicas.learning_rate))},
        {"outer_rate", rounded(static_cast<double>(replicas.outer_rate))},
        {"outer_momentum", rounded(static_cast<double>(replicas.outer_momentum))},
        {"sparse_outer_rate", rounded(static_cast<double>(replicas.sparse_outer_rate))},
        {"sgd_rate", rounded(static_cast<double>(replicas.sgd_rate))},
        {"momentum", rounded(static_cast<double>(replicas.momentum))},
        {"clip_norm", rounded(static_cast<double>(replicas.clip_norm))},
        {"dgc_clip_norm", rounded(static_cast<double>(replicas.dgc_clip_norm))},
        {"held_out_rows", task.held_out->shape().rows},
        {"gradient_bytes", program::size_bytes(parameters)},
        {"dgc", traffic_of_dgc(options, parameters)},
    };
    for (const std::string exchange : {"diloco", "diloco-int4", "streaming", "sparseloco"}) {
        out[exchange] = traffic_of_local(replicas, parameters, exchange);
    }
    return out;
}

void check(const CurveTask& task, const CurveOptions& options) {
    const ReplicaOptions& replicas = options.replicas;
    if (!task.held_out || !task.with_optimizer) {
        throw std::runtime_error("--replicas is for GPTs and MLPs");
    }
    if (options.steps % replicas.turn_steps != 0 || replicas.turn_steps % replicas.fragments != 0) {
        throw std::runtime_error("--steps has to be a multiple of --turn-steps, and that one of --fragments");
    }
}

}  // namespace

json run_replica_curves(const CurveOptions& options) {
    const CurveTask task = curve_task(options);
    check(task, options);
    HeldOut held_out(task, options);
    CurvesProgress progress(
        options.out,
        {
            {"bench", "curves"},
            {"model", options.model},
            {"title", task.title + ", " + std::to_string(options.replicas.count) + " replicas"},
            {"device", options.device},
            {"steps", options.steps},
            {"replicas", describe(task, options)},
            {"runs", json::array()},
        }
    );
    for (std::uint64_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
        std::optional<NamedTensors> parent;
        for (const std::string& exchange : options.replicas.exchanges) {
            json run{{"executor", exchange}, {"profile", "XG-21"}, {"seed", seed}, {"points", json::array()}};
            if (progress.has(run)) {
                continue;
            }
            if (!parent) {
                parent = parent_of(task, options, seed);
            }
            run = Training(task, options, exchange).run(std::move(run), *parent, held_out, progress);
            std::cerr << exchange << ", seed " << seed << ": " << run.at("points").front() << " to "
                      << run.at("points").back() << "\n";
            progress.add(std::move(run));
        }
    }
    return progress.result();
}

}  // namespace assay::bench
