// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/result_keeper.hpp>

#include <contracts/retention/retention.hpp>
#include <core/dispute/player.hpp>
#include <verifier/artifacts/sealing.hpp>
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

std::optional<artifacts::StoredFile> hold_sealed_result(WorkerContext& context, const contracts::Task& task) {
    const contracts::Checkpoint last = context.chain.checkpoint(task.id, task.checkpoints - 1);
    const contracts::SealedFile file = last.sealed.value();
    auto found = context.obtain_sealed(task.id, "the result", artifacts::reference_to(file, last.location));
    if (!found) {
        context.decline(task.id, found.error());
        return std::nullopt;
    }
    context.told.erase(task.id);
    if (!context.store.has(file.root)) {  // it was fetched, and the cache may drop it
        artifacts::ContentStore::Writer writer(context.store, file.root);
        writer.write(found->view());
        writer.finish();
        context.journal.note_made(task.id, file.root, file.size);
        context.reporter.event({{"event", "result_stored"}, {"task", to_hex(task.id.view())}});
    }
    return *std::move(found);
}

bool holds_result(WorkerContext& context, const contracts::Task& task) {
    return task.spec.privacy ? hold_sealed_result(context, task).has_value() : hold_result(context, task).has_value();
}

template <class Look>
auto ResultKeeper::find(const contracts::Task& task, const Look& look) -> decltype(look()) {
    const auto now = std::chrono::steady_clock::now();
    const auto missed = missed_.find(task.id);
    if (missed != missed_.end() && now < missed->second + kLookAgain) {
        return {};
    }
    auto kept = look();
    if (kept) {
        held_.insert(task.id);
        missed_.erase(task.id);
    } else {
        missed_[task.id] = now;
    }
    return kept;
}

std::optional<contracts::DrawnOpening> ResultKeeper::open(
    const contracts::Task& task, const contracts::DrawnTile& asked
) {
    if (!task.spec.privacy) {
        const auto kept = find(task, [&] { return hold_result(context_, task); });
        if (!kept) {
            return std::nullopt;
        }
        const std::uint64_t tiles = canonical::tile_count(kept->state[asked.tensor].shape);
        return dispute::open_tile(kept->state, asked.tensor, asked.number % tiles);
    }
    const auto file = find(task, [&] { return hold_sealed_result(context_, task); });
    if (!file) {
        return std::nullopt;
    }
    const Hash256 root = context_.chain.checkpoint(task.id, task.checkpoints - 1).sealed.value().root;
    auto piece = artifacts::open_drawn_piece(*file, root, asked.tensor, asked.number, threads_of(context_.options));
    if (!piece) {
        artifacts::ContentStore::quarantine(*file);  // our disk has damaged it: another place may have it
        context_.reporter.trouble("the result of task " + to_hex(task.id.view()) + " is damaged on this disk");
        return std::nullopt;
    }
    return *std::move(piece);
}

bool ResultKeeper::show(const contracts::Task& task) {
    auto opening = open(task, contracts::shown_tile(task));
    if (!opening) {
        return false;
    }
    const contracts::Keeping& keeping = task.keeping.value();
    const bool sent = context_.chain.send(contracts::ShowResult{.task = task.id, .opening = *std::move(opening)});
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
            find(task, [this, &kept = task] { return holds_result(context_, kept); });
        }
    }
    return false;
}

}  // namespace assay::worker
