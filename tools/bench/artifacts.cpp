// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/commands.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/bench/measure.hpp>
#include <tools/bench/process_memory.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/state_io.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr std::uint32_t kRowsOfMiB = 256;  // with rows of 1,024 f32

struct ArtifactsOptions {
    std::vector<std::uint32_t> mib{256, 1434};
    std::string directory = fs::temp_directory_path() / "assay-bench-artifacts";
    std::string stage;  ///< empty: all, each in a process of its own
    int repeats = 3;
};

/// A state of so many MiB, in tensors of 16 MiB.
program::Program program_of(std::uint32_t mib) {
    constexpr std::uint32_t kTensorMiB = 16;
    program::Program program;
    for (std::uint32_t left = mib; left > 0; left -= std::min(left, kTensorMiB)) {
        program.state.push_back(
            {.name = "tensor." + std::to_string(program.state.size()),
             .type = {canonical::DType::kF32, {std::min(left, kTensorMiB) * kRowsOfMiB, 1024}}}
        );
    }
    return program;
}

std::vector<canonical::Tensor> make_state(const program::Program& program) {
    std::vector<canonical::Tensor> state;
    std::uint64_t word = 1;
    for (const auto& [name, type] : program.state) {
        state.push_back(canonical::make_tensor(type.dtype, type.shape));
        for (std::size_t i = 0; i < state.back().data.size(); i += 4) {
            word = word * 6364136223846793005U + 1442695040888963407U;
            state.back().data[i] = static_cast<std::uint8_t>(word >> 56U);
            state.back().data[i + 1] = static_cast<std::uint8_t>(word >> 48U);
        }
    }
    return state;
}

struct Measured {
    double seconds = 0;
    std::string result;
};

/// What a solver does at the end of a segment, without the state root.
Measured store(const ArtifactsOptions& options, const program::Program& program) {
    const auto state = make_state(program);
    const artifacts::Leaves leaves = artifacts::leaves_of(state);
    const artifacts::ContentStore remote(fs::path(options.directory) / "remote");
    const Stopwatch watch;
    const auto stored = artifacts::store_state(program, state, leaves, remote);
    return {watch.seconds(), to_hex(stored.hash.view())};
}

artifacts::ContentStore::Entry only_entry(const artifacts::ContentStore& store) {
    const auto entries = store.entries();
    if (entries.size() != 1) {
        throw std::runtime_error(store.directory().string() + " does not have one artifact");
    }
    return entries.front();
}

/// What a verifier does: from a server on this machine to its own disk.
Measured fetch(const ArtifactsOptions& options, const program::Program& program) {
    const artifacts::ContentStore remote(fs::path(options.directory) / "remote");
    const artifacts::ContentStore local(fs::path(options.directory) / "local");
    const artifacts::ArtifactServer server({}, remote);
    const Hash256 root = only_entry(remote).hash;  // ART-10: it is the file's name
    const artifacts::Reference artifact =
        artifacts::reference_to(artifacts::expected_state(program, root), server.url());
    const Stopwatch watch;
    const auto file = artifacts::fetch(artifact, artifact.size_bytes, local);
    if (!file) {
        throw std::runtime_error(artifacts::to_string(file.error()));
    }
    return {watch.seconds(), to_hex(root.view())};
}

/// And then: from its disk to tensors, with the state root checked.
Measured load(const ArtifactsOptions& options, const program::Program& program) {
    const artifacts::ContentStore local(fs::path(options.directory) / "local");
    const Stopwatch watch;
    const Hash256 name = only_entry(local).hash;
    const auto file = local.open(name);
    if (!file) {
        throw std::runtime_error("the checkpoint is not there");
    }
    const auto state = artifacts::decode_state(program, *file);
    if (!state) {
        throw std::runtime_error("the artifact is no state");
    }
    const Hash256 root = artifacts::state_root_of(*state);
    if (root != name) {
        throw std::runtime_error("the checkpoint is not what was stored");
    }
    return {watch.seconds(), to_hex(root.view())};
}

json run_stage(const ArtifactsOptions& options) {
    const long before = peak_kib();  // libraries
    const program::Program program = program_of(options.mib.at(0));
    const Measured measured = options.stage == "store"   ? store(options, program)
                              : options.stage == "fetch" ? fetch(options, program)
                                                         : load(options, program);
    return {{"s", measured.seconds}, {"peak_kib", peak_kib() - before}, {"result", measured.result}};
}

json run_all(const ArtifactsOptions& options) {
    json out = {{"bench", "artifacts"}, {"repeats", options.repeats}, {"sizes", json::array()}};
    for (const std::uint32_t mib : options.mib) {
        std::map<std::string, std::vector<double>> seconds;
        std::map<std::string, std::vector<double>> memory;
        for (int i = 0; i < options.repeats; ++i) {
            fs::remove_all(options.directory);
            for (const char* stage : {"store", "fetch", "load"}) {
                const json measured = json::parse(output_of(
                    "artifacts --mib " + std::to_string(mib) + " --stage " + stage + " --directory " + options.directory
                ));
                seconds[stage].push_back(measured.at("s").get<double>());
                memory[stage].push_back(measured.at("peak_kib").get<double>() / 1024 / mib);
            }
        }
        fs::remove_all(options.directory);
        json row = {{"state_mib", mib}};
        for (const auto& [stage, values] : seconds) {
            row[stage] = {{"s", spread(values)}, {"peak_over_state", spread(memory[stage])}};
        }
        out["sizes"].push_back(row);
    }
    return out;
}

}  // namespace

void add_artifacts_command(Commands& commands) {
    const auto held = std::make_shared<ArtifactsOptions>();
    CLI::App* const artifacts =
        commands.add("artifacts", "Checkpoints to the disk, over HTTP and back: seconds and memory", [held] {
            return (held->stage.empty() ? run_all(*held) : run_stage(*held)).dump(2);
        });
    artifacts->add_option("--mib", held->mib, "Sizes of states")->capture_default_str();
    artifacts->add_option("--directory", held->directory, "Where the files go; emptied before and after")
        ->capture_default_str();
    artifacts->add_option("--repeats", held->repeats, "Of each size")->capture_default_str();
    artifacts->add_option("--stage", held->stage, "One of store, fetch, load, in this process");
}

}  // namespace assay::bench
