// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/workload.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <tools/demo/cast.hpp>

namespace assay::demo {
namespace {

/// Planning a large model's step, and hashing its outputs for a dispute, take longer than a replay at the speed of its
/// class on a chain whose blocks last 100 ms. Nobody waits for the rest of a span when everybody has acted.
constexpr std::uint32_t kLongerSpans = 4;

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> kWorkloads{
        {.name = "char",
         .settings = "[model]\nkind = \"char\"\ncontext = 16\nembedding = 32\nhidden = 128\nbatch_size = 64\n\n"
                     "[optimizer]\nkind = \"adam\"\nlearning_rate = 0.003\n"},
        {.name = "gpt10m",
         .settings = "[model]\nkind = \"gpt\"\ncontext = 256\nlayers = 6\nheads = 6\nwidth = 384\nbatch_size = 2\n\n"
                     "[optimizer]\nkind = \"adamw\"\nlearning_rate = 0.0003\nweight_decay = 0.1\nclip_norm = 1.0\n\n"
                     "[numerics]\nprofile = \"XG-11\"\n",
         .steps = 12,
         .segments = 4,
         .training_blocks = 3'000,
         .span_factor = kLongerSpans,
         .patience = std::chrono::minutes{10}},
        {.name = "gpt2-small",
         .settings = "[model]\nkind = \"gpt\"\ncontext = 1024\nlayers = 12\nheads = 12\nwidth = 768\nbatch_size = 1\n\n"
                     "[optimizer]\nkind = \"adamw\"\nlearning_rate = 0.0006\nweight_decay = 0.1\nclip_norm = 1.0\n\n"
                     "[numerics]\nprofile = \"XG-11\"\n",
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
        .name = "own task", .settings = {}, .span_factor = kLongerSpans, .patience = std::chrono::minutes{30}};
    if (options.task) {
        return kOwnTask;
    }
    const Workload* found = find_workload(options.model);
    if (found == nullptr) {
        throw std::runtime_error("there is no model " + options.model);
    }
    return *found;
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
    const std::uint64_t steps = options.steps.value_or(workload.steps);
    std::ofstream(directory / "task.toml")
        << "title = \"" << workload.name << " (" << to_string(fraud) << ")\"\n"
        << "steps = " << steps << "\n"
        << "checkpoint_interval = " << (steps + workload.segments - 1) / workload.segments << "\n"
        << "seed = " << options.seed << "\n"
        << (tolerance ? "mode = \"tolerance\"\n" : "") << "reward = \"20 ASY\"\nverification_fee = \"3 ASY\"\n"
        << "training_blocks = " << workload.training_blocks << "\n\n"
        << workload.settings << "\n"
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
