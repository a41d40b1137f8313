// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <core/base/assert.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/roles/solver.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/player.hpp>
#include <verifier/worker/checkpoint_poster.hpp>
#include <verifier/worker/checkpoint_shelf.hpp>
#include <verifier/worker/defence_desk.hpp>
#include <verifier/worker/dispute_player.hpp>
#include <verifier/worker/evaluating.hpp>
#include <verifier/worker/group_training.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/seating.hpp>
#include <verifier/worker/together.hpp>
#include <verifier/worker/trainer.hpp>
#include <verifier/worker/training_report.hpp>
#include <verifier/worker/verdict_watch.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::milliseconds kSlice{250};
/// Blocks before a drawn task lapses, at which it is declined when what it needs cannot be had.
constexpr std::uint64_t kDeclinesBefore = 10;

/// Accepts, trains, posts, completes, and afterwards defends what it posted.
class Solver final : public Role {
  public:
    explicit Solver(WorkerContext& context)
        : context_(context),
          disputes_(context),
          watch_(context, contracts::Role::kSolver),
          offers_(context),
          defence_(context, offers_),
          shelf_(context),
          poster_(context),
          group_(context, shelf_),
          seating_(context),
          together_(context, shelf_),
          reports_(context) {}

    bool disputes() override { return disputes_.attend(ours()); }

    bool prompt() override {
        const auto tasks = ours();
        bool busy = disputes_.attend(tasks);
        for (const contracts::Task& task : tasks) {
            if (task.state == contracts::TaskState::kDrawn || task.state == contracts::TaskState::kTraining) {
                context_.want(task, urgency_of(task));
            }
            together_.attend(task);
            const roles::Intent intent = next(task);
            busy = (!roles::is_long(intent) && act(task, intent)) || busy;
        }
        return busy;
    }

    bool labour() override {
        for (const contracts::Task& task : ours()) {
            if (watch_.attend(task)) {
                return true;
            }
            const roles::Intent intent = next(task);
            if (roles::is_long(intent) && act(task, intent)) {
                return true;
            }
        }
        return !context_.closed() && (seating_.sign_one(offers_, defence_) || offers_.list_again());
    }

    void forget(const contracts::TaskId& task) override {
        trainers_.erase(task);
        shelf_.forget(task);
        group_.forget(task);
        together_.forget(task);
        seating_.forget(task);
        stopped_.erase(task);
        reports_.forget(task);
        offers_.forget(task);
        defence_.forget(task);
    }

    std::map<contracts::TaskId, std::optional<roles::Offer>> declined() const override {
        auto out = defence_.refused();
        out.insert(offers_.declined().begin(), offers_.declined().end());
        return out;
    }

  private:
    static artifacts::Urgency urgency_of(const contracts::Task& task) {
        return task.state == contracts::TaskState::kDrawn ? artifacts::Urgency::kOffer : artifacts::Urgency::kDuty;
    }

    std::vector<contracts::Task> ours() const {
        auto tasks = roles::by_deadline(context_.chain.tasks());
        std::erase_if(tasks, [this](const contracts::Task& task) {
            return !contracts::is_member(task, context_.chain.self());
        });
        return tasks;
    }

    roles::Intent next(const contracts::Task& task) {
        return task.state <= contracts::TaskState::kTraining ? roles::decide_solver(view_of(task))
                                                             : roles::Wait::kNothingDue;
    }

    roles::SolverView view_of(const contracts::Task& task) {
        roles::SolverView view;
        view.self = context_.chain.self();
        view.task = task;
        view.stored_checkpoints = shelf_.count(task.id);
        if (task.state == contracts::TaskState::kDrawn) {
            view.free_stake = context_.chain.free_stake(contracts::Role::kSolver);
            view.solver_bond = contracts::solver_bond(context_.chain.params(), contracts::task_value(task.spec));
        }
        view.is_breaker_open = context_.journal.breaker().has_value();
        view.is_publishing = poster_.is_publishing(task);
        view.is_unusable = context_.unusable.contains(task.id) || offers_.has_declined(task.id);
        const bool is_offer = task.state == contracts::TaskState::kDrawn;
        view.is_unusable = view.is_unusable || (is_offer && context_.closed());
        view.awaits_keys = is_offer && context_.is_unreadable(task);
        view.is_elsewhere = !contracts::satisfies(context_.options.environment, task.spec.environment);
        view.is_stopped = stopped_.contains(task.id) || group_.is_stuck(task.id);
        view.accepted_tasks = context_.journal.accepted_tasks();
        view.tasks_max = context_.options.tasks_max;
        if (task.group && task.state == contracts::TaskState::kTraining) {
            view.is_turn_over = context_.chain.height() >= turn_end(context_, task);
            view.segment_ahead = group_.segment_ahead(task);
        }
        return view;
    }

    bool act(const contracts::Task& task, const roles::Intent& intent) {
        if (const auto* post = std::get_if<roles::intent::PostCheckpoint>(&intent)) {
            return post_checkpoint(task, post->index);
        }
        if (const auto* train = std::get_if<roles::intent::Train>(&intent)) {
            return this->train(task, train->segment);
        }
        if (const auto* ahead = std::get_if<roles::intent::TrainAhead>(&intent)) {
            return guarded(task, [&] { return group_.train_ahead(task, ahead->segment, kSlice); });
        }
        if (const auto* fetch = std::get_if<roles::intent::FetchCheckpoint>(&intent)) {
            return guarded(task, [&] { return group_.fetch(task, fetch->index, kSlice); });
        }
        if (std::holds_alternative<roles::intent::Accept>(intent)) {
            return accept(task);
        }
        if (std::holds_alternative<roles::intent::Decline>(intent)) {
            return decline(task);
        }
        if (std::holds_alternative<roles::intent::Complete>(intent)) {
            return complete(task);
        }
        return false;
    }

    bool accept(const contracts::Task& task) {
        // A bond for a task whose program or data we cannot have would be lost.
        const auto artifacts = context_.artifacts(task, urgency_of(task));
        std::vector<canonical::Tensor> state;
        bool can_start = artifacts != nullptr;
        if (artifacts && task.spec.parent) {
            auto parents = start_state(task, *artifacts);
            can_start = parents.has_value();
            state = can_start ? *std::move(parents) : std::move(state);
        }
        if (!can_start || !offers_.takes(task, artifacts, state) ||
            !defence_.admits(task, roles::claims_alone(task.spec))) {
            // Who lets it lapse is not drawn any more. Until then a task in work may end.
            const bool is_late = context_.chain.height() + kDeclinesBefore >= task.deadline.value;
            return (is_late || offers_.has_declined(task.id)) && decline(task);
        }
        const auto acceptance = seating_.acceptance(task);
        if (!acceptance || !context_.chain.send(*acceptance)) {
            return false;
        }
        context_.journal.note_accepted(task.id);
        nlohmann::ordered_json event = {
            {"event", "accept"}, {"task", to_hex(task.id.view())}, {"title", task.spec.title}};
        if (!acceptance->seats.empty()) {
            event["seats"] = acceptance->seats.size();
        }
        context_.reporter.event(event);
        return true;
    }

    /// TASK-15: leaves to another solver what this one cannot do.
    bool decline(const contracts::Task& task) {
        if (!context_.chain.send(contracts::DeclineTask{.task = task.id})) {
            return false;
        }
        nlohmann::ordered_json event = {
            {"event", "decline"}, {"task", to_hex(task.id.view())}, {"title", task.spec.title}};
        if (!contracts::satisfies(context_.options.environment, task.spec.environment)) {
            event["reason"] = "it asks for another environment";
        } else if (defence_.refused().contains(task.id)) {
            event["reason"] = "this worker answers for no more tasks at once than it has";
        }
        context_.reporter.event(event);
        return true;
    }

    bool complete(const contracts::Task& task) {
        contracts::CompleteTask action{.task = task.id};
        nlohmann::ordered_json event = {{"event", "complete"}, {"task", to_hex(task.id.view())}};
        if (task.spec.evaluation) {
            action.evaluation = score(task);
            if (!action.evaluation) {
                return false;
            }
            event["score"] = static_cast<double>(std::bit_cast<float>(action.evaluation->score));
        }
        if (!context_.chain.send(action)) {
            return false;
        }
        trainers_.erase(task.id);
        context_.reporter.event(event);
        return true;
    }

    /// EVL-4: what the last checkpoint is worth on the hold-out set; nullopt when it cannot be said now.
    std::optional<contracts::Evaluation> score(const contracts::Task& task) {
        const auto artifacts = context_.artifacts(task);
        if (!artifacts) {
            return std::nullopt;
        }
        const std::uint32_t last = task.checkpoints - 1;
        const auto state = shelf_.load(*artifacts, last);
        if (!state) {
            compute_again(task, last);
            return std::nullopt;
        }
        try {
            const auto ground = evaluating(*artifacts, *state);
            return evaluate(ground, *state, context_.options.engine, context_.behaviour.of_score(ground));
        } catch (const std::runtime_error& error) {
            context_.reporter.trouble(
                "task " + to_hex(task.id.view()) + ": scoring failed, trying again: " + error.what()
            );
        }
        return std::nullopt;
    }

    bool post_checkpoint(const contracts::Task& task, std::uint32_t index) {
        const Journal::StoredCheckpoint stored = context_.journal.checkpoints(task.id)[index];
        context_.behaviour.note_posting(context_, task, index, stored.artifact);
        if (stored.diverged_at) {
            return declare_divergence(task, stored);
        }
        return poster_.post(task, index);
    }

    bool declare_divergence(const contracts::Task& task, const Journal::StoredCheckpoint& stored) {
        const auto artifacts = context_.artifacts(task);
        if (!artifacts) {
            return false;
        }
        const auto state = shelf_.load(*artifacts, task.checkpoints);
        const auto opening = state ? dispute::open_divergence(*state) : std::nullopt;
        if (!opening) {
            compute_again(task, task.checkpoints);
            return false;
        }
        const bool sent = context_.chain.send(contracts::DeclareDivergence{
            .task = task.id,
            .step = *stored.diverged_at,
            .state_root = stored.state_root,
            .location = context_.artifacts_url,
            .opening = *opening,
            .sealed = sealed_file(task, stored)});
        if (sent) {
            trainers_.erase(task.id);
            context_.reporter.event(
                {{"event", "diverged"},
                 {"task", to_hex(task.id.view())},
                 {"step", *stored.diverged_at},
                 {"index", task.checkpoints},
                 {"state_root", to_hex(stored.state_root.view())},
                 {"tensor", artifacts->program.state[opening->tensor].name}}
            );
        }
        return sent;
    }

    void compute_again(const contracts::Task& task, std::uint32_t index) {
        shelf_.drop_damaged(task.id, index);
        trainers_.erase(task.id);
    }

    /// LIN-2: the state that a task with a parent starts from; nullopt, and said why, when it cannot be had.
    std::optional<std::vector<canonical::Tensor>> start_state(
        const contracts::Task& task, const TaskArtifacts& artifacts
    ) {
        if (context_.unusable.contains(task.id)) {
            return std::nullopt;
        }
        auto state = load_parents_state(context_, task, artifacts);
        if (!state) {
            context_.decline(task.id, state.error());
            return std::nullopt;
        }
        return *std::move(state);
    }

    /// Makes the parent's last state ours: checkpoint 0, served from here as well.
    bool inherit(const contracts::Task& task) {
        const auto artifacts = context_.artifacts(task);
        const auto state = artifacts ? start_state(task, *artifacts) : std::nullopt;
        if (!state) {
            return false;
        }
        const Hash256 root = shelf_.keep(*artifacts, *state, artifacts::leaves_of(*state), 0, {});
        context_.reporter.event(
            {{"event", "inherit"},
             {"task", to_hex(task.id.view())},
             {"parent", to_hex(task.spec.parent->view())},
             {"state_root", to_hex(root.view())}}
        );
        return true;
    }

    /// Trains a slice; when a segment is finished, stores its checkpoint.
    bool train(const contracts::Task& task, std::uint32_t segment) {
        const auto began = std::chrono::steady_clock::now();
        const bool has_trained = guarded(task, [&] { return train_slice(task, segment); });
        if (has_trained) {
            const bool is_finished = shelf_.count(task.id) > segment;
            reports_.note_time(task.id, std::chrono::steady_clock::now() - began, is_finished);
        }
        return has_trained;
    }

    bool train_slice(const contracts::Task& task, std::uint32_t segment) {
        if (segment < contracts::first_segment(task.spec)) {
            return inherit(task);
        }
        if (group_.is_ahead(task.id, segment)) {
            return group_.train_ahead(task, segment, kSlice) || finish_ahead(task, segment);
        }
        const auto together = together_.train(task, segment, kSlice);
        if (together == TogetherLead::Progress::kFinished) {
            const auto artifacts = context_.artifacts(task);
            keep_end(task, *artifacts, segment, together_.state(task.id), std::nullopt);
        }
        if (together) {
            return *together != TogetherLead::Progress::kWaits;
        }
        Trainer* trainer = trainer_of(task, segment);
        if (trainer == nullptr) {
            return false;
        }
        const bool finished = trainer->advance(kSlice);
        reports_.progress(task, *trainer);
        if (finished) {
            store(task, *trainer);
        }
        return true;
    }

    /// Calls `work`; if the engine fails, the training is tried again.
    template <typename Work>
    bool guarded(const contracts::Task& task, const Work& work) {
        try {
            return work();
        } catch (const http::NetError&) {
            throw;
        } catch (const client::RpcError&) {
            throw;
        } catch (const JournalError&) {
            throw;
        } catch (const artifacts::StoreError&) {
            trainers_.erase(task.id);
            throw;
        } catch (const std::exception& error) {
            context_.reporter.trouble(
                "task " + to_hex(task.id.view()) + ": training failed, trying again: " + error.what()
            );
            trainers_.erase(task.id);
            group_.forget(task.id);
            together_.restart(task.id);
        }
        return false;
    }

    /// Stores the state after a segment that was trained before its turn.
    bool finish_ahead(const contracts::Task& task, std::uint32_t segment) {
        const auto artifacts = context_.artifacts(task);
        const auto state = artifacts ? group_.finish(*artifacts, segment) : std::nullopt;
        return state && keep_end(task, *artifacts, segment, *state, std::nullopt);
    }

    void stop(const contracts::Task& task, const std::string& why) {
        stopped_.insert(task.id);
        trainers_.erase(task.id);
        context_.reporter.event({{"event", "stopped"}, {"task", to_hex(task.id.view())}, {"reason", why}});
    }

    /// The trainer, standing at `segment`; made from the last stored checkpoint when there is none.
    Trainer* trainer_of(const contracts::Task& task, std::uint32_t segment) {
        if (const auto found = trainers_.find(task.id); found != trainers_.end()) {
            ASSERT(task.group || found->second->segment() == segment);
            if (found->second->segment() == segment) {
                return found->second.get();
            }
            trainers_.erase(found);
        }
        const auto artifacts = context_.artifacts(task);
        if (!artifacts) {
            return nullptr;
        }
        std::vector<canonical::Tensor> state;
        if (segment != 0) {
            auto decoded = shelf_.load(*artifacts, segment - 1);
            if (!decoded) {
                compute_again(task, segment - 1);
                return nullptr;
            }
            state = *std::move(decoded);
            context_.reporter.event(
                {{"event", "resume"}, {"task", to_hex(task.id.view())}, {"step", artifacts->first_step(segment)}}
            );
        }
        auto trainer = std::make_unique<Trainer>(
            artifacts, context_.options.engine, context_.behaviour.of_task(context_, artifacts), segment, state
        );
        return trainers_.emplace(task.id, std::move(trainer)).first->second.get();
    }

    void store(const contracts::Task& task, Trainer& trainer) {
        const auto artifacts = context_.artifacts(task);
        reports_.note_loss(task, trainer);
        const bool goes_on =
            keep_end(task, *artifacts, trainer.segment(), trainer.state(), trainer.diverged_at()) && !task.group;
        if (goes_on && !trainer.diverged_at()) {
            trainer.begin_next();
        } else if (task.group) {
            trainers_.erase(task.id);  // the next segment may be another member's
        }
    }

    /// Stores the state at the end of a segment. Returns false if the training cannot go on.
    bool keep_end(
        const contracts::Task& task, const TaskArtifacts& artifacts, std::uint32_t index,
        const std::vector<canonical::Tensor>& state, std::optional<std::uint64_t> diverged_at
    ) {
        const artifacts::Leaves leaves = shelf_.leaves_of(artifacts, state);
        // What was posted before a lost disk must come out again; anything else would be two answers to one question.
        const bool is_posted = index < task.checkpoints;
        const Hash256 root = artifacts::root_of_leaves(program::types_of(artifacts.program.state), leaves);
        if (is_posted && (diverged_at || context_.chain.checkpoint(task.id, index).state_root != root)) {
            stop(task, "checkpoint " + std::to_string(index) + " was posted with another state root");
            return false;
        }
        shelf_.keep(artifacts, state, leaves, index, diverged_at);
        return true;
    }

    WorkerContext& context_;
    DisputePlayer disputes_;
    VerdictWatch watch_;
    OfferDesk offers_;
    DefenceDesk defence_;
    CheckpointShelf shelf_;
    CheckpointPoster poster_;
    GroupTraining group_;
    Seating seating_;
    Together together_;
    TrainingReport reports_;
    std::map<contracts::TaskId, std::unique_ptr<Trainer>> trainers_;
    std::set<contracts::TaskId> stopped_;  ///< tasks whose training cannot go on
};

}  // namespace

std::unique_ptr<Role> make_solver(WorkerContext& context) { return std::make_unique<Solver>(context); }

}  // namespace assay::worker
