// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <verifier/worker/journal.hpp>
#include <verifier/worker/journal_values.hpp>

/// What the journal knows of files in the store whose tasks have ended.
namespace assay::worker {

using journal::to_value;

void Journal::write_made(const TaskId& task, const Hash256& artifact, std::uint64_t size_bytes) {
    file_->run(
        "INSERT OR REPLACE INTO made VALUES (?, ?, ?)", {to_value(task), to_value(artifact), to_value(size_bytes)}
    );
}

void Journal::write_retained(const File& file, const Retained& retained) {
    file_->run(
        "INSERT OR REPLACE INTO retained VALUES (?, ?, ?, ?, ?)",
        {to_value(file.first), to_value(file.second), to_value(retained.size_bytes), to_value(retained.free_at),
         to_value(std::uint64_t{retained.is_result})}
    );
}

void Journal::note_made(const TaskId& task, const Hash256& artifact, std::uint64_t size_bytes) {
    made_[task][artifact] = size_bytes;
    save([&] { write_made(task, artifact, size_bytes); });
}

bool Journal::is_shared(const File& file) const {
    const auto has_it = [&](const StoredCheckpoint& stored) { return stored.artifact == file.second; };
    return std::any_of(
               checkpoints_.begin(), checkpoints_.end(),
               [&](const auto& item) { return std::any_of(item.second.begin(), item.second.end(), has_it); }
           ) ||
           std::any_of(
               made_.begin(), made_.end(), [&](const auto& item) { return item.second.contains(file.second); }
           ) ||
           std::any_of(retained_.begin(), retained_.end(), [&](const auto& item) {
               return item.first.second == file.second && item.first.first != file.first;
           });
}

void Journal::drop_retained(const File& file) {
    retained_.erase(file);
    save([&] {
        file_->run(
            "DELETE FROM retained WHERE task = ? AND artifact = ?", {to_value(file.first), to_value(file.second)}
        );
    });
}

bool Journal::knows(const TaskId& task) const {
    const auto has_place = [&task](const auto& places) {
        const auto first = places.lower_bound({task, 0});
        return first != places.end() && first->first.first == task;
    };
    return checkpoints_.contains(task) || disputed_.contains(task) || profiles_.contains(task) ||
           made_.contains(task) || has_place(verdicts_) || has_place(replays_);
}

void Journal::retire(const TaskId& task, const Times& times) {
    std::map<File, Retained> files;
    const auto& stored = checkpoints(task);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const bool is_result = i >= times.result_from;
        Retained& retained = files[{task, stored[i].artifact}];
        retained = {
            .size_bytes = stored[i].size_bytes,
            .free_at = is_result ? times.result_free_at : times.free_at,
            .is_result = is_result};
    }
    if (const auto made = made_.find(task); made != made_.end()) {
        for (const auto& [artifact, size_bytes] : made->second) {
            files.insert(
                {{task, artifact},
                 {.size_bytes = size_bytes,
                  .free_at = times.keeps_made ? times.result_free_at : times.free_at,
                  .is_result = times.keeps_made}}
            );
        }
    }
    retained_.insert(files.begin(), files.end());
    if (erase(task) + files.size() != 0) {
        save([&] {
            for (const auto& [file, retained] : files) {
                write_retained(file, retained);
            }
            write_forgotten(task);
        });
    }
}

}  // namespace assay::worker
