// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/store_keeper.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

#include <verifier/worker/losses.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::seconds kTidyEvery{10};
/// What the chain still needs is asked about again after so long.
constexpr std::uint64_t kAskAgainS = 600;

std::uint64_t unix_seconds() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace

Journal::Times retention_of(const contracts::Task& task, const KeepOptions& keep, std::uint64_t now_s) {
    const bool is_kept = task.state == contracts::TaskState::kKept;
    const bool is_settled = is_kept || task.state == contracts::TaskState::kSettled;
    return {
        .free_at = now_s + keep.checkpoints_s,
        .result_free_at = now_s + std::max(is_settled ? keep.results_s : 0, keep.checkpoints_s),
        .result_from = contracts::segment_count(task),
        .keeps_made = is_kept};
}

std::vector<Journal::File> due_files(const Journal& journal, std::uint64_t now_s) {
    std::vector<Journal::File> out;
    for (const auto& [file, retained] : journal.retained()) {
        if (retained.free_at <= now_s) {
            out.push_back(file);
        }
    }
    return out;
}

std::uint64_t free_file(Journal& journal, const artifacts::ContentStore& store, const Journal::File& file) {
    std::uint64_t freed = 0;
    if (!journal.is_shared(file)) {
        std::error_code error;
        for (const auto& path : {store.path(file.second), store.leaves_path(store.path(file.second))}) {
            const std::uint64_t size_bytes = std::filesystem::file_size(path, error);
            freed += error ? 0 : size_bytes;
        }
        store.remove(file.second);
    }
    journal.drop_retained(file);
    return freed;
}

void StoreKeeper::retire(const contracts::Task& task) {
    context_.journal.retire(task.id, retention_of(task, context_.options.keep, unix_seconds()));
}

bool StoreKeeper::may_free(const contracts::TaskId& task, bool is_result) {
    try {
        const auto record = context_.chain.rpc().task(task);
        const bool is_over =
            record && (is_result ? contracts::is_terminal(record->state) : contracts::is_concluded(record->state));
        if (!is_over || record->open_disputes != 0) {
            return false;
        }
        // LIN-2: who trains from a result fetches it from here until its own first checkpoint is posted.
        return !is_result || !context_.chain.has_open_descendants(task);
    } catch (const client::RpcError& error) {
        context_.reporter.trouble(
            "files of task " + to_hex(task.view()) + " stay, because the node answered " + error.name + ": " +
            error.what()
        );
        return false;
    }
}

void StoreKeeper::tidy() {
    const auto now = std::chrono::steady_clock::now();
    if (context_.options.keep.all || (tidied_at_ && now - *tidied_at_ < kTidyEvery)) {
        return;
    }
    tidied_at_ = now;
    const std::uint64_t now_s = unix_seconds();
    struct Freed {
        std::uint64_t files = 0;
        std::uint64_t bytes = 0;
    };
    std::map<contracts::TaskId, Freed> freed;
    for (const Journal::File& file : due_files(context_.journal, now_s)) {
        const contracts::TaskId& task = file.first;
        const auto asked = asked_at_.find(task);
        if (asked != asked_at_.end() && now_s < asked->second + kAskAgainS) {
            continue;
        }
        if (!may_free(task, context_.journal.retained().at(file).is_result)) {
            asked_at_[task] = now_s;
            continue;
        }
        Freed& sum = freed[task];
        sum.bytes += free_file(context_.journal, context_.store, file);
        ++sum.files;
    }
    for (const auto& [task, sum] : freed) {
        const auto rest = context_.journal.retained().lower_bound({task, Hash256{}});
        const bool is_all = rest == context_.journal.retained().end() || rest->first.first != task;
        if (is_all) {
            asked_at_.erase(task);
            if (context_.losses != nullptr) {
                context_.losses->forget(task);
            }
        }
        if (context_.metrics != nullptr) {
            context_.metrics->add_freed(sum.bytes);
        }
        const std::string id = to_hex(task.view());
        context_.reporter.notice(
            "freed " + std::to_string(sum.bytes) + " bytes: " + std::to_string(sum.files) + " files of task " + id +
                ", which is over" + (is_all ? "" : "; its result stays"),
            {{"event", "freed"}, {"task", id}, {"files", sum.files}, {"bytes", sum.bytes}, {"is_all", is_all}}
        );
    }
}

}  // namespace assay::worker
