// SPDX-License-Identifier: Apache-2.0
// assay-bench: what things cost, as ratios measured side by side in one run. Prints JSON on stdout.
#include <tools/bench/bench.hpp>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <tools/bench/drift.hpp>

namespace assay::bench {

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error("cannot read " + path);
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

program::Profile profile_named(const std::string& name) {
    static const std::map<std::string, program::Profile> known{
        {"XG-21", program::kXg21}, {"XG-24", program::kXg24}, {"XG-8", program::kXg8}, {"XG-7", program::kXg7}};
    const auto found = known.find(name);
    if (found == known.end()) {
        throw std::runtime_error("no profile is called " + name + "; there are XG-21, XG-24, XG-8 and XG-7");
    }
    return found->second;
}

namespace {

CLI::App* add_replay(CLI::App& app, ReplayOptions& options) {
    CLI::App* replay = app.add_subcommand(
        "replay", "A verifier's replay over the solver's training, and the share of training that commitments cost"
    );
    replay->add_option("--text", options.text, "Text to train on")->capture_default_str();
    replay->add_option("--segment-steps", options.segment_steps, "Steps per segment")->capture_default_str();
    replay->add_option("--repeats", options.repeats, "Interleaved repetitions")->capture_default_str()->check(CLI::PositiveNumber);
    replay->add_option("--threads", options.threads, "Threads of the engine")->capture_default_str();
    replay->add_option("--hidden", options.hidden, "Width of the hidden layer")->capture_default_str();
    return replay;
}

CLI::App* add_canonical(CLI::App& app, CanonicalOptions& options) {
    CLI::App* canonical = app.add_subcommand(
        "canonical", "Steps of canonical training over plain libtorch in fp32, and canonical products over SGEMM"
    );
    canonical->add_option("--device", options.device, "A torch device")->capture_default_str();
    canonical->add_option("--threads", options.threads, "Threads of both sides")->capture_default_str()->check(CLI::PositiveNumber);
    canonical->add_option("--repeats", options.repeats, "Interleaved pairs")->capture_default_str()->check(CLI::PositiveNumber);
    canonical->add_option("--segment-steps", options.segment_steps, "Steps between two checkpoints")->capture_default_str();
    canonical->add_option("--models", options.models, "Which of gpt, cnn, mlp")->capture_default_str();
    canonical->add_option("--profiles", options.profiles, "Which of XG-21, XG-24, XG-8, XG-7")->capture_default_str();
    canonical->add_flag("--only-models", options.only_models, "Leave the products out");
    return canonical;
}

CLI::App* add_curves(CLI::App& app, CurveOptions& options) {
    CLI::App* curves = app.add_subcommand(
        "curves", "Losses of native and canonical training from the same starts over the same batches"
    );
    curves->add_option("--model", options.model)->check(CLI::IsMember({"gpt", "cnn", "mlp"}))->capture_default_str();
    curves->add_option("--data", options.data, "Text for gpt; for the others what digits.py writes")->capture_default_str();
    curves->add_option("--device", options.device, "A torch device")->capture_default_str();
    curves->add_option("--threads", options.threads)->capture_default_str()->check(CLI::PositiveNumber);
    curves->add_option("--steps", options.steps)->capture_default_str()->check(CLI::PositiveNumber);
    curves->add_option("--seeds", options.seeds, "Native runs, and runs of XG-21")->capture_default_str();
    curves->add_option("--profiles", options.profiles)->capture_default_str();
    return curves;
}

CLI::App* add_peak(CLI::App& app, PeakOptions& options) {
    CLI::App* peak = app.add_subcommand("peak", "MiB that a few steps of one side need at their peak; used by canonical");
    peak->add_option("--side", options.side)->check(CLI::IsMember({"canonical", "native"}))->capture_default_str();
    peak->add_option("--model", options.model)->capture_default_str();
    peak->add_option("--profile", options.profile)->capture_default_str();
    peak->add_option("--threads", options.threads)->capture_default_str();
    return peak;
}

void add_drift_files(CLI::App& drift, DriftOptions& options) {
    drift.add_option("--text", options.text, "Text for gpt")->capture_default_str();
    drift.add_option("--digits", options.digits, "What digits.py writes, for mlp and cnn")->capture_default_str();
    drift.add_option("--segments", options.segments, "Of each run")->capture_default_str()->check(CLI::Range(2, 10'000));
    drift.add_option("--segment-steps", options.segment_steps)->capture_default_str()->check(CLI::Range(2, 10'000));
}

CLI::App* add_drift(CLI::App& app, DriftStudyOptions& options) {
    CLI::App* drift = app.add_subcommand(
        "drift", "How far native training lies from its canonical replay, and cheats, against thresholds"
    );
    add_drift_files(*drift, options.run);
    drift->add_option("--models", options.models, "Which of gpt, cnn, mlp")->capture_default_str();
    drift->add_option("--seeds", options.seeds, "Runs of each source of drift")->capture_default_str();
    drift->add_option("--cheat-seeds", options.cheat_seeds, "Runs of each cheat")->capture_default_str();
    drift->add_option("--resamples", options.resamples, "Simulated honest segments")->capture_default_str();
    return drift;
}

CLI::App* add_drift_run(CLI::App& app, DriftOptions& options, bool& cheats) {
    CLI::App* drift = app.add_subcommand("drift-run", "One run, replayed and measured; used by drift");
    add_drift_files(*drift, options);
    drift->add_option("--model", options.model)->check(CLI::IsMember({"gpt", "cnn", "mlp"}));
    drift->add_option("--seed", options.seed);
    drift->add_option("--threads", options.threads);
    drift->add_option("--products", options.products)->check(CLI::IsMember({"f32", "bf16", "f64"}));
    drift->add_option("--order", options.order)->check(CLI::IsMember({"given", "reversed"}));
    drift->add_flag("--references", options.references);
    drift->add_option("--threshold-ppb", options.threshold_ppb);
    drift->add_flag("--cheats", cheats);
    return drift;
}

int run(int argc, char** argv) {
    CLI::App app("Measures Assay side by side and prints ratios as JSON.", "assay-bench");
    app.require_subcommand(1);
    ReplayOptions replay_options;
    CanonicalOptions canonical_options;
    CurveOptions curve_options;
    PeakOptions peak_options;
    const CLI::App* replay = add_replay(app, replay_options);
    add_canonical(app, canonical_options);
    const CLI::App* curves = add_curves(app, curve_options);
    const CLI::App* peak = add_peak(app, peak_options);
    DriftStudyOptions study_options;
    DriftOptions drift_options;
    bool is_cheating = false;
    const CLI::App* drift = add_drift(app, study_options);
    const CLI::App* drift_run = add_drift_run(app, drift_options, is_cheating);
    CLI11_PARSE(app, argc, argv);
    try {
        if (peak->parsed()) {
            std::cout << run_peak(peak_options) << "\n";
            return 0;
        }
        if (drift_run->parsed()) {
            std::cout << (is_cheating ? run_cheats(drift_options) : run_drift(drift_options)) << "\n";
            return 0;
        }
        if (drift->parsed()) {
            std::cout << run_drift_study(study_options) << "\n";
            return 0;
        }
        const nlohmann::json result = curves->parsed()   ? run_curves(curve_options)
                                      : replay->parsed() ? run_replay_bench(replay_options)
                                                       : run_canonical_bench(canonical_options);
        std::cout << result.dump(2) << "\n";
        return 0;
    } catch (const std::exception& failure) {
        std::cerr << "assay-bench: " << failure.what() << "\n";
        return 1;
    }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
    using namespace assay::bench;
    return run(argc, argv);
}
