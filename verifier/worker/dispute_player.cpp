// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/dispute_player.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include <verifier/roles/answers.hpp>
#include <verifier/roles/dispute.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/worker/evaluating.hpp>
#include <verifier/worker/profiler.hpp>
#include <verifier/worker/runner.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {

std::vector<dispute::NodeReveal> node_reveals(const dispute::Claim& claim, const std::vector<contracts::Tx>& moves) {
    std::vector<dispute::NodeReveal> reveals;
    dispute::Position position = dispute::start_position(claim);
    for (const contracts::Tx& tx : moves) {
        auto next = Result<dispute::Position, dispute::MoveError>(position);
        if (const auto* move = std::get_if<contracts::RevealMove>(&tx.body.action)) {
            const auto first_node = dispute::first_node_of(position);
            next = dispute::reveal(claim, position, move->children);
            if (next && first_node) {
                reveals.push_back(
                    {.first_node = *first_node,
                     .child_height = dispute::split(claim, position).child_height,
                     .children = move->children}
                );
            }
        } else if (const auto* selection = std::get_if<contracts::SelectMove>(&tx.body.action)) {
            next = dispute::select(claim, position, selection->selection);
        }
        // A move that failed on the chain changed nothing there either.
        if (next) {
            position = *std::move(next);
        }
    }
    return reveals;
}

std::vector<contracts::Dispute> DisputePlayer::open_disputes(const std::vector<contracts::Task>& tasks) {
    std::vector<contracts::Dispute> out;
    for (const contracts::Task& task : tasks) {
        if (task.open_disputes == 0) {
            continue;
        }
        for (const contracts::DisputeId& id : context_.chain.rpc().disputes(task.id)) {
            auto dispute = over_.contains(id) ? std::nullopt : context_.chain.rpc().dispute(id);
            if (dispute && contracts::is_open(dispute->state())) {
                out.push_back(*std::move(dispute));
            } else if (dispute) {
                over_.insert(id);
                ended_.push_back(id);
            }
        }
    }
    return roles::by_deadline(std::move(out));
}

std::vector<contracts::Dispute> DisputePlayer::due_disputes(const std::vector<contracts::Task>& tasks) {
    std::vector<contracts::Dispute> open = open_disputes(tasks);
    if (context_.metrics != nullptr) {
        context_.metrics->set_disputes(open, context_.chain.self(), context_.chain.height());
    }
    const std::set<contracts::DisputeId> resting = roles::answered(open);
    std::erase_if(open, [&](const contracts::Dispute& dispute) {
        const bool is_ours =
            !std::holds_alternative<roles::Wait>(roles::decide_dispute(dispute, context_.chain.self())) ||
            may_show_divergence(dispute);
        return !is_ours || resting.contains(dispute.id) ||
               !context_.behaviour.moves_at(Height{context_.chain.height()}, dispute.deadline());
    });
    return open;
}

bool DisputePlayer::attend(const std::vector<contracts::Task>& tasks) {
    bool moved = false;
    tried_.clear();
    attended_.clear();
    for (const contracts::Task& task : tasks) {
        attended_.insert(task.id);
    }
    const std::vector<contracts::Dispute> due = due_disputes(tasks);
    forget_ended();
    for (const contracts::Dispute& dispute : due) {
        const auto task =
            std::find_if(tasks.begin(), tasks.end(), [&](const auto& item) { return item.id == dispute.task; });
        playing_ = dispute.id;
        tried_.emplace(dispute.id, dispute.position.rounds);
        try {
            moved = move(*task, dispute, roles::decide_dispute(dispute, context_.chain.self())) || moved;
        } catch (const Preempted&) {
            return true;
        }
    }
    return moved;
}

void DisputePlayer::forget_ended() {
    for (const contracts::DisputeId& id : ended_) {
        answers_.forget(id);
        replays_.drop(id);
    }
    ended_.clear();
}

void DisputePlayer::give_way() {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_at_ < kLook) {
        return;
    }
    std::vector<contracts::Dispute> due;
    try {
        std::vector<contracts::Task> tasks = roles::by_deadline(context_.chain.tasks());
        std::erase_if(tasks, [&](const contracts::Task& task) { return !attended_.contains(task.id); });
        due = due_disputes(tasks);
    } catch (const http::NetError&) {
        return;  // the replay goes on while the node is away
    } catch (const client::RpcError&) {
        return;
    }
    looked_at_ = std::chrono::steady_clock::now();
    if (roles::gives_way(playing_, due, tried_)) {
        throw Preempted{};
    }
}

void DisputePlayer::note_missing(const contracts::Dispute& dispute, const Unavailable& why) {
    if (why.defect != Defect::kPending) {
        context_.reporter.trouble("dispute " + to_hex(dispute.id.view()) + ": " + why.reason);
    }
}

struct DisputePlayer::Ground {
    std::shared_ptr<const TaskArtifacts> artifacts;
    States before{};
    std::shared_ptr<const Alteration> alteration{};
};

States DisputePlayer::replay_segment(
    const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment, const States& before
) const {
    const auto progress = [this](std::uint64_t, std::uint64_t) { return context_.interlude(); };
    auto end = run_segment(artifacts, segment, before, context_.options.engine, nullptr, progress);
    if (!end) {
        throw std::runtime_error("the replay was stopped");
    }
    return std::move(end->state);
}

std::optional<DisputePlayer::Ground> DisputePlayer::ground_of(
    const contracts::Task& task, const contracts::Dispute& dispute,
    const std::shared_ptr<const TaskArtifacts>& artifacts
) {
    const bool is_measurement = dispute.verdict() && dispute.verdict()->part == contracts::VerdictPart::kMeasurement;
    const bool is_evaluation = dispute.segment == contracts::evaluation_segment(task);
    if (dispute.claim.initialisation && !is_measurement && !is_evaluation) {
        return Ground{artifacts, {}, context_.behaviour.of_task(context_, artifacts)};
    }
    const auto load = [&](std::uint32_t index) {
        auto state = context_.state_at(*artifacts, index, artifacts::Urgency::kDispute);
        if (!state) {
            note_missing(dispute, state.error());
        }
        return state;
    };
    auto before = load(dispute.segment - 1);
    if (!before) {
        return std::nullopt;
    }
    if (is_evaluation) {
        const auto ground = evaluating(*artifacts, *before);
        return Ground{ground, {}, context_.behaviour.of_score(ground)};
    }
    if (!is_measurement) {
        return Ground{artifacts, *std::move(before), context_.behaviour.of_task(context_, artifacts)};
    }
    const auto claimed = load(dispute.segment);
    if (!claimed) {
        return std::nullopt;
    }
    const States replayed = replay_segment(artifacts, dispute.segment, *before);
    const auto measuring = prepare_measuring(*artifacts, *before, replayed, *claimed, dispute.claim.seed).artifacts;
    return Ground{measuring, {}, context_.behaviour.of_verdict(measuring)};
}

std::optional<DisputePlayer::Ground> DisputePlayer::ground_of_report(
    const contracts::Task& task, const contracts::Dispute& dispute,
    const std::shared_ptr<const TaskArtifacts>& artifacts
) {
    const auto report = context_.chain.rpc().profile(task.id, dispute.responder);
    if (!report) {
        return std::nullopt;
    }
    const contracts::ProfilePart part = dispute.profile()->part;
    if (part == contracts::ProfilePart::kStart) {
        return Ground{artifacts, {}, context_.behaviour.of_task(context_, artifacts)};
    }
    auto before = state_before_profiled(context_, task, artifacts, *report, dispute.segment);
    if (!before) {
        note_missing(dispute, before.error());
        return std::nullopt;
    }
    if (!contracts::is_measured(part)) {
        return Ground{
            with_seed(*artifacts, dispute.claim.seed), *std::move(before),
            context_.behaviour.of_task(context_, artifacts)};
    }
    const std::uint32_t segment = std::max(1U, dispute.segment);
    if (part == contracts::ProfilePart::kMeasurement) {
        const auto native = native_state(context_, *artifacts, report->segments.at(segment - 1));
        if (!native) {
            note_missing(dispute, native.error());
            return std::nullopt;
        }
    }
    const States replayed = replay_segment(artifacts, segment, *before);
    const auto claimed = part == contracts::ProfilePart::kMeasurement
                             ? native_state(context_, *artifacts, report->segments.at(segment - 1))
                             : Result<States, Unavailable>(replay_segment(
                                   with_seed(*artifacts, task.tolerance.value().reference_seed), 1, *before
                               ));
    if (!claimed) {
        note_missing(dispute, claimed.error());
        return std::nullopt;
    }
    const auto measuring = prepare_measuring(*artifacts, *before, replayed, *claimed, dispute.claim.seed);
    return Ground{measuring.artifacts, {}, context_.behaviour.of_profile(measuring.artifacts)};
}

// Of states on disk for the first replay; others have less each, so that many together have some times as much.
constexpr std::uint64_t kStatesBytes = std::uint64_t{1} << 30U;

std::shared_ptr<EngineReplay> DisputePlayer::replay_of(const contracts::Task& task, const contracts::Dispute& dispute) {
    return replays_.of(dispute, [&]() -> std::shared_ptr<EngineReplay> {
        // A dispute about a profile may replay several segments.
        const auto segment = dispute.profile() ? std::nullopt : std::optional(dispute.segment);
        const auto artifacts = context_.artifacts(task, artifacts::Urgency::kDispute, segment);
        if (!artifacts) {
            return nullptr;
        }
        auto ground =
            dispute.profile() ? ground_of_report(task, dispute, artifacts) : ground_of(task, dispute, artifacts);
        if (!ground) {
            return nullptr;
        }
        return std::make_shared<EngineReplay>(
            ground->artifacts, dispute.claim, std::move(ground->before), context_.options.engine,
            EngineReplay::Storage{
                .directory = context_.options.home,
                .budget_bytes = kStatesBytes / (1 + replays_.count()),
                .stop = &context_.stop,
                .between_steps =
                    [this] {
                        context_.interlude();
                        give_way();
                    }},
            ground->alteration
        );
    });
}

bool DisputePlayer::prove(const contracts::Dispute& dispute, EngineReplay& replay) {
    if (lost_.contains(dispute.id)) {
        return false;
    }
    const auto reveals = node_reveals(dispute.claim, context_.chain.rpc().dispute_moves(dispute.id));
    const dispute::Proof proof = dispute::make_proof(dispute.claim, dispute.position, replay, reveals);
    const auto ruling = dispute::judge(dispute.claim, dispute.position, proof);
    const bool is_responder = dispute.responder == context_.chain.self();
    const auto in_our_favour = is_responder ? dispute::Ruling::kClaimHolds : dispute::Ruling::kClaimRefuted;
    if (!ruling || *ruling != in_our_favour) {
        lost_.insert(dispute.id);
        context_.reporter.trouble(
            "dispute " + to_hex(dispute.id.view()) +
            (ruling ? ": our own proof would rule against us, so none is sent" : ": no valid proof could be made")
        );
        return false;
    }
    return context_.chain.send(contracts::ProveMove{.dispute = dispute.id, .proof = proof});
}

bool DisputePlayer::answer(const contracts::Task& task, const contracts::Dispute& dispute, EngineReplay& replay) {
    const auto accuse = answers_.find(task, dispute, replay);
    if (!accuse || !context_.chain.send(*accuse)) {
        return false;
    }
    context_.reporter.event(event_of(*accuse, dispute.segment));
    return true;
}

bool DisputePlayer::may_show_divergence(const contracts::Dispute& dispute) const {
    return dispute.challenger == context_.chain.self() && dispute.position.step() != nullptr;
}

bool DisputePlayer::move(const contracts::Task& task, const contracts::Dispute& dispute, const roles::Intent& intent) {
    try {
        const std::shared_ptr<EngineReplay> replay = replay_of(task, dispute);
        if (replay == nullptr) {
            return false;
        }
        const bool is_our_move = !std::holds_alternative<roles::Wait>(intent);
        if (is_our_move && answers_.may_answer(task, dispute) && answer(task, dispute, *replay)) {
            return true;
        }
        const dispute::Position& position = dispute.position;
        const char* kind = "prove";
        bool moved = false;
        const auto divergence = may_show_divergence(dispute)
                                    ? dispute::make_divergence_proof(dispute.claim, position, *replay)
                                    : std::nullopt;
        if (divergence) {
            moved = context_.chain.send(contracts::ProveMove{.dispute = dispute.id, .proof = *divergence});
        } else if (std::holds_alternative<roles::Wait>(intent)) {
            return false;
        } else if (std::holds_alternative<roles::intent::MoveReveal>(intent)) {
            kind = "reveal";
            moved = context_.chain.send(contracts::RevealMove{
                .dispute = dispute.id,
                .round = position.rounds,
                .children = dispute::make_reveal(dispute.claim, position, *replay)});
        } else if (std::holds_alternative<roles::intent::MoveSelect>(intent)) {
            kind = "select";
            moved = context_.chain.send(contracts::SelectMove{
                .dispute = dispute.id,
                .round = position.rounds,
                .selection = dispute::make_selection(dispute.claim, position, *replay)});
        } else {
            moved = prove(dispute, *replay);
        }
        if (moved) {
            context_.reporter.event(
                {{"event", "dispute"},
                 {"id", to_hex(dispute.id.view())},
                 {"task", to_hex(task.id.view())},
                 {"segment", dispute.segment},
                 {"round", position.rounds},
                 {"level", dispute::to_string(position.level())},
                 {"move", kind}}
            );
        }
        return moved;
    } catch (const http::NetError&) {
        throw;
    } catch (const client::RpcError&) {
        throw;
    } catch (const JournalError&) {
        throw;
    } catch (const std::exception& error) {
        context_.reporter.trouble("dispute " + to_hex(dispute.id.view()) + ": unable to move: " + error.what());
        replays_.drop(dispute.id);
        return false;
    }
}

}  // namespace assay::worker
