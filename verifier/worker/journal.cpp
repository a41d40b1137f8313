// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/journal.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <core/codec/borsh.hpp>
#include <verifier/worker/journal_values.hpp>

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using journal::decode;
using journal::fixed_of;
using journal::get;
using journal::is_null;
using journal::number_of;
using journal::optional_hash;
using journal::place_of;
using journal::Row;
using journal::task_of;
using journal::to_value;
using journal::Value;

constexpr std::int64_t kNoProbe = -1;

/// The tables with what is forgotten with a task, and those with what is not.
constexpr std::array kOfTask{"checkpoints", "verdicts", "profiles", "replays", "disputed", "checked", "made"};
constexpr std::array kForever{"accepted", "slashes", "facts", "retained"};

constexpr const char* kAddDisputed = "INSERT OR IGNORE INTO disputed VALUES (?)";
constexpr const char* kAddAccepted = "INSERT OR IGNORE INTO accepted VALUES (?)";
constexpr const char* kAddSlash = "INSERT OR IGNORE INTO slashes VALUES (?, ?)";

}  // namespace

Journal::Journal(const std::filesystem::path& file) {
    const fs::path old = file.parent_path() / "journal.json";
    if (file != old && !fs::exists(file) && fs::exists(old)) {
        throw JournalError(
            old.string() +
            " is a journal of version 0.1, which this version does not read. Let a worker of version 0.1 "
            "finish its tasks and disputes, then move the file away; or start with another --home"
        );
    }
    try {
        file_ = std::make_unique<JournalFile>(file);
        load();
    } catch (const JournalError& error) {
        throw JournalError(
            "cannot use the journal " + file.string() + ": " + error.what() +
            "; without it this worker does not know what it has promised. Restore it, or start with another --home"
        );
    }
}

void Journal::load() {
    file_->read(
        "SELECT task, place, state_root, artifact, size_bytes, diverged_at FROM checkpoints ORDER BY task, place",
        [this](const Row& row) {
            auto& stored = checkpoints_[task_of(row)];
            if (number_of(row.at(1)) != stored.size()) {
                throw JournalError("a checkpoint is missing");
            }
            stored.push_back(
                {.state_root = fixed_of<Hash256>(row.at(2)),
                 .artifact = fixed_of<Hash256>(row.at(3)),
                 .size_bytes = number_of(row.at(4)),
                 .diverged_at = is_null(row.at(5)) ? std::nullopt : std::optional(number_of(row.at(5)))}
            );
        }
    );
    file_->read("SELECT task, place, probe, first, second FROM replays", [this](const Row& row) {
        const Place segment = place_of(row);
        const std::int64_t probe = get<std::int64_t>(row.at(2));
        roles::Replays& replays =
            probe == kNoProbe ? replays_[segment] : probes_[{segment, static_cast<std::uint32_t>(probe)}];
        replays.first = fixed_of<Hash256>(row.at(3));
        replays.second = optional_hash(row.at(4));
    });
    kept_replays_ = replays_to_keep();
    file_->read("SELECT name, fact FROM facts", [this](const Row& row) {
        const auto& name = get<std::string>(row.at(0));
        if (name == "checks") {
            checks_ = number_of(row.at(1));
        } else if (name == "listen_port") {
            listen_port_ = static_cast<std::uint16_t>(number_of(row.at(1)));
        } else if (name == "breaker" && !is_null(row.at(1))) {
            breaker_ = get<std::string>(row.at(1));
        }
    });
    load_promises();
}

void Journal::load_promises() {
    file_->read("SELECT task, place, opening, divergence FROM verdicts", [this](const Row& row) {
        verdicts_[place_of(row)] = decode<contracts::VerdictOpening>(row.at(2));
        if (!is_null(row.at(3))) {
            divergences_[place_of(row)] = decode<dispute::StateOpening>(row.at(3));
        }
    });
    file_->read("SELECT task, kept FROM profiles", [this](const Row& row) {
        profiles_[task_of(row)] = decode<KeptProfile>(row.at(1));
    });
    file_->read("SELECT task FROM disputed", [this](const Row& row) { disputed_.insert(task_of(row)); });
    file_->read("SELECT task, place, verifier FROM checked", [this](const Row& row) {
        checked_.insert({place_of(row), fixed_of<AccountId>(row.at(2))});
    });
    file_->read("SELECT task FROM accepted", [this](const Row& row) { accepted_.insert(task_of(row)); });
    file_->read("SELECT task, place FROM slashes", [this](const Row& row) { slashes_.insert(place_of(row)); });
    file_->read("SELECT task, artifact, size_bytes FROM made", [this](const Row& row) {
        made_[task_of(row)][fixed_of<Hash256>(row.at(1))] = number_of(row.at(2));
    });
    file_->read("SELECT task, artifact, size_bytes, free_at, is_result FROM retained", [this](const Row& row) {
        retained_[{task_of(row), fixed_of<Hash256>(row.at(1))}] = {
            .size_bytes = number_of(row.at(2)),
            .free_at = number_of(row.at(3)),
            .is_result = number_of(row.at(4)) != 0};
    });
}

void Journal::settle() {
    if (is_unsaved_) {
        save([] {});
    }
}

void Journal::save(const std::function<void()>& change) {
    const bool is_behind = is_unsaved_;
    is_unsaved_ = true;
    file_->transaction([&] {
        if (is_behind) {
            write_all();
        } else {
            change();
        }
    });
    is_unsaved_ = false;
}

void Journal::write_all() {
    for (const char* table : kOfTask) {
        file_->run((std::string("DELETE FROM ") + table).c_str());
    }
    for (const char* table : kForever) {
        file_->run((std::string("DELETE FROM ") + table).c_str());
    }
    for (const auto& [task, stored] : checkpoints_) {
        for (std::size_t i = 0; i < stored.size(); ++i) {
            write_checkpoint(task, i);
        }
    }
    for (const auto& [segment, verdict] : verdicts_) {
        write_verdict(segment);
    }
    for (const auto& [task, profile] : profiles_) {
        write_profile(task);
    }
    kept_replays_.clear();
    write_replays(replays_to_keep());
    for (const TaskId& task : disputed_) {
        write_task(kAddDisputed, task);
    }
    for (const auto& [segment, verifier] : checked_) {
        write_check(segment, verifier);
    }
    for (const TaskId& task : accepted_) {
        write_task(kAddAccepted, task);
    }
    for (const Place& slash : slashes_) {
        write_place(kAddSlash, slash);
    }
    for (const auto& [task, files] : made_) {
        for (const auto& [artifact, size_bytes] : files) {
            write_made(task, artifact, size_bytes);
        }
    }
    for (const auto& [file, retained] : retained_) {
        write_retained(file, retained);
    }
    write_facts();
}

void Journal::write_checkpoint(const TaskId& task, std::size_t index) {
    const StoredCheckpoint& stored = checkpoints_.at(task).at(index);
    file_->run(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)",
        {to_value(task), to_value(std::uint64_t{index}), to_value(stored.state_root), to_value(stored.artifact),
         to_value(stored.size_bytes), to_value(stored.diverged_at)}
    );
}

void Journal::write_verdict(const Place& segment) {
    const auto divergence = divergences_.find(segment);
    file_->run(
        "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)",
        {to_value(segment.first), to_value(std::uint64_t{segment.second}), codec::encode(verdicts_.at(segment)),
         divergence == divergences_.end() ? Value() : codec::encode(divergence->second)}
    );
}

void Journal::write_profile(const TaskId& task) {
    file_->run("INSERT OR REPLACE INTO profiles VALUES (?, ?)", {to_value(task), codec::encode(profiles_.at(task))});
}

std::map<Journal::Probe, Journal::Roots> Journal::replays_to_keep() const {
    std::map<Probe, Roots> out;
    for (const auto& [segment, replays] : replays_) {
        if (replays.first) {
            out[{segment, kNoProbe}] = {*replays.first, replays.second};
        }
    }
    for (const auto& [probe, replays] : probes_) {
        if (replays.first) {
            out[{probe.first, probe.second}] = {*replays.first, replays.second};
        }
    }
    return out;
}

/// Writes what is other than what the file has.
void Journal::write_replays(const std::map<Probe, Roots>& replays) {
    for (const auto& [probe, roots] : kept_replays_) {
        if (!replays.contains(probe)) {
            const auto& [segment, at] = probe;
            file_->run(
                "DELETE FROM replays WHERE task = ? AND place = ? AND probe = ?",
                {to_value(segment.first), to_value(std::uint64_t{segment.second}), at}
            );
        }
    }
    for (const auto& [probe, roots] : replays) {
        const auto kept = kept_replays_.find(probe);
        if (kept == kept_replays_.end() || kept->second != roots) {
            const auto& [segment, at] = probe;
            file_->run(
                "INSERT OR REPLACE INTO replays VALUES (?, ?, ?, ?, ?)",
                {to_value(segment.first), to_value(std::uint64_t{segment.second}), at, to_value(roots.first),
                 to_value(roots.second)}
            );
        }
    }
}

void Journal::write_place(const char* statement, const Place& place) {
    file_->run(statement, {to_value(place.first), to_value(std::uint64_t{place.second})});
}

void Journal::write_task(const char* statement, const TaskId& task) { file_->run(statement, {to_value(task)}); }

void Journal::write_check(const Place& segment, const AccountId& verifier) {
    file_->run(
        "INSERT OR IGNORE INTO checked VALUES (?, ?, ?)",
        {to_value(segment.first), to_value(std::uint64_t{segment.second}), to_value(verifier)}
    );
}

void Journal::write_facts() {
    constexpr const char* kPut = "INSERT OR REPLACE INTO facts VALUES (?, ?)";
    file_->run(kPut, {"checks", to_value(checks_)});
    file_->run(kPut, {"listen_port", to_value(std::uint64_t{listen_port_})});
    file_->run(kPut, {"breaker", breaker_ ? Value(*breaker_) : Value()});
}

const std::vector<Journal::StoredCheckpoint>& Journal::checkpoints(const TaskId& task) const {
    static const std::vector<StoredCheckpoint> kNone;
    const auto found = checkpoints_.find(task);
    return found == checkpoints_.end() ? kNone : found->second;
}

void Journal::add_checkpoint(const TaskId& task, const StoredCheckpoint& checkpoint) {
    auto& stored = checkpoints_[task];
    stored.push_back(checkpoint);
    save([&] { write_checkpoint(task, stored.size() - 1); });
}

void Journal::cut_checkpoints(const TaskId& task, std::size_t count) {
    auto& stored = checkpoints_[task];
    stored.resize(std::min(stored.size(), count));
    save([&] {
        write_place(
            "DELETE FROM checkpoints WHERE task = ? AND place >= ?", {task, static_cast<std::uint32_t>(stored.size())}
        );
    });
}

std::optional<contracts::VerdictOpening> Journal::verdict(const Place& segment) const {
    const auto found = verdicts_.find(segment);
    return found == verdicts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<dispute::StateOpening> Journal::divergence(const Place& segment) const {
    const auto found = divergences_.find(segment);
    return found == divergences_.end() ? std::nullopt : std::optional(found->second);
}

void Journal::keep_verdict(
    const Place& segment, const contracts::VerdictOpening& verdict,
    const std::optional<dispute::StateOpening>& divergence
) {
    verdicts_[segment] = verdict;
    if (divergence) {
        divergences_[segment] = *divergence;
    }
    save([&] { write_verdict(segment); });
}

std::optional<Journal::KeptProfile> Journal::profile(const TaskId& task) const {
    const auto found = profiles_.find(task);
    return found == profiles_.end() ? std::nullopt : std::optional(found->second);
}

void Journal::keep_profile(const TaskId& task, const KeptProfile& profile) {
    profiles_[task] = profile;
    save([&] { write_profile(task); });
}

void Journal::keep_replays() {
    auto now = replays_to_keep();
    save([&] { write_replays(now); });
    kept_replays_ = std::move(now);
}

void Journal::note_dispute(const TaskId& task) {
    disputed_.insert(task);
    save([&] { write_task(kAddDisputed, task); });
}

void Journal::note_check(const Place& segment, const AccountId& verifier) {
    if (checked_.insert({segment, verifier}).second) {
        ++checks_;
        save([&] {
            write_check(segment, verifier);
            write_facts();
        });
    }
}

void Journal::note_accepted(const TaskId& task) {
    accepted_.insert(task);
    save([&] { write_task(kAddAccepted, task); });
}

void Journal::keep_listen_port(std::uint16_t port) {
    listen_port_ = port;
    save([&] { write_facts(); });
}

void Journal::open_breaker(const Place& slash, const std::string& reason) {
    slashes_.insert(slash);
    breaker_ = reason;
    save([&] {
        write_place(kAddSlash, slash);
        write_facts();
    });
}

void Journal::reset_breaker() {
    breaker_.reset();
    save([&] { write_facts(); });
}

std::size_t Journal::erase(const TaskId& task) {
    const auto is_of_task = [&task](const auto& item) { return item.first.first == task; };
    std::size_t erased = checkpoints_.erase(task) + disputed_.erase(task) + profiles_.erase(task) + made_.erase(task);
    erased += std::erase_if(verdicts_, is_of_task) + std::erase_if(replays_, is_of_task);
    erased += std::erase_if(divergences_, is_of_task);
    const auto is_of_task_of_probe = [&task](const auto& item) { return item.first.first.first == task; };
    erased += std::erase_if(probes_, is_of_task_of_probe);
    erased += std::erase_if(checked_, is_of_task);
    std::erase_if(kept_replays_, is_of_task_of_probe);
    return erased;
}

void Journal::write_forgotten(const TaskId& task) {
    for (const char* table : kOfTask) {
        write_task((std::string("DELETE FROM ") + table + " WHERE task = ?").c_str(), task);
    }
}

void Journal::forget(const TaskId& task) {
    if (erase(task) != 0) {
        save([&] { write_forgotten(task); });
    }
}

}  // namespace assay::worker
