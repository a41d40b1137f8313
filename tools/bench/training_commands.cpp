// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/commands.hpp>

#include <fstream>
#include <iterator>
#include <optional>
#include <memory>
#include <sstream>
#include <stdexcept>

#include <core/system/file.hpp>
#include <tools/bench/bench.hpp>
#include <tools/bench/group.hpp>
#include <tools/bench/group_signed.hpp>
#include <tools/bench/links.hpp>
#include <tools/bench/drift.hpp>

namespace assay::bench {

std::string read_file(const std::string& path) {
    auto text = system::read_file(path);
    if (!text) {
        throw std::runtime_error("cannot read " + path);
    }
    return *std::move(text);
}

program::Profile profile_named(const std::string& name) {
    const std::optional<program::Profile> found = program::profile_named(name);
    if (!found) {
        throw std::runtime_error("no profile is called " + name + "; there are XG-21, XG-24, XG-11, XG-8 and XG-7");
    }
    return *found;
}

namespace {

template <class T>
std::string to_text(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

void add_replay(Commands& commands) {
    const auto held = std::make_shared<ReplayOptions>();
    ReplayOptions& options = *held;
    CLI::App* const replay = commands.add(
        "replay", "A verifier's replay over the solver's training, and the share of training that commitments cost",
        [held] { return run_replay_bench(*held).dump(2); }
    );
    replay->add_option("--text", options.text, "Text to train on")->capture_default_str();
    replay->add_option("--segment-steps", options.segment_steps, "Steps per segment")->capture_default_str();
    replay->add_option("--repeats", options.repeats, "Interleaved repetitions")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    replay->add_option("--threads", options.threads, "Threads of the engine")->capture_default_str();
    replay->add_option("--hidden", options.hidden, "Width of the hidden layer")->capture_default_str();
}

void add_canonical(Commands& commands) {
    const auto held = std::make_shared<CanonicalOptions>();
    CanonicalOptions& options = *held;
    CLI::App* const canonical = commands.add(
        "canonical", "Steps of canonical training over plain libtorch in fp32, and canonical products over SGEMM",
        [held] { return run_canonical_bench(*held).dump(2); }
    );
    canonical->add_option("--device", options.device, "A torch device")->capture_default_str();
    canonical->add_option("--threads", options.threads, "Threads of both sides")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    canonical->add_option("--repeats", options.repeats, "Interleaved pairs")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    canonical->add_option("--segment-steps", options.segment_steps, "Steps between two checkpoints")
        ->capture_default_str();
    canonical->add_option("--models", options.models, "Which of gpt, gpt10m, cnn, mlp, resnet18")
        ->capture_default_str();
    canonical->add_option("--profiles", options.profiles, "Which of XG-21, XG-24, XG-11, XG-8, XG-7")
        ->capture_default_str();
    canonical->add_flag("--only-models", options.only_models, "Leave the products out");
    canonical->add_option(
        "--torch", options.torch, "A Python with another PyTorch: the faster one in fp32 is compared with"
    );
    canonical->add_option("--torch-script", options.torch_script, "Where torch_steps.py is")->capture_default_str();
}

void add_replicas(CLI::App& curves, CurveOptions& options) {
    ReplicaOptions& replicas = options.replicas;
    const auto add = [&](const std::string& name, auto& value, const std::string& help) {
        return curves.add_option(name, value, help)->capture_default_str();
    };
    add("--replicas", replicas.count,
        "GPTs, MLPs: so many replicas, judged by held-out rows, instead of all other runs");
    add("--exchanges", replicas.exchanges, "Which of dense, diloco, diloco-int4, streaming, sparseloco, sgd and dgc")
        ->check(CLI::IsMember({"dense", "diloco", "diloco-int4", "streaming", "sparseloco", "sgd", "dgc"}));
    add("--first-seed", options.first_seed, "Of the replicas' --seeds seeds");
    add("--replica-batch", replicas.batch, "Rows of a replica's batch; 0: the model's");
    add("--parent-steps", replicas.parent_steps, "Steps of AdamW from which all runs of a seed start");
    add("--turn-steps", replicas.turn_steps, "Steps of a local replica's turn, and between two judgements")
        ->check(CLI::PositiveNumber);
    add("--fragments", replicas.fragments, "Of streaming, which exchanges one in so many turns")
        ->check(CLI::PositiveNumber);
    add("--learning-rate", replicas.learning_rate, "Of AdamW");
    add("--outer-rate", replicas.outer_rate, "Of diloco and streaming");
    add("--outer-momentum", replicas.outer_momentum, "Of diloco and streaming");
    add("--sparse-outer-rate", replicas.sparse_outer_rate, "Of sparseloco");
    add("--sgd-rate", replicas.sgd_rate, "Learning rate of sgd and dgc");
    add("--momentum", replicas.momentum, "Of sgd and dgc");
    add("--clip-norm", replicas.clip_norm, "Of sgd");
    add("--dgc-clip-norm", replicas.dgc_clip_norm, "Of dgc; a replica's limit is this over the root of their number");
    add("--dgc-block", replicas.block, "One element is sent of so many");
    add("--dgc-warmup-blocks", replicas.warmup_blocks, "The same in equal parts of the first quarter of the steps");
}

void add_curves(Commands& commands) {
    const auto held = std::make_shared<CurveOptions>();
    CurveOptions& options = *held;
    CLI::App* const curves = commands.add(
        "curves", "Losses of native and canonical training from the same starts over the same batches",
        [held] { return run_curves(*held).dump(2); }
    );
    curves->add_option("--model", options.model)
        ->check(CLI::IsMember({"gpt", "gpt-small", "gpt3m", "gpt10m", "cnn", "mlp"}))
        ->capture_default_str();
    curves->add_option("--data", options.data, "Text for GPTs; for the others what digits.py writes")
        ->capture_default_str();
    curves->add_option("--device", options.device, "A torch device")->capture_default_str();
    curves->add_option("--threads", options.threads)->capture_default_str()->check(CLI::PositiveNumber);
    curves->add_option("--steps", options.steps)->capture_default_str()->check(CLI::PositiveNumber);
    curves->add_option("--seeds", options.seeds, "Native runs, and runs of XG-21")->capture_default_str();
    curves->add_option("--profiles", options.profiles)->capture_default_str();
    curves->add_flag("--all-seeds", options.all_seeds, "All profiles for each seed, not XG-21 alone");
    add_replicas(*curves, options);
    BoundaryOptions& boundary = options.boundary;
    curves->add_option("--boundary", boundary.after, "MLPs: AdamW with a boundary behind this hidden layer (AQ-SGD)");
    curves->add_option("--boundary-bits", boundary.bits, "Of an element of a change, each a run")
        ->capture_default_str();
    curves->add_option("--gradient-bits", boundary.gradient_bits, "Of an element of the gradient that goes back")
        ->capture_default_str();
    curves->add_option("--boundary-rate", boundary.learning_rate, "Learning rate")->capture_default_str();
    curves
        ->add_option(
            "--moments", options.moments, "Which of f32, bf16 and int8 the moments are, instead of all other runs"
        )
        ->check(CLI::IsMember({"f32", "bf16", "int8"}));
    curves->add_option(
        "--out", options.out, "Keeps finished runs here and the state of the others in FILE.part; a later call goes on"
    );
}

void add_dispute(Commands& commands) {
    const auto held = std::make_shared<DisputeOptions>();
    DisputeOptions& options = *held;
    CLI::App* const dispute = commands.add(
        "dispute", "Time, memory and bytes that an honest party to a dispute needs, by the size of the model",
        [held] { return run_dispute_bench(*held).dump(2); }
    );
    dispute->add_flag("--full", options.full, "GPT-2 small too: 124 million parameters, with a tied head");
    dispute->add_option("--threads", options.threads, "Threads of the engine; hashing takes all cores")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    dispute->add_option("--profile", options.profile)->capture_default_str();
    dispute->add_option("--only", options.only, "One model, in this process; used by the command itself");
    dispute->add_flag("--only-trains", options.only_trains, "Its training alone; used by the command itself");
}

void add_memory(Commands& commands) {
    const auto held = std::make_shared<MemoryOptions>();
    MemoryOptions& options = *held;
    CLI::App* const memory = commands.add(
        "memory", "What steps take: by their plans, the fastest and the least, and measured in processes of their own",
        [held] { return run_memory_bench(*held).dump(2); }
    );
    memory->add_option("--models", options.models, "Which of gpt, gpt10m, gpt2, gpt2-batch8, cnn, mlp, resnet18")
        ->capture_default_str();
    memory->add_option("--profile", options.profile)->capture_default_str();
    memory->add_option("--threads", options.threads)->check(CLI::PositiveNumber)->capture_default_str();
    memory->add_option("--steps", options.steps, "Steps that are measured; 0: plans alone")->capture_default_str();
}

void add_peak(Commands& commands) {
    const auto held = std::make_shared<PeakOptions>();
    PeakOptions& options = *held;
    CLI::App* const peak =
        commands.add("peak", "MiB that a few steps of one side need at their peak; used by canonical", [held] {
            return run_peak(*held).dump();
        });
    peak->add_option("--side", options.side)->check(CLI::IsMember({"canonical", "native"}))->capture_default_str();
    peak->add_option("--model", options.model)->capture_default_str();
    peak->add_option("--profile", options.profile)->capture_default_str();
    peak->add_option("--threads", options.threads)->capture_default_str();
    peak->add_option("--steps", options.steps)->check(CLI::PositiveNumber)->capture_default_str();
    peak->add_option("--memory", options.memory_bytes, "Of the canonical side, as in 8GiB; 0: no limit")
        ->transform(CLI::AsSizeValue(false))
        ->default_str("0");
}

void add_group(Commands& commands) {
    const auto held = std::make_shared<GroupOptions>();
    GroupOptions& options = *held;
    CLI::App* const group =
        commands.add("group", "Roots, bytes and state of a training that several ranks divide, by layout", [held] {
            return run_group_bench(*held).dump(2);
        });
    group->add_option("--model", options.model, "Which of gpt, gpt10m, llama, cnn, mlp")->capture_default_str();
    group->add_option("--profile", options.profile)->capture_default_str();
    group->add_option("--steps", options.steps)->check(CLI::PositiveNumber)->capture_default_str();
    group->add_option("--layouts", options.layouts, "Layouts with their numbers of ranks, as in zero1/4 dp2tp2/4");
}

void add_signed_options(CLI::App& command, SignedOptions& options) {
    command.add_option("--models", options.models, "Which of gpt, gpt10m, llama, cnn, mlp")->capture_default_str();
    command.add_option("--profile", options.profile)->capture_default_str();
    command.add_option("--layouts", options.layouts, "Layouts with their numbers of ranks, as in zero1/4 tp/2");
    command.add_option("--steps", options.steps, "Of each kind")->check(CLI::PositiveNumber)->capture_default_str();
    command.add_option("--warm-up", options.warm_up, "Steps before them")->check(CLI::PositiveNumber);
}

void add_signed(Commands& commands) {
    const auto held = std::make_shared<SignedOptions>();
    CLI::App* const all = commands.add(
        "group-signed",
        "What it costs that ranks of several accounts sign and check what they tell each other, by layout",
        [held] { return run_signed_bench(*held).dump(2); }
    );
    add_signed_options(*all, *held);

    const auto held_rank = std::make_shared<SignedRankOptions>();
    CLI::App* const one = commands.add(
        "group-signed-rank", "One rank of the same, in a process of its own; links.py starts them",
        [held_rank] { return run_signed_rank(*held_rank).dump(); }
    );
    add_signed_options(*one, held_rank->what);
    one->add_option("--rank", held_rank->rank)->required();
    one->add_option("--address", held_rank->address, "At which the others connect to this one")->capture_default_str();
    one->add_option("--words", held_rank->words, "A directory that all ranks share")->required();
}

void add_links(Commands& commands) {
    const auto held_rank = std::make_shared<CellRankOptions>();
    CellRankOptions& rank = *held_rank;
    CLI::App* const cell = commands.add(
        "cell-rank", "One rank of a cell that trains a task without a chain, held to a speed; links.py starts them",
        [held_rank] { return run_cell_rank(*held_rank).dump(); }
    );
    cell->add_option("--task", rank.task, "The directory with task.toml, of the lead");
    cell->add_option("--cell", rank.hosts, "File that names the machines of the cell")->required();
    cell->add_option("--name", rank.name, "Which member this is; without, the lead");
    cell->add_option("--plan", rank.plan)->capture_default_str();
    cell->add_option("--steps", rank.steps, "That are timed")->capture_default_str();
    cell->add_option("--warm-up", rank.warm_up, "Steps before them")->capture_default_str();
    cell->add_option("--multiply-adds-per-s", rank.multiply_adds_per_s, "The speed")->check(CLI::PositiveNumber);
    cell->add_option("--directory", rank.directory, "For the lead's state")->capture_default_str();

    const auto held_links = std::make_shared<ForwardOptions>();
    ForwardOptions& links = *held_links;
    CLI::App* const forward = commands.add(
        "forward-links", "Links with a delay and a bandwidth between TAP devices; links.py starts it",
        [held_links] { return run_forward_links(*held_links).dump(); }
    );
    forward->add_option("--count", links.count, "Devices")->capture_default_str();
    forward->add_option("--prefix", links.prefix, "Of their names")->capture_default_str();
    forward->add_option("--mbit", links.mbit)->check(CLI::PositiveNumber)->capture_default_str();
    forward->add_option("--delay-ms", links.delay_ms, "One way")->check(CLI::NonNegativeNumber)->capture_default_str();
}

void add_drift_options(CLI::App& drift, DriftOptions& options) {
    const CLI::IsMember models({"gpt", "gpt-rotary", "cnn", "mlp"});
    const CLI::IsMember optimizers({"adamw", "momentum"});
    const CLI::Range counts(2, 10'000);
    drift.add_option("--model", options.model)->check(models)->capture_default_str();
    drift.add_option("--optimizer", options.optimizer)->check(optimizers)->capture_default_str();
    drift.add_option("--epsilon", options.epsilon, "Of adamw")->capture_default_str();
    drift.add_option("--text", options.text, "Text for gpt")->capture_default_str();
    drift.add_option("--digits", options.digits, "What digits.py writes, for mlp and cnn")->capture_default_str();
    drift.add_option("--segments", options.segments, "Of each solver's run")->capture_default_str()->check(counts);
    drift.add_option("--segment-steps", options.segment_steps)->capture_default_str()->check(counts);
}

void add_drift(Commands& commands) {
    const auto held = std::make_shared<DriftStudyOptions>();
    DriftStudyOptions& options = *held;
    CLI::App* const drift = commands.add(
        "drift", "How far native training lies from its canonical replay, and cheats, and how the chain judges them",
        [held] { return to_text(run_drift_study(*held)); }
    );
    add_drift_options(*drift, options.run);
    drift->add_option("--runs", options.runs, "What it has is not made again")->capture_default_str();
    drift->add_option("--solver-build", options.solver_build, "assay-bench of another libtorch, for the solvers");
    drift->add_option("--tasks", options.tasks)->capture_default_str();
    drift->add_option("--cheat-tasks", options.cheat_tasks, "Cheated, and run in bf16 too")->capture_default_str();
    drift->add_option("--minutes", options.minutes, "After which no run is begun")->capture_default_str();
    drift->add_option("--resamples", options.resamples, "Simulated honest segments")->capture_default_str();
}

void add_drift_run(Commands& commands) {
    struct Run {
        DriftOptions options;
        bool cheats = false;
    };
    const auto held = std::make_shared<Run>();
    DriftOptions& options = held->options;
    CLI::App* const drift = commands.add("drift-run", "One run, replayed and measured; used by drift", [held] {
        return to_text(held->cheats ? run_cheats(held->options) : run_drift(held->options));
    });
    add_drift_options(*drift, options);
    drift->add_option("--seed", options.seed);
    drift->add_option("--threads", options.threads);
    drift->add_option("--products", options.products)->check(CLI::IsMember({"f32", "bf16", "f64", "canonical"}));
    drift->add_option("--order", options.order)->check(CLI::IsMember({"given", "reversed"}));
    drift->add_option("--threshold-ppb", options.threshold_ppb);
    drift->add_flag("--cheats", held->cheats);
}

}  // namespace

void add_training_commands(Commands& commands) {
    add_replay(commands);
    add_canonical(commands);
    add_curves(commands);
    add_dispute(commands);
    add_memory(commands);
    add_group(commands);
    add_signed(commands);
    add_links(commands);
    add_peak(commands);
    add_drift(commands);
    add_drift_run(commands);
}

}  // namespace assay::bench
