// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/workload.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <core/base/integers.hpp>
#include <tools/demo/cast.hpp>

namespace assay::demo {
namespace {

/// Planning a large model's step, and hashing its outputs for a dispute, take longer than a replay at the speed of its
/// class on a chain whose blocks last 100 ms. Nobody waits for the rest of a span when everybody has acted.
constexpr std::uint32_t kLongerSpans = 4;

/// DGC corrects the momentum of SGD.
constexpr const char* kReplicaOptimizer = "kind = \"sgd\"\nlearning_rate = 0.1\nmomentum = 0.9\nclip_norm = 1.0\n";

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> kWorkloads{
        {.name = "char",
         .model = "kind = \"char\"\ncontext = 16\nembedding = 32\nhidden = 128\n",
         .batch_size = 64,
         .optimizer = "kind = \"adam\"\nlearning_rate = 0.003\n"},
        {.name = "gpt10m",
         .model = "kind = \"gpt\"\ncontext = 256\nlayers = 6\nheads = 6\nwidth = 384\n",
         .batch_size = 2,
         .optimizer = "kind = \"adamw\"\nlearning_rate = 0.0003\nweight_decay = 0.1\nclip_norm = 1.0\n",
         .profile = "XG-11",
         .steps = 12,
         .segments = 4,
         .training_blocks = 3'000,
         .span_factor = kLongerSpans,
         .patience = std::chrono::minutes{10}},
        {.name = "gpt2-small",
         .model = "kind = \"gpt\"\ncontext = 1024\nlayers = 12\nheads = 12\nwidth = 768\n",
         .batch_size = 1,
         .optimizer = "kind = \"adamw\"\nlearning_rate = 0.0006\nweight_decay = 0.1\nclip_norm = 1.0\n",
         .profile = "XG-11",
         .steps = 6,
         .segments = 3,
         .training_blocks = 36'000,
         .span_factor = kLongerSpans,
         .needs_tokenizer = true,
         .is_alone = true,
         .memory = "9GiB",
         .patience = std::chrono::minutes{120}},
    };
    return kWorkloads;
}

constexpr std::uint32_t kRounds = 2;  // of local replicas; a multiple of the fragments

/// A text to train on, and the last tenth of it to be scored on.
struct TextParts {
    std::string training;
    std::string holdout;
};

/// Cut at the end of a line; of the hold-out, lines with characters that the training lacks are left out.
TextParts split_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::size_t cut = text.find('\n', text.size() - text.size() / 10);
    if (cut == std::string::npos) {
        throw std::runtime_error(path.string() + " has no line to be held out");
    }
    TextParts parts{text.substr(0, cut + 1), {}};
    std::istringstream lines(text.substr(cut + 1));
    for (std::string line; std::getline(lines, line);) {
        if (line.find_first_not_of(parts.training) == std::string::npos) {
            parts.holdout += line + "\n";
        }
    }
    return parts;
}

}  // namespace

const std::vector<std::string>& workload_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const Workload& workload : workloads()) {
            names.push_back(workload.name);
        }
        return names;
    }();
    return kNames;
}

const Workload* find_workload(std::string_view name) {
    const auto found = std::find_if(workloads().begin(), workloads().end(), [name](const Workload& workload) {
        return workload.name == name;
    });
    return found == workloads().end() ? nullptr : &*found;
}

const Workload& workload_of(const DemoOptions& options) {
    static const Workload kOwnTask{
        .name = "own task", .model = {}, .span_factor = kLongerSpans, .patience = std::chrono::minutes{30}};
    if (options.task) {
        return kOwnTask;
    }
    const Workload* found = find_workload(options.model);
    if (found == nullptr) {
        throw std::runtime_error("there is no model " + options.model);
    }
    return *found;
}

std::string layout_of(std::string_view parallel) {
    if (parallel == kReplicasByDgc) {
        return "dp";
    }
    return trains_replicas(parallel) ? "turns" : std::string(parallel);
}

bool is_together(const DemoOptions& options) { return options.accounts && !is_local(options.parallel); }

std::string settings_of(const Workload& workload, const DemoOptions& options) {
    const bool by_dgc = options.parallel == kReplicasByDgc;
    const std::uint32_t parts = by_dgc ? options.workers : 1;
    std::uint32_t batch_size = div_ceil(workload.batch_size, parts) * parts;
    if (is_together(options)) {
        // Each part of a sum over the batch is of 32 samples, for which its member can answer.
        // More of them, so that who is slow can have fewer than the others.
        const std::uint32_t parts_each = options.slow ? 4 : 1;
        batch_size =
            std::max(batch_size, options.workers * parts_each * static_cast<std::uint32_t>(canonical::kTileDim));
    }
    std::string out = "[model]\n" + workload.model + "batch_size = " + std::to_string(batch_size) + "\n\n[optimizer]\n";
    out += by_dgc ? kReplicaOptimizer : workload.optimizer;
    if (trains_replicas(options.parallel)) {
        out +=
            "\n[replicas]\ncount = " + std::to_string(options.workers) + "\nexchange = \"" + options.parallel + "\"\n";
        out += options.parallel == kStreaming ? "fragments = " + std::to_string(kStreamedFragments) + "\n" : "";
    }
    return out + "\n[numerics]\nprofile = \"" + workload.profile + "\"\n";
}

std::uint64_t interval_of(const Workload& workload, const DemoOptions& options) {
    const std::uint64_t steps = options.steps.value_or(workload.steps);
    const std::uint32_t segments = is_local(options.parallel) ? kRounds * options.workers : workload.segments;
    return div_ceil(steps, std::uint64_t{segments});
}

void write_task(
    const std::filesystem::path& directory, const Workload& workload, const DemoOptions& options, Fraud fraud,
    bool tolerance
) {
    const std::string tokenizer =
        options.tokenizer ? "tokenizer = \"" + std::filesystem::absolute(*options.tokenizer).string() + "\"\n" : "";
    std::string data = "[data]\ntext = \"" + std::filesystem::absolute(options.text).string() + "\"\n" + tokenizer;
    if (cast_of(fraud).has_evaluation) {
        const TextParts parts = split_text(options.text);
        std::ofstream(directory / "training.txt", std::ios::binary) << parts.training;
        std::ofstream(directory / "holdout.txt", std::ios::binary) << parts.holdout;
        data =
            "[data]\ntext = \"training.txt\"\n" + tokenizer + "\n[evaluation]\ntext = \"holdout.txt\"\nbatches = 4\n";
    }
    const std::uint64_t interval = interval_of(workload, options);
    // A segment for each replica's turn.
    const std::uint64_t steps =
        is_local(options.parallel) ? interval * kRounds * options.workers : options.steps.value_or(workload.steps);
    // Shares are whole seats, so with more seats they can differ.
    const std::uint64_t seats = options.slow ? contracts::kMaxSeats : options.workers;
    // The machines of a cell share this one's cores.
    const std::uint32_t training_blocks = workload.training_blocks * options.workers;
    std::ofstream(directory / "task.toml")
        << "title = \"" << workload.name << " (" << to_string(fraud) << ")\"\n"
        << "steps = " << steps << "\n"
        << (options.is_private ? "private = true\n" : "")
        << (options.accounts ? "members = " + std::to_string(seats) + "\n" : "") << "checkpoint_interval = " << interval
        << "\n"
        << "seed = " << options.seed << "\n"
        << (tolerance ? "mode = \"tolerance\"\n" : "") << "reward = \"20 ASY\"\nverification_fee = \"3 ASY\"\n"
        << "training_blocks = " << training_blocks << "\n\n"
        << settings_of(workload, options) << "\n"
        << data;
}

void check_own_task(const contracts::TaskSpec& spec, contracts::Mode mode) {
    if (spec.mode != mode) {
        throw std::runtime_error(
            std::string("the task's mode is \"") + contracts::to_string(spec.mode) + "\"; give --mode " +
            contracts::to_string(spec.mode)
        );
    }
    if (spec.parent) {
        throw std::runtime_error(
            "the task continues another one, which is not on the demo's chain; leave out its parent"
        );
    }
}

}  // namespace assay::demo
