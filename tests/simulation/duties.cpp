// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/worker.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/verification/lottery.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/roles/answers.hpp>
#include <verifier/roles/dispute.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/roles/solver.hpp>
#include <verifier/roles/verifier.hpp>
#include <verifier/roles/watch.hpp>
#include <verifier/roles/whistleblower.hpp>
#include <core/dispute/evaluation.hpp>
#include <core/dispute/one_step_verifier.hpp>

namespace assay::simulation {

using contracts::Task;
using contracts::TaskId;
using model::Way;
using roles::Intent;
namespace intent = roles::intent;

namespace {

template <class T>
const T* as(const Intent& decided) {
    return std::get_if<T>(&decided);
}

dispute::StateOpening open_asked(const std::vector<canonical::Tensor>& state, const contracts::DrawnTile& asked) {
    return dispute::open_tile(state, asked.tensor, asked.number % canonical::tile_count(state[asked.tensor].shape));
}

}  // namespace

Hash256 Worker::root_at(const View& view, const TaskId& id, std::uint32_t index) {
    const auto checkpoint = contracts::find_checkpoint(*view.state, id, index);
    return checkpoint ? checkpoint->state_root : Hash256{};
}

Hash256 Worker::last_root(const View& view, const TaskId& id) {
    return root_at(view, id, contracts::find_task(*view.state, id).value().checkpoints - 1);
}

/// Whether the task's program and data are to be had: those of the toy program are, whatever else a submitter names.
bool Worker::can_execute(const contracts::TaskSpec& spec) const {
    const contracts::TaskSpec& toy = shop_.spec(false);
    return spec.program == toy.program && spec.dataset_root == toy.dataset_root && spec.seed == toy.seed &&
           (!spec.distance || *spec.distance == shop_.distance()) &&
           (!spec.evaluation || *spec.evaluation == shop_.scoring());
}

std::uint64_t Worker::blocks_to_train(const View& view, const contracts::TaskSpec& spec) const {
    constexpr std::uint64_t kNear = 4;
    constexpr std::uint64_t kBlocksBesides = 10;
    const std::uint64_t per_segment = std::max(kNear, 2 + latency_ms / Replica::kIntervalMs);
    const std::uint64_t worked =
        takes_time
            ? work_ms(view.state->params(), spec, training_work(spec), Replica::kIntervalMs) / Replica::kIntervalMs
            : 0;
    return per_segment * (std::uint64_t{contracts::segment_count(spec)} + 2) + kBlocksBesides + worked;
}

/// Whether the training fits two thirds of its window (TASK-8).
bool Worker::can_finish(const View& view, const contracts::TaskSpec& spec) const {
    return 3 * blocks_to_train(view, spec) <= 2 * std::uint64_t{spec.training_blocks};
}

bool Worker::has_done(const View& view, const contracts::TaskSpec& spec, const JobName& name, Work work) {
    const std::uint64_t takes_ms = takes_time ? work_ms(view.state->params(), spec, work, Replica::kIntervalMs) : 0;
    const auto begun = begun_.try_emplace(name, events_.now()).first;
    return events_.now() >= begun->second + takes_ms;
}

Work Worker::work_of(const Task& task, std::uint32_t segment) {
    if (segment == contracts::evaluation_segment(task)) {
        return task.spec.evaluation->work;
    }
    return segment == 0 ? Work{task.spec.program.init_work}
                        : Work{contracts::step_count(task, segment)} * task.spec.program.step_work;
}

void Worker::add_duties(const View& view, Actions& out) {
    for (const TaskId& id : bulletin_.tasks) {
        auto task = contracts::find_task(*view.state, id);
        if (!task || contracts::is_terminal(task->state)) {
            continue;
        }
        std::erase_if(task->assignments, [](const contracts::Assignment& duty) {
            return duty.status == contracts::VerdictStatus::kDropped;  // GRP-7: nobody owes anything for it
        });
        add_cancellation(view, *task, out);
        const std::size_t before = out.size();
        const bool can_read = add_reading(view, *task, out);
        if (can_read) {
            add_solving(view, *task, out);
            seal_posted(*task, out, before);
        } else if (task->secrecy && role() == Role::kVerifier) {
            add_attesting(view, *task, out);  // which takes no keys
        }
        if (!can_read) {
            continue;
        }
        if (!can_execute(task->spec)) {
            continue;
        }
        add_moves(view, *task, out);
        together_.attend(*view.state, *task, out);
        if (role() == Role::kVerifier) {
            add_profiling(view, *task, out);
            add_verifying(view, *task, out);
            add_attesting(view, *task, out);
        } else if (role() == Role::kWhistleblower) {
            add_watching(view, *task, out);
        }
        if (is_honest(kind_)) {
            add_profile_watching(view, *task, out);
            add_verdict_watching(view, *task, out);
            add_distance_watching(view, *task, out);
        }
    }
}

// --- verifiers -----------------------------------------------------------------------------------------------

bool Worker::has_state_of(const View& view, const TaskId& parent) {
    roles::Replays tries;
    return fetch(parent, contracts::find_task(*view.state, parent).value().checkpoints - 1, tries);
}

bool Worker::fetch(const TaskId& task, std::uint32_t checkpoint, roles::Replays& replays) {
    if (fetched_.contains({task, checkpoint})) {
        return true;
    }
    const auto artifact = bulletin_.artifacts.find({task, checkpoint});
    const bool is_there = artifact != bulletin_.artifacts.end() && artifact->second <= events_.now();
    if (!is_there || events_.chance(events_.weather.loss_percent)) {
        ++replays.fetch_failures;
        replays.missing_checkpoint = checkpoint;
        return false;
    }
    fetched_.insert({task, checkpoint});
    return true;
}

void Worker::replay(
    const View& view, const Task& task, std::uint32_t segment, std::uint64_t steps, const Hash256& claimed,
    roles::Replays& replays, const JobName& name
) {
    if (segment != 0 && !fetch(task.id, segment - 1, replays)) {
        return;
    }
    const bool is_part = segment != 0 && segment != contracts::evaluation_segment(task);
    if (!has_done(
            view, task.spec, name, is_part ? Work{steps} * task.spec.program.step_work : work_of(task, segment)
        )) {
        return;
    }
    Hash256 root = shop_.start(Way::kTruth);
    if (segment != 0) {
        const Hash256 before = root_at(view, task.id, segment - 1);
        root = segment == contracts::evaluation_segment(task)
                   ? dispute::score_root(shop_.evaluation(before).score)
                   : shop_.after(Way::kTruth, before, contracts::first_step(task.spec, segment), steps);
    }
    begun_.erase(name);  // a second replay takes its time too
    replays.fetch_failures = 0;
    replays.missing_checkpoint.reset();
    (replays.first && replays.first != claimed ? replays.second : replays.first) = root;
}

contracts::VerdictOpening Worker::make_opening(const View& view, const Task& task, const contracts::Assignment& duty) {
    const std::uint32_t segment = duty.segment;
    const Hash256 claimed = contracts::claimed_root(*view.state, task, segment);
    contracts::VerdictOpening opening;
    opening.decoy_root = secret(task.id, 11 + segment * 2U);
    opening.salt = secret(task.id, 12 + segment * 2U);
    const bool lazy = kind_ == Kind::kLazyVerifier;
    const bool exact = contracts::is_exact(task, segment);
    if (!exact) {
        opening.verdict = lazy ? contracts::Verdict{claimed, std::nullopt, dispute::Measurement{}, std::nullopt}
                               : judged_.at({task.id, segment}).verdict;
        if (kind_ == Kind::kFalseAccuser) {
            opening.verdict.measurement = overstated(*opening.verdict.measurement);
        }
    } else {
        opening.verdict.end_root = lazy                           ? claimed
                                   : kind_ == Kind::kFalseAccuser ? model::mix(claimed, id_, 4)
                                                                  : replays_[{task.id, segment, id_}].first.value();
    }
    if (!task.spec.checks.empty()) {
        opening.verdict.failed_checks = 0;  // CHK-3: a claim, which nobody can dispute
    }
    const bool has_marks = !exact || opening.verdict.end_root == claimed;
    const auto marks = has_marks ? contracts::marks_of(task, duty) : std::vector<std::uint32_t>{};
    for (const std::uint32_t mark : marks) {
        opening.marks.push_back(
            lazy ? model::mix(claimed, id_, 3 + mark)
                 : shop_.after(
                       Way::kTruth, root_at(view, task.id, segment - 1), contracts::first_step(task.spec, segment), mark
                   )
        );
    }
    return opening;
}

void Worker::add_verifying(const View& view, const Task& task, Actions& out) {
    for (const contracts::Assignment& duty : task.assignments) {
        if (duty.verifier != id_) {
            continue;
        }
        const Part part{task.id, duty.segment, id_};
        roles::VerifierView verifier;
        verifier.task = task;
        verifier.assignment = duty;
        verifier.claimed = contracts::claimed_root(*view.state, task, duty.segment);
        verifier.replays = replays_[part];
        const bool exact = contracts::is_exact(task, duty.segment);
        if (!exact) {
            // Whatever its end, a replay that was measured is all that a verdict takes.
            verifier.claimed = verifier.replays.first.value_or(Hash256{});
        }
        if (kind_ == Kind::kLazyVerifier) {
            verifier.replays.first = verifier.claimed;
        } else if (kind_ == Kind::kFalseAccuser && exact) {
            verifier.replays.first = verifier.replays.second = model::mix(verifier.claimed, id_, 4);
        }
        const auto kept = openings_.find(part);
        verifier.has_kept_verdict = kept != openings_.end() && roles::is_opening_of(duty, task.id, kept->second);
        for (const auto& noted : contracts::get_bookkeeping(*view.state, task.id).disputes) {
            const auto dispute = contracts::find_dispute(*view.state, noted.id).value();
            verifier.is_challenged =
                verifier.is_challenged ||
                (dispute.state() == contracts::DisputeState::kAwaiting && dispute.responder == id_ &&
                 dispute.segment == duty.segment &&
                 view.height.value + 1 >= contracts::disclosed_from(view.state->params(), task.spec, dispute).value);
        }
        const Intent decided = roles::decide_verifier(verifier);
        if (as<intent::Replay>(decided) != nullptr && !exact) {
            measure(view, task, duty.segment, replays_[part]);
        } else if (as<intent::Replay>(decided) != nullptr) {
            replay(
                view, task, duty.segment, contracts::step_count(task, duty.segment), verifier.claimed, replays_[part],
                job(Job::kReplay, task.id, duty.segment, id_)
            );
        } else if (as<intent::Commit>(decided) != nullptr) {
            if (!openings_.contains(part)) {
                openings_[part] = make_opening(view, task, duty);
            }
            out.push_back(contracts::CommitVerdict{
                task.id, duty.segment, contracts::verdict_commitment(task.id, duty.segment, id_, openings_[part])});
        } else if (as<intent::Publish>(decided) != nullptr) {
            const bool forced =
                contracts::is_forced(task, duty, openings_[part], view.state->params().forced_error_bps);
            out.push_back(contracts::PublishVerdict{
                task.id, duty.segment, contracts::published_verdict(task, duty, openings_[part], forced)});
        } else if (as<intent::Disclose>(decided) != nullptr) {
            out.push_back(contracts::DiscloseVerdict{task.id, duty.segment, openings_[part]});
        }
    }
}

/// Liars keep silent on committees.
void Worker::add_attesting(const View& view, const Task& task, Actions& out) {
    const bool is_liar = kind_ == Kind::kLazyVerifier || kind_ == Kind::kFalseAccuser;
    const Intent decided = roles::decide_member({.task = task, .self = id_});
    if (as<intent::Attest>(decided) == nullptr || is_liar) {
        return;
    }
    for (const std::uint32_t segment : task.committee->segments) {
        for (const std::uint32_t index :
             {contracts::checkpoint_before(segment), std::min(segment, task.checkpoints - 1)}) {
            roles::Replays tries;
            if (!fetch(task.id, index, tries)) {
                return;
            }
        }
    }
    // A member has the time of a replay to fetch (AVL-3).
    if (!has_done(
            view, task.spec, job(Job::kFetch, task.id, task.committee->segments.front(), id_), longest_work(task.spec)
        )) {
        return;
    }
    const auto& members = task.committee->members;
    const auto place =
        std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.account == id_; });
    const contracts::DrawnTile asked =
        contracts::asked_tile(task, static_cast<std::size_t>(std::distance(members.begin(), place)));
    const Hash256 root = root_at(view, task.id, asked.checkpoint);
    if (task.secrecy) {
        show_piece(view, task, asked, out);
    } else if (shop_.knows(root)) {
        out.push_back(contracts::AttestAvailability{task.id, open_asked(shop_.state(root), asked)});
    }
}

// --- whistleblowers ------------------------------------------------------------------------------------------

void Worker::add_watching(const View& view, const Task& task, Actions& out) {
    if (task.state < contracts::TaskState::kCompleted || task.state > contracts::TaskState::kChallenge) {
        return;
    }
    roles::WatchView watch;
    watch.self = id_;
    watch.task = task;
    watch.seed = static_cast<std::uint64_t>(place_);
    for (std::uint32_t segment = 0; segment <= contracts::last_segment(task); ++segment) {
        watch.claimed.push_back(contracts::claimed_root(*view.state, task, segment));
        watch.replays.push_back(replays_[{task.id, segment, id_}]);
        watch.has_disputed =
            watch.has_disputed || contracts::find_dispute(*view.state, contracts::dispute_id(task.id, segment, id_));
    }
    watch.free_stake = free_stake(view);
    watch.challenger_bond = contracts::challenger_bond(view.state->params(), contracts::task_value(task.spec));
    const Intent decided = roles::decide_whistleblower(watch);
    if (const auto* again = as<intent::Replay>(decided)) {
        replay(
            view, task, again->segment, contracts::step_count(task, again->segment), watch.claimed[again->segment],
            replays_[{task.id, again->segment, id_}], job(Job::kReplay, task.id, again->segment, id_)
        );
    } else if (const auto* open = as<intent::OpenDispute>(decided)) {
        out.push_back(contracts::OpenDispute{task.id, open->segment, role()});
    }
}

void Worker::add_verdict_watching(const View& view, const Task& task, Actions& out) {
    for (const contracts::Assignment& duty : task.assignments) {
        const Part part{task.id, duty.segment, duty.verifier};
        roles::VerdictView watch;
        watch.self = id_;
        watch.task = task;
        watch.assignment = duty;
        watch.replays = probes_[part];
        watch.is_duty = roles::is_watchers_duty(task, duty, id_, role());
        watch.height = view.height;
        watch.challenge_span = contracts::challenge_span(view.state->params(), task.spec);
        const contracts::DisputedVerdict subject{duty.verifier, duty.forced == true};
        watch.has_challenged =
            contracts::find_dispute(*view.state, contracts::dispute_id(task.id, duty.segment, id_, subject))
                .has_value();
        watch.free_stake = free_stake(view);
        watch.challenger_bond = contracts::challenger_bond(view.state->params(), contracts::task_value(task.spec));
        const Intent decided = roles::decide_verdict_watch(watch);
        if (as<intent::ReplayProbe>(decided) != nullptr) {
            replay(
                view, task, duty.segment, duty.probe, *duty.probe_root, probes_[part],
                job(Job::kProbe, task.id, duty.segment, duty.verifier)
            );
        } else if (const auto* accuse = as<intent::ChallengeVerdict>(decided)) {
            contracts::ChallengeVerdict challenge{task.id, duty.segment, duty.verifier, role()};
            const contracts::DisputedVerdict first{duty.verifier};
            challenge.seal =
                contracts::challenge_seal(contracts::dispute_id(task.id, duty.segment, id_, first), accuse->found);
            out.push_back(challenge);
        }
    }
}

// --- disputes ------------------------------------------------------------------------------------------------

void Worker::add_moves(const View& view, const Task& task, Actions& out) {
    std::vector<contracts::Dispute> open;
    for (const auto& noted : contracts::get_bookkeeping(*view.state, task.id).disputes) {
        open.push_back(contracts::find_dispute(*view.state, noted.id).value());
    }
    const std::set<contracts::DisputeId> resting = roles::answered(open);
    std::vector<contracts::Dispute> due;
    std::vector<Machine::Job> wanted;
    for (contracts::Dispute& dispute : roles::by_deadline(std::move(open))) {
        const Intent decided = roles::decide_dispute(dispute, id_);
        if (as<roles::Wait>(decided) != nullptr || resting.contains(dispute.id)) {
            continue;
        }
        const std::vector<Machine::Job> jobs = jobs_of(view, dispute, task);
        wanted.insert(wanted.end(), jobs.begin(), jobs.end());
        due.push_back(std::move(dispute));
    }
    machines_[task.id].work(events_.now(), wanted);
    for (const contracts::Dispute& dispute : due) {
        if (const auto answer = together_.answer(task, dispute)) {
            out.push_back(*answer);
        } else if (const auto move = make_move(view, dispute, task)) {
            out.push_back(*move);
        }
    }
}

/// The first move executes the claim again; of later ones each is about a part of what the one before was.
std::vector<Machine::Job> Worker::jobs_of(const View& view, const contracts::Dispute& dispute, const Task& task) const {
    const auto takes = [&](Work work) {
        return takes_time ? work_ms(view.state->params(), task.spec, work, Replica::kIntervalMs) : 0;
    };
    const Work whole = longest_work(task.spec);
    std::vector<Machine::Job> out{{codec::encode(dispute.claim), takes(whole)}};
    if (dispute.position.rounds != 0) {
        Bytes move = codec::encode(dispute.id);
        append(move, codec::encode(dispute.position.rounds));
        out.push_back({std::move(move), takes(whole / 8)});
    }
    return out;
}

std::optional<contracts::Action> Worker::make_move(
    const View& view, const contracts::Dispute& dispute, const Task& task
) {
    if (!players_.contains(dispute.id)) {
        players_[dispute.id] = make_player(view, dispute, task);
    }
    dispute::Replay* replay = players_[dispute.id].replay.get();
    if (replay == nullptr) {
        return std::nullopt;
    }
    const dispute::Position& position = dispute.position;
    const Machine& machine = machines_[task.id];
    const auto jobs = jobs_of(view, dispute, task);
    if (!std::all_of(jobs.begin(), jobs.end(), [&](const Machine::Job& job) { return machine.has_done(job); })) {
        return std::nullopt;
    }
    const auto place = std::tuple{dispute.id, position.rounds, position.pending().empty()};
    const auto made = moves_.find(place);
    return made != moves_.end() ? made->second : moves_.emplace(place, compute_move(dispute, *replay)).first->second;
}

std::optional<contracts::Action> Worker::compute_move(const contracts::Dispute& dispute, dispute::Replay& replay)
    const {
    const bool responds = dispute.responder == id_;
    const dispute::Position& position = dispute.position;
    if (position.is_at_proof()) {
        const auto reveals = bulletin_.reveals.find(dispute.id);
        const auto proof = dispute::make_proof(
            dispute.claim, position, replay,
            reveals == bulletin_.reveals.end() ? std::vector<dispute::NodeReveal>{} : reveals->second
        );
        const auto ruling = dispute::judge(dispute.claim, position, proof);
        const auto ours = responds ? dispute::Ruling::kClaimHolds : dispute::Ruling::kClaimRefuted;
        return ruling && *ruling == ours ? std::optional<contracts::Action>{contracts::ProveMove{dispute.id, proof}}
                                         : std::nullopt;
    }
    if (responds) {
        return contracts::RevealMove{
            dispute.id, position.rounds, dispute::make_reveal(dispute.claim, position, replay)};
    }
    return contracts::SelectMove{dispute.id, position.rounds, dispute::make_selection(dispute.claim, position, replay)};
}

}  // namespace assay::simulation
