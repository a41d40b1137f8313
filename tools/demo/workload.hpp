// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <contracts/state/spec.hpp>
#include <tools/demo/demo.hpp>

namespace assay::demo {

/// What the demo's tasks train, and what it takes to do so on one machine.
struct Workload {
    std::string name;              ///< on the command line
    std::string model;             ///< section [model] of task.toml without its heading and without the batch size
    std::uint32_t batch_size = 0;  ///< 0: a user's own task
    std::string optimizer{};       ///< section [optimizer] without its heading
    std::string profile = "XG-21";
    std::uint64_t steps = 200;
    std::uint32_t segments = 8;
    std::uint32_t training_blocks = 600;
    /// By how much the spans of verdicts, attestations and moves are longer than those of a small model.
    std::uint32_t span_factor = 1;
    bool needs_tokenizer = false;
    bool is_alone = false;  ///< one task at a time: two solvers and those who check them have no room side by side
    std::string memory{};   ///< limit of each worker's --memory; empty: none
    std::chrono::minutes patience{5};  ///< until all tasks have ended
};

/// Returns the names of all workloads, for help and error messages. The first is the default.
const std::vector<std::string>& workload_names();
/// Returns the workload with that name, or nullptr.
const Workload* find_workload(std::string_view name);
/// Returns what a demo with these options trains: a user's own task, or the model that is named. Throws
/// std::runtime_error if there is no such model.
const Workload& workload_of(const DemoOptions& options);

/// Ways to train on several machines that are programs of their own, in which each machine trains one replica: with
/// Deep Gradient Compression, by DiLoCo, by SparseLoCo, and by Streaming DiLoCo.
inline constexpr std::string_view kReplicasByDgc = "dgc";
inline constexpr std::string_view kDiloco = "diloco";
inline constexpr std::string_view kSparseLoco = "sparseloco";
inline constexpr std::string_view kStreaming = "streaming";
inline constexpr std::uint32_t kStreamedFragments = 2;
constexpr bool is_local(std::string_view parallel) {
    return parallel == kDiloco || parallel == kSparseLoco || parallel == kStreaming;
}
constexpr bool trains_replicas(std::string_view parallel) { return parallel == kReplicasByDgc || is_local(parallel); }
/// Returns the name of the layout in which a cell trains.
std::string layout_of(std::string_view parallel);

/// Returns the sections [model], [optimizer], [replicas] and [numerics] of a task. If `options.parallel` trains
/// replicas, there are as many as workers; with DGC SGD is the optimizer, and the batch is as large as it has to be for
/// equal parts.
std::string settings_of(const Workload& workload, const DemoOptions& options);

/// Whether the accounts of a group compute each step together, rather than local replicas in turn.
bool is_together(const DemoOptions& options);

/// Steps of a segment; of local replicas, of a turn.
std::uint64_t interval_of(const Workload& workload, const DemoOptions& options);

/// Writes a task directory that trains `workload` on the text of `options`. Tasks of frauds that have an evaluation are
/// trained on nine tenths of the text and scored on lines of the rest. Throws std::runtime_error if the text has no
/// line to hold out.
void write_task(
    const std::filesystem::path& directory, const Workload& workload, const DemoOptions& options, Fraud fraud,
    bool tolerance
);

/// Throws std::runtime_error if a user's own task is not in the mode that the demo was told, or continues another task.
void check_own_task(const contracts::TaskSpec& spec, contracts::Mode mode);

}  // namespace assay::demo
