// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/bench/measure.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/program.hpp>

/// The benchmarks of assay-bench that train. Each compares two sides in the same run and returns JSON.
namespace assay::bench {

std::string read_file(const std::string& path);
/// Returns the profile with this name, "XG-21" and so on; throws for another name.
program::Profile profile_named(const std::string& name);

struct ReplayOptions {
    std::string text = "/usr/share/common-licenses/GPL-3";
    std::uint64_t segment_steps = 25;
    int repeats = 9;
    int threads = 1;
    std::uint32_t hidden = 128;
};
/// Measures the time of a verifier's replay relative to the solver's training, and the share of training spent on
/// commitments.
nlohmann::json run_replay_bench(const ReplayOptions& options);

struct CanonicalOptions {
    std::string device = "cpu";
    int threads = 1;
    int repeats = 15;
    std::uint64_t memory_bytes = 0;     ///< of the canonical side; 0: no limit
    std::uint64_t segment_steps = 100;  ///< between checkpoints; for the share of commitments
    std::vector<std::string> models{"gpt", "gpt10m", "cnn", "mlp", "resnet18"};
    std::vector<std::string> profiles{"XG-21", "XG-24", "XG-11", "XG-8", "XG-7"};
    bool only_models = false;
    std::string torch{};  ///< a Python interpreter with another PyTorch to compare with, too
    std::string torch_script = "tools/bench/torch_steps.py";
};
/// Compares canonical training with the same models in plain libtorch and, if there is another PyTorch, in that:
/// `ratio` is over the faster in fp32, which `baseline` names, and `ratio_bf16` over the other PyTorch in bfloat16.
/// Compares canonical matrix products with SGEMM.
nlohmann::json run_canonical_bench(const CanonicalOptions& options);

/// Replicas that exchange by DGC, DiLoCo, Streaming DiLoCo and SparseLoCo, beside data parallelism over as many. All
/// runs of a seed start from the same parameters, and the parameters that replicas share are judged by held-out rows.
struct ReplicaOptions {
    std::uint32_t count = 0;  ///< 0: none, and all other runs instead
    /// dense: AdamW with the batches of all replicas, beside diloco, streaming and sparseloco. sgd: SGD with momentum,
    /// beside dgc.
    std::vector<std::string> exchanges{"dense", "diloco", "diloco-int4", "streaming", "sparseloco", "sgd", "dgc"};
    std::uint32_t batch = 0;            ///< rows of a replica's batch; 0: the model's
    std::uint64_t parent_steps = 1000;  ///< of AdamW with the batches of all, before all runs
    std::uint32_t turn_steps = 100;     ///< that a local replica trains on its own, and between two judgements
    std::uint32_t fragments = 4;        ///< of streaming, whose turns have so many times fewer steps
    float learning_rate = 0.001F;       ///< of AdamW
    float outer_rate = 0.7F;            ///< of diloco and streaming
    float outer_momentum = 0.9F;
    float sparse_outer_rate = 1.0F;  ///< of sparseloco, without momentum
    float sgd_rate = 0.1F;           ///< of sgd and dgc
    float momentum = 0.9F;
    float clip_norm = 1.0F;      ///< of sgd
    float dgc_clip_norm = 4.0F;  ///< of dgc, as the program has it: a replica's limit is this over sqrt(count)
    std::uint32_t block = 384;   ///< of dgc
    /// The same in the first quarter of the steps, each for an equal part of it: the selection becomes sparser by and
    /// by.
    std::vector<std::uint32_t> warmup_blocks{4, 16, 64, 256};
};

/// MLPs whose activations cross a boundary in few bits (AQ-SGD), with AdamW, beside the same without one.
struct BoundaryOptions {
    std::uint32_t after = 0;  ///< the hidden layer; 0: none
    std::vector<std::uint32_t> bits{2, 3, 4};
    std::uint32_t gradient_bits = 8;
    float learning_rate = 0.001F;
};

struct CurveOptions {
    std::string model = "gpt";
    std::string data = "/usr/share/common-licenses/GPL-3";  ///< a text for GPTs, else a dataset of digits
    std::string device = "cpu";
    int threads = 1;
    std::uint64_t steps = 300;
    std::uint64_t seeds = 3;
    std::uint64_t first_seed = 1;  ///< of replicas
    bool all_seeds = false;        ///< each profile for each seed, not XG-21 alone
    std::vector<std::string> profiles{"XG-21", "XG-11", "XG-8", "XG-7"};
    std::string out;  ///< where runs are kept, so that a later call goes on; empty: nowhere
    ReplicaOptions replicas{};
    BoundaryOptions boundary{};
    std::vector<std::string> moments{};  ///< of XG-21: f32, bf16, int8, instead of all other runs
};
/// Returns the losses of native and canonical training, or of programs of several replicas, from the same initial
/// values on the same batches.
nlohmann::json run_curves(const CurveOptions& options);

struct DisputeOptions {
    bool full = false;  ///< GPT-2 small too, with a head of its own
    int threads = 1;
    std::string profile = "XG-21";
    std::string only{};        ///< one model, in this process
    bool only_trains = false;  ///< that model's training alone
};
/// Measures what an honest party to a dispute needs, by the size of the model: an array of one object for each.
nlohmann::json run_dispute_bench(const DisputeOptions& options);

struct MemoryOptions {
    std::vector<std::string> models{"gpt", "gpt10m", "cnn", "mlp", "resnet18"};
    std::string profile = "XG-21";
    int threads = 1;
    int steps = 3;  ///< that are measured; 0: plans alone
};
/// Returns what the plans of the models' steps take, the fastest ones and those that need the least, and what a process
/// takes that runs them.
nlohmann::json run_memory_bench(const MemoryOptions& options);
/// Returns the program of one of run_canonical_bench's models; throws for another name.
program::Program canonical_program(const std::string& model, const std::string& profile);

struct PeakOptions {
    std::string side = "canonical";  ///< "canonical" or "native"
    std::string model = "gpt";
    std::string profile = "XG-21";
    int threads = 1;
    int steps = 3;
    std::uint64_t memory_bytes = 0;  ///< of the canonical side; 0: no limit
};
/// Returns the peak memory, in MiB, of a few steps of one side beyond what the process used before, and the seconds of
/// the fastest. Only one call per process.
nlohmann::json run_peak(const PeakOptions& options);

}  // namespace assay::bench
