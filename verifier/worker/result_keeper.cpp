// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/result_keeper.hpp>

#include <contracts/retention/retention.hpp>
#include <core/dispute/player.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/worker/task_artifacts.hpp>

namespace assay::worker {
namespace {

/// Looking for a result that is not there parses its program each time.
constexpr std::chrono::seconds kLookAgain{2};

/// The cache of what was fetched may drop the program; the store keeps it for as long as the result.
void store_program(WorkerContext& context, const contracts::Task& task) {
    const contracts::ArtifactRef& program = task.spec.program_artifact;
    if (context.store.has(program.sha256)) {
        return;
    }
    const auto file = context.obtain(
        task.id, artifacts::reference_to(program), artifacts::kMaxProgramBytes, artifacts::Urgency::kDuty
    );
    if (file) {
        context.journal.note_made(task.id, context.store.put(file->view()), file->size_bytes());
    }
}

}  // namespace

std::optional<KeptResult> hold_result(WorkerContext& context, const contracts::Task& task) {
    const contracts::Checkpoint last = context.chain.checkpoint(task.id, task.checkpoints - 1);
    auto kept = load_result(task.spec, last, context.source_of(task.id, artifacts::Urgency::kDuty));
    if (!kept) {
        context.decline(task.id, kept.error());
        return std::nullopt;
    }
    context.told.erase(task.id);
    store_program(context, task);
    if (!context.store.has(kept->name)) {
        const auto leaves = artifacts::leaves_of(kept->state);
        const auto [artifact, size_bytes] = artifacts::store_state(kept->program, kept->state, leaves, context.store);
        context.journal.note_made(task.id, artifact, size_bytes);
        context.reporter.event({{"event", "result_stored"}, {"task", to_hex(task.id.view())}});
    }
    return *std::move(kept);
}

std::optional<KeptResult> ResultKeeper::find(const contracts::Task& task) {
    const auto now = std::chrono::steady_clock::now();
    const auto missed = missed_.find(task.id);
    if (missed != missed_.end() && now < missed->second + kLookAgain) {
        return std::nullopt;
    }
    auto kept = hold_result(context_, task);
    if (kept) {
        held_.insert(task.id);
        missed_.erase(task.id);
    } else {
        missed_[task.id] = now;
    }
    return kept;
}

bool ResultKeeper::show(const contracts::Task& task) {
    const auto kept = find(task);
    if (!kept) {
        return false;
    }
    const contracts::DrawnTile asked = contracts::shown_tile(task);
    const std::uint64_t tiles = canonical::tile_count(kept->state[asked.tensor].shape);
    const contracts::Keeping& keeping = task.keeping.value();
    const bool sent = context_.chain.send(contracts::ShowResult{
        .task = task.id, .opening = dispute::open_tile(kept->state, asked.tensor, asked.number % tiles)});
    if (sent) {
        context_.reporter.event(
            {{"event", "result_shown"},
             {"task", to_hex(task.id.view())},
             {"show", keeping.shows},
             {"of", keeping.shows_due}}
        );
    }
    return sent;
}

bool ResultKeeper::attend() {
    for (const auto& [id, task] : context_.chain.kept()) {
        const bool is_due = task.keeping.value().seed && task.deadline.value > context_.chain.height();
        if (is_due && show(task)) {
            return true;
        }
        if (!is_due && !held_.contains(id)) {
            find(task);
        }
    }
    return false;
}

}  // namespace assay::worker
