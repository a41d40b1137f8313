// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <contracts/state/transaction.hpp>
#include <verifier/roles/finding.hpp>

namespace assay::worker {

/// The journal cannot be read or written. Nothing that the worker promised may then be acted on.
class JournalError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What a worker must not forget when it is killed: each change is on disk before the worker acts on it.
class Journal {
  public:
    using TaskId = contracts::TaskId;
    using Place = std::pair<TaskId, std::uint32_t>;  ///< a task and a segment, checkpoint or history index of it

    /// A checkpoint that is computed and in the store.
    struct StoredCheckpoint {
        Hash256 state_root;
        Hash256 artifact;
        std::uint64_t size_bytes = 0;
        std::optional<std::uint64_t> diverged_at{};  ///< the step that diverged, of the state after it
        bool operator==(const StoredCheckpoint&) const = default;
    };

    /// Opens `file`, which need not exist. Throws JournalError.
    explicit Journal(std::filesystem::path file);

    /// Writes what an earlier change could not: until this returns nothing may be acted on that the journal says. Throws
    /// JournalError.
    void settle();

    const std::vector<StoredCheckpoint>& checkpoints(const TaskId& task) const;
    void add_checkpoint(const TaskId& task, const StoredCheckpoint& checkpoint);
    /// Forgets the checkpoints from `count` on: their files are damaged and will be computed again.
    void cut_checkpoints(const TaskId& task, std::size_t count);

    /// What our verdict's commitment opens to.
    std::optional<contracts::VerdictOpening> verdict(const Place& segment) const;
    /// With what shows its divergence, if it says so (VER-17).
    void keep_verdict(
        const Place& segment, const contracts::VerdictOpening& verdict,
        const std::optional<dispute::StateOpening>& divergence = std::nullopt
    );
    std::optional<dispute::StateOpening> divergence(const Place& segment) const;

    /// Our report on a task that we profile, and what hides it until it is published.
    struct KeptProfile {
        contracts::ProfileReport report;
        Hash256 salt;
        static constexpr auto fields() { return Fields<&KeptProfile::report, &KeptProfile::salt>{}; }
    };
    std::optional<KeptProfile> profile(const TaskId& task) const;
    void keep_profile(const TaskId& task, const KeptProfile& profile);

    /// Fetch failures and inability are not kept: a restart is a new try.
    roles::Replays& replays(const Place& segment) { return replays_[segment]; }
    /// Of the first `probe` steps of a segment; their state roots are the states' after them.
    roles::Replays& probe_replays(const Place& segment, std::uint32_t probe) { return probes_[{segment, probe}]; }
    void keep_replays() { save(); }

    bool has_disputed(const TaskId& task) const { return disputed_.contains(task); }
    void note_dispute(const TaskId& task);

    /// How many verdicts of others were checked, ever.
    std::uint64_t checks() const { return checks_; }
    /// Counts the verifier's verdict once.
    void note_check(const Place& segment, const AccountId& verifier);

    std::uint32_t accepted_tasks() const { return static_cast<std::uint32_t>(accepted_.size()); }
    void note_accepted(const TaskId& task);

    std::uint16_t listen_port() const { return listen_port_; }
    void keep_listen_port(std::uint16_t port);

    /// Why the circuit breaker is open; nullopt while it is closed.
    const std::optional<std::string>& breaker() const { return breaker_; }
    void open_breaker(const Place& slash, const std::string& reason);
    void reset_breaker();
    bool knows_slash(const Place& slash) const { return slashes_.contains(slash); }

    /// Forgets what is about a task that is over, its slashes excepted.
    void forget(const TaskId& task);

  private:
    void load();
    std::string encode() const;
    void save();

    std::filesystem::path file_;
    bool is_unsaved_ = false;
    std::map<TaskId, std::vector<StoredCheckpoint>> checkpoints_;
    std::map<Place, contracts::VerdictOpening> verdicts_;
    std::map<Place, dispute::StateOpening> divergences_;  ///< of verdicts_
    std::map<TaskId, KeptProfile> profiles_;
    std::map<Place, roles::Replays> replays_;
    std::map<std::pair<Place, std::uint32_t>, roles::Replays> probes_;
    std::set<TaskId> disputed_;
    std::set<std::pair<Place, AccountId>> checked_;
    std::set<TaskId> accepted_;
    std::set<Place> slashes_;
    std::uint64_t checks_ = 0;
    std::uint16_t listen_port_ = 0;
    std::optional<std::string> breaker_;
};

}  // namespace assay::worker
