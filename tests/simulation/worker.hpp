// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <contracts/lifecycle/drawn_tile.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/task_key.hpp>
#include <tests/model/workshop.hpp>
#include <tests/simulation/gauge.hpp>
#include <tests/simulation/pace.hpp>
#include <tests/simulation/replica.hpp>
#include <tests/simulation/together.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

/// A worker of the simulated network: decides by verifier/roles, as assay-worker does, from the state of the replica
/// that it talks to; computes with the toy program; sends again what does not arrive.
namespace assay::simulation {

using contracts::Role;

enum class Kind : std::uint8_t {
    kSubmitter,
    kHonestSolver,
    kCheat,
    kWithholder,
    kMisstater,  ///< these four train rightly, but lie to those with whom they compute each step together
    kEquivocator,
    kDeserter,
    kSlanderer,
    kVerifier,
    kLazyVerifier,   ///< accepts what it is shown
    kFalseAccuser,   ///< a verifier that rejects whatever it is shown, and overstates what it measures
    kLyingProfiler,  ///< a verifier whose profiles have a false part
    kWhistleblower,
};
/// What it does wrong in sessions; the others do nothing wrong there.
constexpr Wrong wrong_of(Kind kind) {
    return kind == Kind::kMisstater     ? Wrong::kMisstates
           : kind == Kind::kEquivocator ? Wrong::kEquivocates
           : kind == Kind::kDeserter    ? Wrong::kDeserts
           : kind == Kind::kSlanderer   ? Wrong::kSlanders
                                        : Wrong::kNothing;
}
constexpr bool is_honest(Kind kind) {
    return wrong_of(kind) == Wrong::kNothing && kind != Kind::kCheat && kind != Kind::kWithholder &&
           kind != Kind::kLazyVerifier && kind != Kind::kFalseAccuser && kind != Kind::kLyingProfiler;
}
constexpr bool is_solver(Kind kind) {
    return kind == Kind::kHonestSolver || kind == Kind::kCheat || kind == Kind::kWithholder ||
           wrong_of(kind) != Wrong::kNothing;
}
/// Whether it posts what it computes, and serves it.
constexpr bool trains_rightly(Kind kind) { return is_honest(kind) || wrong_of(kind) != Wrong::kNothing; }
const char* to_string(Kind kind) noexcept;

/// What everybody can know: the tasks there are, the artifacts that can be had and from when on, and the moves made.
struct Bulletin {
    std::vector<contracts::TaskId> tasks;
    std::map<AccountId, std::size_t> submitted;  ///< how many tasks are whose
    /// Of a task's checkpoint: when its solver has it to be fetched.
    std::map<std::pair<contracts::TaskId, std::uint32_t>, std::uint64_t> artifacts;
    /// Likewise the native state of a profiler after a segment.
    std::map<std::tuple<contracts::TaskId, AccountId, std::uint32_t>, std::uint64_t> natives;
    std::map<contracts::DisputeId, std::vector<dispute::NodeReveal>> reveals;
    std::map<Hash256, Bytes> shares;        ///< of keys of private tasks, by SHA-256
    std::map<Hash256, Bytes> sealed_files;  ///< checkpoints of private tasks, by their sealed roots
    Company company;
};

/// A task that a submitter is to submit.
struct Order {
    bool in_tolerance = false;
    bool is_stacked = false;         ///< upon the last of the others that is fit (LIN-1)
    std::uint64_t worth = 1;         ///< so many times the usual value, 26 coins
    std::uint8_t members = 1;        ///< GRP-1, of a task in exact mode
    bool is_private = false;         ///< PRV-1
    std::uint32_t spare_blocks = 0;  ///< to train it in, where it admits a group: sessions of members break off
};

class Worker {
  public:
    Worker(
        Events& events, Bulletin& bulletin, model::Workshop& shop, Gauge& gauge, const Ledger& ledger, int place,
        Kind kind, crypto::SecretKey key, std::vector<std::unique_ptr<Replica>>& replicas, std::string chain_id
    );

    void start();
    Kind kind() const { return kind_; }
    const AccountId& id() const { return id_; }
    /// The segment of a task in tolerance mode that a cheat does not train, or trains otherwise.
    std::optional<std::uint32_t> replaced_segment(const contracts::TaskSpec& spec) const;
    /// The longest that it went without seeing a new block, or a transaction of its took, in blocks.
    std::uint64_t lateness() const { return lateness_; }
    std::vector<Order> orders;              ///< of a submitter: the network's tasks
    std::vector<const Worker*> colleagues;  ///< of a solver: who trains with it where a task admits a group
    std::uint64_t bonded = 200;             ///< coins, of others
    bool is_down = false;
    /// GRP-11: in how many of a hundred tasks that admit a group it has the group compute each step together.
    std::uint32_t together_percent = 0;
    Together& together() { return together_; }
    std::uint64_t latency_ms = 0;  ///< where not 0: what its messages take at most, in the network's place; in order
    std::uint64_t fee_max = 0;  ///< where not 0: what is left out of blocks is sent again for twice as much, up to this
    /// Whether replays, measurements, training and fetches take as long as their stated work does on the slowest
    /// machine of the task's class. Each of its duties has a machine of its own, all disputes of a task one together,
    /// and all verdicts on its task that a solver checks.
    bool takes_time = false;
    /// Forgets everything but its key, and serves nothing any more of what it had.
    void lose_disk();
    /// Whether the task's program and data are to be had.
    bool can_execute(const contracts::TaskSpec& spec) const;
    bool has_forgotten() const { return disks_lost_ != 0; }

  private:
    using Actions = std::vector<contracts::Action>;
    struct Waiting {
        Bytes action;
        Bytes tx;
        contracts::TxBody body;
        std::uint64_t nonce = 0;
        std::uint64_t since_height = 0;
        std::uint64_t sent_at_ms = 0;
        bool is_answer = false;  ///< it answers a duty: `nonce` is the height at which that is due (DTY-2)
    };
    struct View {
        std::shared_ptr<const node::CommittedState> state;
        Height height;
    };

    // worker.cpp
    void step();
    Replica* choose_replica();
    void forget_included(const View& view);
    void send(const View& view, const Actions& actions);
    void dispatch(const Waiting& waiting);
    void on_refusal(const Bytes& tx, std::uint8_t code);
    /// The transaction for an action, in the lane of duties where it answers one.
    Waiting sign(const View& view, const contracts::Action& action);
    /// Whether what waits answers a duty that is not owed any more, or that has another deadline by now.
    bool is_stale(const View& view, const Waiting& waiting) const;
    void add_bond(const View& view, Actions& out) const;
    void add_contribution(const View& view, Actions& out) const;
    void add_submission(const View& view, Actions& out);
    /// Of stacked tasks that nobody can start, the parent's last state being lost.
    void add_cancellation(const View& view, const contracts::Task& task, Actions& out) const;
    /// What nobody else can guess, and this worker only as long as it has its disk.
    Hash256 secret(const contracts::TaskId& task, std::uint64_t number) const;
    enum class Upon : std::uint8_t { kNothing, kParent, kWait };
    /// What a stacked task can start from now.
    std::pair<Upon, contracts::TaskId> find_parent(const View& view) const;

    // Work that takes time.
    enum class Job : std::uint8_t { kReplay, kProbe, kMeasure, kReport, kCheck, kFetch };
    using JobName = std::tuple<Job, Hash256, std::uint32_t, AccountId>;
    template <class Tag>
    static JobName job(Job kind, const FixedBytes<Tag, 32>& about, std::uint32_t part, const AccountId& whose) {
        return {kind, Hash256{about.data}, part, whose};
    }
    /// Whether so much work, which the first call for `name` begins, is done.
    bool has_done(const View& view, const contracts::TaskSpec& spec, const JobName& name, Work work);
    /// Of a segment's replay, the evaluation included.
    static Work work_of(const contracts::Task& task, std::uint32_t segment);
    /// What this solver takes for the training with all its messages, in blocks.
    std::uint64_t blocks_to_train(const View& view, const contracts::TaskSpec& spec) const;

    // solving.cpp
    /// Of a task that admits a group: with the colleagues that sign.
    contracts::AcceptTask acceptance(const View& view, const contracts::Task& task) const;
    bool signs_seat(const View& view, const contracts::Task& task) const;
    /// GRP-11: a list with a seat for each, and often room for more, or none if it does not want that.
    std::vector<AccountId> seats_together(const contracts::Task& task, std::vector<AccountId> seats) const;
    /// Whether the segment is being trained by a session of the group's members.
    bool train_together(const View& view, const contracts::Task& task, std::uint32_t segment);
    void keep_trained(const contracts::Task& task, std::uint32_t segment, const Hash256& root);
    void train_next(const View& view, const contracts::Task& task, std::uint32_t segment);
    /// A checkpoint that another member posted, fetched, or computed if nobody serves it for some blocks.
    void fetch_next(const View& view, const contracts::Task& task, std::uint32_t index);
    /// Whether others than the owner may post (GRP-4).
    static bool is_turn_over(const View& view, const contracts::Task& task);
    void serve(const contracts::TaskId& task, std::uint32_t index, std::uint64_t from_ms);
    void add_solving(const View& view, const contracts::Task& task, Actions& out);
    /// The state after the next segment, as this solver makes it.
    Hash256 train(const View& view, const contracts::Task& task, std::uint32_t segment) const;
    /// How this solver runs a task in exact mode.
    model::Way way_on(const contracts::TaskSpec& spec) const;

    // privacy.cpp
    contracts::Privacy make_privacy(const contracts::TaskSpec& spec) const;
    /// Shares keys and reports wrong ones and wrong files. Returns whether the worker can read the task.
    bool add_reading(const View& view, const contracts::Task& task, Actions& out);
    void add_sharing(const contracts::Task& task, Actions& out);
    /// The secrets that were shared with it, if they are right; what is wrong of them goes to `out`.
    bool open_keys(const contracts::Task& task, Actions& out);
    /// Whether all files that can be had are the checkpoints that they were posted for.
    bool are_files_right(const View& view, const contracts::Task& task, Actions& out);
    /// PRV-6: adds sealed files to the checkpoints among the actions from `from` on.
    void seal_posted(const contracts::Task& task, Actions& out, std::size_t from);
    void show_piece(const View& view, const contracts::Task& task, const contracts::DrawnTile& asked, Actions& out);
    contracts::KeyShare make_shares(
        const contracts::Task& task, const contracts::Reader& reader, const sealed::TaskSecret& of_task,
        const std::optional<sealed::TaskSecret>& of_checkpoints
    );

    // duties.cpp
    void add_duties(const View& view, Actions& out);
    bool can_finish(const View& view, const contracts::TaskSpec& spec) const;
    void add_verifying(const View& view, const contracts::Task& task, Actions& out);
    void add_attesting(const View& view, const contracts::Task& task, Actions& out);
    void add_watching(const View& view, const contracts::Task& task, Actions& out);
    void add_verdict_watching(const View& view, const contracts::Task& task, Actions& out);
    void add_moves(const View& view, const contracts::Task& task, Actions& out);
    std::vector<Machine::Job> jobs_of(const View& view, const contracts::Dispute& dispute, const contracts::Task& task)
        const;
    std::optional<contracts::Action> make_move(
        const View& view, const contracts::Dispute& dispute, const contracts::Task& task
    );
    std::optional<contracts::Action> compute_move(const contracts::Dispute& dispute, dispute::Replay& replay) const;
    contracts::VerdictOpening make_opening(
        const View& view, const contracts::Task& task, const contracts::Assignment& duty
    );
    /// Whether the checkpoint can be had now; `replays` remembers that it could not.
    bool fetch(const contracts::TaskId& task, std::uint32_t checkpoint, roles::Replays& replays);
    /// Whether the last state of a task can be had now.
    bool has_state_of(const View& view, const contracts::TaskId& parent);
    /// One replay of so many steps of a segment, fetched from the artifact store first.
    void replay(
        const View& view, const contracts::Task& task, std::uint32_t segment, std::uint64_t steps,
        const Hash256& claimed, roles::Replays& replays, const JobName& name
    );
    Amount free_stake(const View& view) const;
    Role role() const;
    static Hash256 root_at(const View& view, const contracts::TaskId& task, std::uint32_t checkpoint);
    static Hash256 last_root(const View& view, const contracts::TaskId& task);

    // tolerance.cpp
    void add_profiling(const View& view, const contracts::Task& task, Actions& out);
    /// Where its training starts.
    Hash256 start_of(const View& view, const contracts::Task& task);
    contracts::ProfileReport make_report(const View& view, const contracts::Task& task);
    void add_profile_watching(const View& view, const contracts::Task& task, Actions& out);
    std::optional<contracts::ChallengeProfile> find_fault(
        const View& view, const contracts::Task& task, const AccountId& profiler, const contracts::ProfileReport& report
    );
    bool has_natives(const contracts::TaskId& task, const AccountId& profiler, std::size_t count) const;
    /// The verdict by distance that our replay of a segment gives.
    static Work work_measuring(const contracts::Task& task, std::uint32_t segment);
    Machine::Job measuring(const View& view, const contracts::Task& task, std::uint32_t segment) const;
    void let_solver_replay(
        const View& view, const contracts::Task& task, const std::vector<contracts::Assignment>& duties
    );
    void measure(const View& view, const contracts::Task& task, std::uint32_t segment, roles::Replays& replays);
    void add_distance_watching(const View& view, const contracts::Task& task, Actions& out);
    model::Player make_player(const View& view, const contracts::Dispute& dispute, const contracts::Task& task);

    Events& events_;
    Bulletin& bulletin_;
    model::Workshop& shop_;
    Gauge& gauge_;
    const Ledger& ledger_;
    const int place_;
    const Kind kind_;
    const crypto::SecretKey key_;
    const AccountId id_;
    const model::Way way_;
    const model::Way hardware_;
    const std::uint32_t replaced_segment_;
    const contracts::ProfilePart false_part_;  ///< of a liar's profiles
    std::vector<std::unique_ptr<Replica>>& replicas_;
    const std::string chain_id_;

    int attached_ = 0;
    std::uint64_t next_nonce_ = 0;
    std::uint64_t seen_height_ = 0;
    std::uint64_t seen_at_height_ = 0;  ///< of the network, when we last saw something new
    std::uint64_t lateness_ = 0;
    std::uint64_t arrives_at_ms_ = 0;  ///< the last message
    std::vector<Waiting> waiting_;
    std::map<Bytes, std::uint64_t> unbacked_{};  ///< actions that lacked stake, and when
    std::uint64_t disks_lost_ = 0;

    using Part = std::tuple<contracts::TaskId, std::uint32_t, AccountId>;
    struct Keys {
        sealed::TaskSecret of_task;
        std::optional<sealed::TaskSecret> of_checkpoints;
    };
    std::map<contracts::TaskId, Keys> keys_;
    std::map<std::tuple<contracts::TaskId, std::uint32_t>, std::optional<sealed::WrongChunk>> opened_;
    std::map<contracts::TaskId, std::vector<Hash256>> trained_;
    std::set<std::pair<contracts::TaskId, std::uint32_t>> served_;     ///< checkpoints that this worker serves
    std::set<std::pair<contracts::TaskId, std::uint32_t>> fetched_{};  ///< others' checkpoints that it has
    std::set<contracts::TaskId> stuck_;                                ///< a member posted what nobody can go on from
    std::map<contracts::TaskId, std::uint64_t> ready_at_ms_;
    std::map<Part, roles::Replays> replays_;
    std::map<Part, roles::Replays> probes_;
    std::map<Part, contracts::VerdictOpening> openings_;
    struct Judged {
        contracts::Verdict verdict;
        contracts::MeasuredRoots roots;
    };
    std::map<std::pair<contracts::TaskId, std::uint32_t>, Judged> judged_;
    /// By the seed of the reference too: another draw of profilers has another one (PRV-11).
    std::map<std::pair<contracts::TaskId, std::uint64_t>, contracts::ProfileReport> reports_;
    struct Check {
        bool is_done = false;
        std::optional<contracts::ChallengeProfile> fault;
    };
    std::map<std::pair<contracts::TaskId, AccountId>, Check> checks_;  ///< of others' profiles
    std::map<contracts::DisputeId, model::Player> players_;
    /// By dispute, round and whether a reveal is pending: a move is sent until it is in a block, and computed once.
    std::map<std::tuple<contracts::DisputeId, std::uint32_t, bool>, std::optional<contracts::Action>> moves_;
    std::map<JobName, std::uint64_t> begun_;         ///< when
    std::map<contracts::TaskId, Machine> machines_;  ///< for the disputes of each task
    std::map<contracts::TaskId, Machine> watching_;  ///< of a solver, for the verdicts on each task
    Together together_;
};

}  // namespace assay::simulation
