// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/recovery.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>

#include <contracts/state/members.hpp>
#include <core/command/exit_codes.hpp>
#include <core/crypto/address.hpp>
#include <verifier/artifacts/cache.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/stores/location.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/checkpoint_shelf.hpp>
#include <verifier/worker/home.hpp>
#include <verifier/worker/private_tasks.hpp>
#include <verifier/worker/result_keeper.hpp>

namespace assay::worker {
namespace {

using std::chrono::steady_clock;

/// Calls `get` until it has something, fails for good, or `patience` is over.
template <class Get>
auto await(const WorkerContext& context, std::chrono::seconds patience, const Get& get) {
    constexpr std::chrono::milliseconds kPause{50};
    const auto give_up_at = steady_clock::now() + patience;
    for (;;) {
        auto found = get();
        if (found || context.stop || steady_clock::now() > give_up_at) {
            return found;
        }
        std::this_thread::sleep_for(kPause);
    }
}

/// What is in the home and on the chain about one task.
class TaskRecovery {
  public:
    TaskRecovery(WorkerContext& context, const contracts::Task& task, std::chrono::seconds patience)
        : context_(context), task_(task), patience_(patience), shelf_(context) {}

    RecoveredTask run() {
        out_ = {.task = task_.id, .title = task_.spec.title, .state = task_.state};
        if (task_.state == contracts::TaskState::kKept) {
            keeping();
            return std::move(out_);
        }
        if (contracts::is_member(task_, context_.chain.self()) && task_.state >= contracts::TaskState::kTraining) {
            solving();
        }
        verifying();
        profiling();
        disputing();
        return std::move(out_);
    }

  private:
    /// RET-5: of a task whose result this account keeps nothing but the last checkpoint is needed.
    void keeping() {
        out_.posted = 1;
        out_.server = stores::server_among(context_.chain.checkpoint(task_.id, task_.checkpoints - 1).location);
        if (await(context_, patience_, [&] { return holds_result(context_, task_); })) {
            out_.kept = 1;
            return;
        }
        const auto told = context_.told.find(task_.id);
        out_.missing = told == context_.told.end() ? "the result cannot be had" : told->second;
        out_.lost.emplace_back(
            "the result that it keeps: a tile that cannot be shown when it is drawn costs the bond for keeping it, and "
            "what it has not earned yet (RET-6)"
        );
    }

    void solving() {
        context_.journal.note_accepted(task_.id);
        out_.posted = task_.checkpoints;
        if (task_.checkpoints > 0) {
            out_.server = stores::server_among(context_.chain.checkpoint(task_.id, task_.checkpoints - 1).location);
        }
        out_.kept = std::min(shelf_.count(task_.id), out_.posted);
        const auto artifacts = await(context_, patience_, [&] { return context_.artifacts(task_); });
        if (!artifacts && out_.kept < out_.posted) {
            const auto told = context_.told.find(task_.id);
            out_.missing = told == context_.told.end() ? "the task's program and data cannot be had" : told->second;
        }
        const std::uint32_t known = out_.kept;
        for (std::uint32_t i = 0; artifacts && i < out_.posted && out_.missing.empty() && !context_.stop; ++i) {
            const bool is_there = i < known && context_.store.has(context_.journal.checkpoints(task_.id)[i].artifact);
            if (!is_there && !fetch(*artifacts, i, i < known)) {
                out_.kept = i;
            }
        }
        name_lost_states();
        if (task_.group && task_.group->is_together) {
            out_.lost.emplace_back(
                "what other members told this account (STM-3): who disputes a segment that it posted finds nobody else "
                "to blame, so it answers with its own bond for what another member stated wrongly"
            );
        }
    }

    /// Keeps the checkpoint `index`, or says why it cannot be had and returns false. Of one that the journal has only
    /// the file is made again.
    bool fetch(const TaskArtifacts& artifacts, std::uint32_t index, bool is_in_journal) {
        const auto state = await(context_, patience_, [&] {
            auto found = context_.state_at(artifacts, index);
            if (!found) {
                out_.missing = found.error().reason;
            }
            return found ? std::optional(*std::move(found)) : std::nullopt;
        });
        if (!state) {
            return false;
        }
        out_.missing.clear();
        const artifacts::Leaves leaves = shelf_.leaves_of(artifacts, *state);
        if (is_in_journal) {
            shelf_.store(artifacts, *state, leaves, index);
        } else {
            const bool is_last = index + 1 == task_.checkpoints;
            shelf_.keep(artifacts, *state, leaves, index, is_last ? task_.diverged_at : std::nullopt);
            ++out_.kept;
        }
        context_.reporter.event(
            {{"event", "recovered"},
             {"task", to_hex(task_.id.view())},
             {"index", index},
             {"state_root", to_hex(context_.chain.checkpoint(task_.id, index).state_root.view())}}
        );
        return true;
    }

    void name_lost_states() {
        if (out_.kept == out_.posted) {
            return;
        }
        const std::string which = "checkpoints " + std::to_string(out_.kept) + " to " + std::to_string(out_.posted - 1);
        if (task_.state != contracts::TaskState::kTraining) {
            out_.lost.push_back(
                which + ": if nobody else has them, committees find them withheld, which costs the bond (AVL-5)"
            );
        } else if (task_.spec.mode == contracts::Mode::kExact) {
            out_.lost.push_back(
                which + ": `solve` computes them again, with the same bits, before it posts anything more"
            );
        } else {
            out_.lost.push_back(
                which +
                ": `solve` trains them again, and stops if other bits come out than were posted; then the "
                "deadline is missed, which costs the bond"
            );
        }
    }

    void verifying() {
        for (const contracts::Assignment& assignment : task_.assignments) {
            if (assignment.verifier == context_.chain.self()) {
                out_.due += assignment.status == contracts::VerdictStatus::kDue ? 1U : 0U;
                const bool is_owed =
                    assignment.status == contracts::VerdictStatus::kCommitted || contracts::is_secret(assignment);
                out_.to_open += is_owed ? 1U : 0U;
            }
        }
    }

    void profiling() {
        const auto& profiles = task_.tolerance ? task_.tolerance->profiles : std::vector<contracts::Profile>{};
        for (const contracts::Profile& profile : profiles) {
            const bool is_ours = profile.profiler == context_.chain.self();
            if (is_ours && profile.status == contracts::ProfileStatus::kCommitted &&
                !context_.journal.profile(task_.id)) {
                out_.lost.emplace_back(
                    "the committed report of its profile, with what this machine measured, which no key gives: it "
                    "cannot be published, which costs a tenth of the bond (PRF-4)"
                );
            } else if (is_ours && profile.status == contracts::ProfileStatus::kStanding && !task_.spec.privacy) {
                out_.lost.emplace_back(
                    "the native states that its profile measured: who disputes the report cannot fetch them here"
                );
            }
        }
    }

    void disputing() {
        for (const contracts::DisputeId& id : context_.chain.rpc().disputes(task_.id)) {
            const auto dispute = context_.chain.rpc().dispute(id);
            if (dispute && dispute->challenger == context_.chain.self()) {
                ++out_.disputes;
                context_.journal.note_dispute(task_.id);
            }
        }
    }

    WorkerContext& context_;
    const contracts::Task& task_;
    std::chrono::seconds patience_;
    CheckpointShelf shelf_;
    RecoveredTask out_;
};

bool concerns_account(const RecoveredTask& task) {
    return task.posted + task.due + task.to_open + task.disputes > 0 || !task.lost.empty();
}

std::string number_of(std::uint32_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

bool Recovery::is_whole() const {
    return std::all_of(tasks.begin(), tasks.end(), [](const RecoveredTask& task) { return task.kept == task.posted; });
}

Recovery recover(WorkerContext& context, std::chrono::seconds patience) {
    static_cast<void>(context.chain.chain_id());  // proven against what this home has pinned, or pinned now
    context.chain.refresh();
    Recovery out{.account = context.chain.self(), .tasks = {}};
    auto tasks = context.chain.tasks();
    tasks.insert(context.chain.kept().begin(), context.chain.kept().end());
    for (const auto& [id, task] : tasks) {
        if (context.stop) {
            break;
        }
        RecoveredTask recovered = TaskRecovery(context, task, patience).run();
        if (contracts::is_member(task, context.chain.self()) || concerns_account(recovered)) {
            out.tasks.push_back(std::move(recovered));
        }
        context.forget(id);
    }
    return out;
}

nlohmann::ordered_json to_json(const Recovery& recovery) {
    nlohmann::ordered_json out = {
        {"account", crypto::to_address(recovery.account)},
        {"is_whole", recovery.is_whole()},
        {"tasks", nlohmann::ordered_json::array()}};
    for (const RecoveredTask& task : recovery.tasks) {
        out["tasks"].push_back(
            {{"task", to_hex(task.task.view())},
             {"title", task.title},
             {"state", contracts::to_string(task.state)},
             {"posted", task.posted},
             {"kept", task.kept},
             {"missing", task.missing},
             {"server", task.server},
             {"due", task.due},
             {"to_open", task.to_open},
             {"disputes", task.disputes},
             {"lost", task.lost}}
        );
    }
    return out;
}

std::string to_text(const Recovery& recovery) {
    std::string out = "account " + crypto::to_address(recovery.account) + ": " +
                      number_of(static_cast<std::uint32_t>(recovery.tasks.size()), "task") +
                      " in which it has something to do or to answer for\n";
    for (const RecoveredTask& task : recovery.tasks) {
        out += "\ntask " + to_hex(task.task.view()) + " \"" + task.title + "\", " + contracts::to_string(task.state) +
               "\n";
        if (task.posted > 0) {
            out += "  " + std::to_string(task.kept) + " of " + number_of(task.posted, "checkpoint") +
                   " on the chain are in the home\n";
        }
        out += task.missing.empty() ? "" : "  the next cannot be had: " + task.missing + "\n";
        out += task.server.empty() ? ""
                                   : "  others were told to fetch from " + task.server +
                                         ": give --listen that address, if this machine has it now\n";
        out += task.due == 0 ? "" : "  " + number_of(task.due, "segment") + " to replay and to commit a verdict on\n";
        out += task.to_open == 0 ? ""
                                 : "  " + number_of(task.to_open, "verdict") +
                                       " to open: `verify` replays, and its secrets follow from the key\n";
        out += task.disputes == 0 ? "" : "  " + number_of(task.disputes, "dispute") + " that it has opened\n";
        for (const std::string& lost : task.lost) {
            out += "  lost: " + lost + "\n";
        }
    }
    return out;
}

int run_recovery(
    const WorkerOptions& options, const crypto::SecretKey& key, std::chrono::seconds patience, bool json,
    const std::atomic<bool>& stop
) {
    const HomeLock lock(options.home);
    const artifacts::ContentStore store(options.home / "store");
    Journal journal(options.home / kJournalName);
    Reporter reporter(options.json_progress, {}, std::cerr);  // standard output has the result
    artifacts::Cache cache(
        options.home / "fetched", {.quota_bytes = options.cache_bytes, .reserve_bytes = options.reserve_bytes}
    );
    artifacts::Fetcher fetcher(store, cache, fetching_of(options));
    Chain chain(options.node, options.home, options.pins, key, options.owner, reporter);
    Behaviour honest;
    PrivateTasks privates(options.home / kPrivateName);
    WorkerContext context{
        .options = options,
        .reporter = reporter,
        .journal = journal,
        .store = store,
        .fetcher = fetcher,
        .chain = chain,
        .behaviour = honest,
        .stop = stop,
        .artifacts_url = {},
        .privates = &privates};
    const Recovery recovery = recover(context, patience);
    std::cout << (json ? to_json(recovery).dump(2) + "\n" : to_text(recovery)) << std::flush;
    return recovery.is_whole() ? command::kExitOk : command::kExitUnreachable;
}

}  // namespace assay::worker
