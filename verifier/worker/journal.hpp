// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/worker/journal_file.hpp>

namespace assay::worker {

/// The journal's file in a worker's home.
inline constexpr const char* kJournalName = "journal.db";

/// Persistent memory of a worker that survives a kill: each change is on disk before the worker acts on it. All of it
/// is in memory too. Others may read the file meanwhile; if another process writes to it, this one refuses to.
class Journal {
  public:
    using TaskId = contracts::TaskId;
    using Place = std::pair<TaskId, std::uint32_t>;  ///< a task and one of its segment, checkpoint or history indices

    /// A checkpoint that has been computed and is in the store.
    struct StoredCheckpoint {
        Hash256 state_root;
        Hash256 artifact;
        std::uint64_t size_bytes = 0;
        std::optional<std::uint64_t> diverged_at{};  ///< set if this is the state after a step that diverged: that step
        bool operator==(const StoredCheckpoint&) const = default;
    };

    /// Opens `file`, or makes it. Throws JournalError if it cannot be read, is no journal or one of a newer version, or
    /// if there is only one of version 0.1 beside it (journal.json).
    explicit Journal(const std::filesystem::path& file);

    /// Retries a failed write. Until it returns, nothing in the journal may be acted on. Throws JournalError.
    void settle();

    const std::vector<StoredCheckpoint>& checkpoints(const TaskId& task) const;
    void add_checkpoint(const TaskId& task, const StoredCheckpoint& checkpoint);
    /// Removes checkpoints with index >= `count`, whose files are damaged and will be recomputed. Throws JournalError.
    void cut_checkpoints(const TaskId& task, std::size_t count);

    /// Returns the opening of our verdict's commitment on the segment; nullopt if none is kept.
    std::optional<contracts::VerdictOpening> verdict(const Place& segment) const;
    /// Stores the verdict's opening and, if the verdict says that the segment diverged (VER-17), the tile that proves
    /// it. Throws JournalError.
    void keep_verdict(
        const Place& segment, const contracts::VerdictOpening& verdict,
        const std::optional<dispute::StateOpening>& divergence = std::nullopt
    );
    std::optional<dispute::StateOpening> divergence(const Place& segment) const;

    /// Our report on a task that we profile, and the salt of its commitment.
    struct KeptProfile {
        contracts::ProfileReport report;
        Hash256 salt;
        static constexpr auto fields() { return Fields<&KeptProfile::report, &KeptProfile::salt>{}; }
    };
    std::optional<KeptProfile> profile(const TaskId& task) const;
    void keep_profile(const TaskId& task, const KeptProfile& profile);

    /// Replay results for a segment. Fetch failures and `unable` are not persisted: a restart tries again.
    roles::Replays& replays(const Place& segment) { return replays_[segment]; }
    /// Replay results truncated at `probe`: the roots are those of the states after `probe` steps.
    roles::Replays& probe_replays(const Place& segment, std::uint32_t probe) { return probes_[{segment, probe}]; }
    void keep_replays();

    bool has_disputed(const TaskId& task) const { return disputed_.contains(task); }
    void note_dispute(const TaskId& task);

    /// Total number of other verifiers' verdicts that this worker has checked.
    std::uint64_t checks() const { return checks_; }
    /// Counts a check of the verifier's verdict; a verdict is counted only once. Throws JournalError.
    void note_check(const Place& segment, const AccountId& verifier);

    std::uint32_t accepted_tasks() const { return static_cast<std::uint32_t>(accepted_.size()); }
    void note_accepted(const TaskId& task);

    std::uint16_t listen_port() const { return listen_port_; }
    void keep_listen_port(std::uint16_t port);

    /// Why the circuit breaker is open; nullopt if it is closed.
    const std::optional<std::string>& breaker() const { return breaker_; }
    void open_breaker(const Place& slash, const std::string& reason);
    void reset_breaker();
    bool knows_slash(const Place& slash) const { return slashes_.contains(slash); }

    /// Notes a file in the store that is no checkpoint of the task and was made for it. Throws JournalError.
    void note_made(const TaskId& task, const Hash256& artifact, std::uint64_t size_bytes);

    /// A file in the store whose task has ended, and which may be deleted from a time on.
    struct Retained {
        std::uint64_t size_bytes = 0;
        std::uint64_t free_at = 0;  ///< Unix time in seconds
        bool is_result = false;     ///< the last checkpoint, from which another task may start
        bool operator==(const Retained&) const = default;
    };
    using File = std::pair<TaskId, Hash256>;
    const std::map<File, Retained>& retained() const { return retained_; }
    /// Whether another task than the file's, open or ended, has the same artifact.
    bool is_shared(const File& file) const;
    /// The file was deleted. Throws JournalError.
    void drop_retained(const File& file);

    /// Whether anything is kept of a task that retire() or forget() would remove.
    bool knows(const TaskId& task) const;
    /// forget(), and from now on retained() has the task's files in the store. `times` has the earliest times of their
    /// deletion in Unix seconds, and the index from which on checkpoints are results. What else was made for the task
    /// is kept like a result if `keeps_made` is set.
    struct Times {
        std::uint64_t free_at = 0;
        std::uint64_t result_free_at = 0;
        std::size_t result_from = 0;
        bool keeps_made = false;
    };
    void retire(const TaskId& task, const Times& times);
    /// Removes everything about a task that has ended, except its slashes and that it was accepted. Throws
    /// JournalError.
    void forget(const TaskId& task);

  private:
    using Probe = std::pair<Place, std::int64_t>;  ///< a segment and its probe; kNoProbe: its end
    using Roots = std::pair<Hash256, std::optional<Hash256>>;

    void load();
    void load_promises();
    /// Writes a change; or everything, if an earlier change could not be written.
    void save(const std::function<void()>& change);
    void write_all();
    void write_checkpoint(const TaskId& task, std::size_t index);
    void write_verdict(const Place& segment);
    void write_profile(const TaskId& task);
    void write_replays(const std::map<Probe, Roots>& replays);
    void write_place(const char* statement, const Place& place);
    void write_task(const char* statement, const TaskId& task);
    void write_check(const Place& segment, const AccountId& verifier);
    void write_facts();
    void write_made(const TaskId& task, const Hash256& artifact, std::uint64_t size_bytes);
    void write_retained(const File& file, const Retained& retained);
    std::size_t erase(const TaskId& task);
    void write_forgotten(const TaskId& task);
    std::map<Probe, Roots> replays_to_keep() const;

    std::unique_ptr<JournalFile> file_;
    bool is_unsaved_ = false;
    std::map<Probe, Roots> kept_replays_;  ///< what the file has of replays_ and probes_
    std::map<TaskId, std::vector<StoredCheckpoint>> checkpoints_;
    std::map<Place, contracts::VerdictOpening> verdicts_;
    std::map<Place, dispute::StateOpening> divergences_;  ///< for the verdicts in verdicts_
    std::map<TaskId, KeptProfile> profiles_;
    std::map<Place, roles::Replays> replays_;
    std::map<std::pair<Place, std::uint32_t>, roles::Replays> probes_;
    std::set<TaskId> disputed_;
    std::set<std::pair<Place, AccountId>> checked_;
    std::set<TaskId> accepted_;
    std::set<Place> slashes_;
    std::map<TaskId, std::map<Hash256, std::uint64_t>> made_;  ///< sizes
    std::map<File, Retained> retained_;
    std::uint64_t checks_ = 0;
    std::uint16_t listen_port_ = 0;
    std::optional<std::string> breaker_;
};

}  // namespace assay::worker
