// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/bench/measure.hpp>
#include <verifier/compile/program/graph_builder.hpp>

/// What the benches of assay-bench share. Each compares side by side in one run and gives JSON.
namespace assay::bench {

std::string read_file(const std::string& path);
/// "XG-21" and so on; throws for another name.
program::Profile profile_named(const std::string& name);

struct ReplayOptions {
    std::string text = "/usr/share/common-licenses/GPL-3";
    std::uint64_t segment_steps = 25;
    int repeats = 9;
    int threads = 1;
    std::uint32_t hidden = 128;
};
/// A verifier's replay over the solver's training, and the share of training that commitments cost.
nlohmann::json run_replay_bench(const ReplayOptions& options);

struct CanonicalOptions {
    std::string device = "cpu";
    int threads = 1;
    int repeats = 15;
    std::uint64_t segment_steps = 100;  ///< between checkpoints, for the share of commitments
    std::vector<std::string> models{"gpt", "cnn", "mlp"};
    std::vector<std::string> profiles{"XG-21", "XG-24", "XG-8", "XG-7"};
    bool only_models = false;
};
/// Canonical training over the same models in plain libtorch, and canonical products over SGEMM.
nlohmann::json run_canonical_bench(const CanonicalOptions& options);

struct CurveOptions {
    std::string model = "gpt";
    std::string data = "/usr/share/common-licenses/GPL-3";  ///< text for gpt, else a dataset of digits
    std::string device = "cpu";
    int threads = 1;
    std::uint64_t steps = 300;
    std::uint64_t seeds = 3;
    std::vector<std::string> profiles{"XG-21", "XG-8", "XG-7"};
};
/// The losses of native and canonical training from the same starts over the same batches.
nlohmann::json run_curves(const CurveOptions& options);

struct PeakOptions {
    std::string side = "canonical";  ///< or "native"
    std::string model = "gpt";
    std::string profile = "XG-21";
    int threads = 1;
};
/// MiB that a few steps of one side need at their peak, beyond what the process had before. One call to a process.
double run_peak(const PeakOptions& options);

}  // namespace assay::bench
