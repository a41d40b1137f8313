// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/checker.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <verifier/worker/reporter.hpp>
#include <contracts/state/task.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/player.hpp>
#include <verifier/worker/evaluating.hpp>
#include <verifier/worker/measuring.hpp>
#include <verifier/worker/result_checks.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {
namespace {

const char* verdict_name(roles::Finding finding) {
    switch (finding) {
        case roles::Finding::kAccept:
            return "accept";
        case roles::Finding::kReject:
            return "reject";
        case roles::Finding::kDoubt:
            return "doubt";
        default:
            return "unable";
    }
}

void report_verdict(
    Reporter& reporter, const contracts::Task& task, std::uint32_t segment, roles::Finding finding,
    const std::string& reason
) {
    nlohmann::ordered_json event = {
        {"event", "verdict"},
        {"task", to_hex(task.id.view())},
        {"segment", segment},
        {"verdict", verdict_name(finding)}};
    if (!reason.empty()) {
        event["reason"] = reason;
    }
    reporter.event(event);
}

/// With them the drawn probe of every verifier of the segment: what we know of others' probes costs little.
std::vector<std::uint32_t> probes_of(const contracts::Task& task, std::uint32_t segment, const AccountId& self) {
    std::vector<std::uint32_t> probes = own_marks(task, segment, self);
    for (const contracts::Assignment& assignment : task.assignments) {
        if (assignment.segment == segment && assignment.probe != 0) {
            probes.push_back(assignment.probe);
        }
    }
    return probes;
}

}  // namespace

std::vector<std::uint32_t> own_marks(const contracts::Task& task, std::uint32_t segment, const AccountId& self) {
    for (const contracts::Assignment& assignment : task.assignments) {
        if (assignment.segment == segment && assignment.verifier == self) {
            return contracts::marks_of(task, assignment);
        }
    }
    return {};
}

void Checker::want(const contracts::Task& task, std::uint32_t segment) {
    context_.want(task, artifacts::Urgency::kDuty, segment);
    const std::uint32_t last = std::min(segment, task.checkpoints - 1);
    for (std::uint32_t index = segment == 0 ? 0 : segment - 1; index <= last; ++index) {
        context_.want_checkpoint(task.id, index);
    }
}

bool Checker::replay(const contracts::Task& task, std::uint32_t segment) {
    const auto artifacts = context_.artifacts(task, artifacts::Urgency::kDuty, segment);
    roles::Replays& replays = context_.journal.replays({task.id, segment});
    if (!artifacts) {
        // The submitter's artifacts, not the solver's: nothing to challenge.
        const auto why = context_.unusable.find(task.id);
        if (why != context_.unusable.end()) {
            replays.unable = true;
            report_verdict(context_.reporter, task, segment, roles::Finding::kUnable, why->second);
        }
        return false;
    }
    if (context_.behaviour.invents_replay(context_, task, segment, artifacts)) {
        context_.checked.try_emplace({task.id, segment}, 0);
        return true;
    }
    // The checkpoint after the segment as well: a state that nobody can have cannot be built upon.
    const std::uint32_t last = std::min(segment, task.checkpoints - 1);
    auto before = load(task, *artifacts, segment, last, replays);
    return before && run(task, artifacts, segment, *std::move(before));
}

std::optional<std::vector<canonical::Tensor>> Checker::load(
    const contracts::Task& task, const TaskArtifacts& artifacts, std::uint32_t segment, std::uint32_t last,
    roles::Replays& replays
) {
    std::vector<canonical::Tensor> before;
    for (std::uint32_t index = segment == 0 ? 0 : segment - 1; index <= last; ++index) {
        const contracts::Checkpoint& checkpoint = context_.chain.checkpoint(task.id, index);
        const auto missing = [&]() -> std::optional<Unavailable> {
            if (index == segment) {  // the segment's end is not replayed from
                const auto found = context_.has_state(artifacts, checkpoint, artifacts.frozen_in(index));
                return found ? std::nullopt : std::optional(found.error());
            }
            auto state = context_.state_at(artifacts, index);
            if (!state) {
                return state.error();
            }
            before = *std::move(state);
            return std::nullopt;
        }();
        if (missing && missing->defect == Defect::kStateOther) {
            dispute_end(task, index);
        }
        if (missing && (missing->is_ours() || missing->defect == Defect::kStateOther)) {
            context_.decline(task.id, *missing);
            return std::nullopt;
        }
        if (missing) {
            const std::uint32_t tries = context_.failures(artifacts, index);
            if (replays.missing_checkpoint == index && replays.fetch_failures == tries) {
                return std::nullopt;  // another attempt is under way
            }
            replays.missing_checkpoint = index;
            replays.fetch_failures = tries;
            context_.reporter.event(
                {{"event", "missing"},
                 {"task", to_hex(task.id.view())},
                 {"checkpoint", index},
                 {"tries", replays.fetch_failures},
                 {"reason", missing->reason}}
            );
            return std::nullopt;
        }
    }
    replays.missing_checkpoint.reset();
    replays.fetch_failures = 0;
    return before;
}

void Checker::dispute_end(const contracts::Task& task, std::uint32_t segment) {
    if (context_.chain.rpc().dispute(contracts::dispute_id(task.id, segment, context_.chain.self()))) {
        return;
    }
    const bool is_verifier = context_.options.mode == Mode::kVerify;
    const bool sent = context_.chain.send(contracts::OpenDispute{
        .task = task.id,
        .segment = segment,
        .role = is_verifier ? contracts::Role::kVerifier : contracts::Role::kWhistleblower});
    if (sent) {
        context_.journal.note_dispute(task.id);
        context_.reporter.event({{"event", "accuse"}, {"task", to_hex(task.id.view())}, {"segment", segment}});
    }
}

void Checker::note_probes(
    const contracts::Task& task, std::uint32_t segment, const std::map<std::uint32_t, Hash256>& probe_roots
) {
    for (const auto& [probe, root] : probe_roots) {
        roles::Replays& replays = context_.journal.probe_replays({task.id, segment}, probe);
        (replays.first ? replays.second : replays.first) = root;
    }
}

void Checker::note_checks(const contracts::Task& task, std::uint32_t segment, std::uint32_t failed) {
    context_.checked.insert_or_assign({task.id, segment}, failed);
    for (std::size_t i = 0; i < task.spec.checks.size(); ++i) {
        if ((failed >> i & 1U) != 0) {
            context_.reporter.event(
                {{"event", "check_failed"},
                 {"task", to_hex(task.id.view())},
                 {"segment", segment},
                 {"check", i},
                 {"kind", contracts::check_name(task.spec.checks[i])}}
            );
        }
    }
}

bool Checker::replay_probe(const contracts::Task& task, std::uint32_t segment, std::uint32_t probe) {
    const auto artifacts = context_.artifacts(task, artifacts::Urgency::kDuty, segment);
    roles::Replays& replays = context_.journal.probe_replays({task.id, segment}, probe);
    if (!artifacts) {
        replays.unable = context_.unusable.contains(task.id);
        return false;
    }
    auto before = load(task, *artifacts, segment, segment - 1, replays);
    if (!before) {
        return false;
    }
    try {
        const auto end = run_segment(
            artifacts, segment, *std::move(before), context_.options.engine,
            context_.behaviour.of_task(context_, artifacts),
            [this](std::uint64_t, std::uint64_t) { return context_.interlude(); },
            artifacts->first_step(segment) + probe - 1
        );
        if (!end) {
            return false;
        }
        note_probes(task, segment, {{probe, end->root(std::nullopt)}});
        context_.journal.keep_replays();
        context_.reporter.event(
            {{"event", "probe"},
             {"task", to_hex(task.id.view())},
             {"segment", segment},
             {"probe", probe},
             {"state_root", to_hex(end->root(std::nullopt).view())}}
        );
    } catch (const JournalError&) {
        throw;
    } catch (const std::exception& error) {
        replays.unable = true;
        context_.reporter.trouble("task " + to_hex(task.id.view()) + ": unable to check a verdict: " + error.what());
    }
    return true;
}

void Checker::judge(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
    const std::vector<canonical::Tensor>& before, const SegmentEnd& end
) {
    Judged judged;
    judged.verdict.end_root = end.root(end.diverged_at);
    if (end.diverged_at) {
        judged.verdict.diverged_after =
            static_cast<std::uint32_t>(*end.diverged_at - artifacts->first_step(segment)) + 1;
        judged.divergence = dispute::open_divergence(end.state);
    } else if (auto alleged = context_.behaviour.alleged_divergence(end.state)) {
        judged.verdict.diverged_after = contracts::step_count(task, segment);
        judged.divergence = *std::move(alleged);
    } else {
        const auto claimed = context_.state_at(*artifacts, segment);
        if (!claimed) {
            throw std::runtime_error(claimed.error().reason);
        }
        const auto measuring =
            prepare_measuring(*artifacts, before, end.state, *claimed, task.tolerance.value().sketch_seed);
        judged.verdict.measurement =
            measure(measuring, context_.options.engine, context_.behaviour.of_verdict(measuring.artifacts));
        judged.roots = measuring.roots;
    }
    context_.judged.insert_or_assign({task.id, segment}, judged);
}

std::optional<SegmentEnd> Checker::execute(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
    std::vector<canonical::Tensor> before, const Progress& progress
) {
    if (segment == contracts::evaluation_segment(task)) {
        const auto ground = evaluating(*artifacts, before);
        return run_segment(ground, 0, {}, context_.options.engine, context_.behaviour.of_score(ground), progress);
    }
    const auto claimed_step = segment == contracts::segment_count(task) ? task.diverged_at : std::nullopt;
    return run_segment(
        artifacts, segment, std::move(before), context_.options.engine, context_.behaviour.of_task(context_, artifacts),
        progress, claimed_step, probes_of(task, segment, context_.chain.self())
    );
}

bool Checker::run(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
    std::vector<canonical::Tensor> before
) {
    roles::Replays& replays = context_.journal.replays({task.id, segment});
    const Hash256 claimed = context_.chain.claimed_root(task, segment);
    auto last_report = std::chrono::steady_clock::now();
    const auto progress = [&](std::uint64_t done, std::uint64_t steps) {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_report >= kReportInterval || done == steps) {
            last_report = now;
            context_.reporter.event(
                {{"event", "replay"},
                 {"task", to_hex(task.id.view())},
                 {"segment", segment},
                 {"step", done},
                 {"steps", steps},
                 {"attempt", replays.first ? 2 : 1}}
            );
        }
        return context_.interlude();
    };
    std::string reason;
    const auto began = std::chrono::steady_clock::now();
    if (context_.metrics != nullptr) {
        context_.metrics->set_idle(std::nullopt);
    }
    try {
        const auto claimed_step = segment == contracts::segment_count(task) ? task.diverged_at : std::nullopt;
        const bool is_exact = contracts::is_exact(task, segment);
        std::vector<canonical::Tensor> kept = is_exact ? States{} : before;  // only a distance is measured from it
        const bool is_evaluation = segment == contracts::evaluation_segment(task);
        // CHK-3: an evaluation ends with a score, and what was scored is checked.
        std::uint32_t failed = is_evaluation ? failed_checks(task.spec.checks, before) : 0;
        const auto end = execute(task, artifacts, segment, std::move(before), progress);
        if (!end) {
            return false;
        }
        failed = is_evaluation ? failed : failed_checks(task.spec.checks, end->state);
        note_checks(task, segment, failed);
        if (context_.metrics != nullptr) {
            context_.metrics->add_replayed(std::chrono::steady_clock::now() - began);
        }
        if (end->diverged_at && end->diverged_at != claimed_step) {
            reason = "step " + std::to_string(*end->diverged_at) + " diverged, which the solver does not say";
        }
        (replays.first ? replays.second : replays.first) = end->root(claimed_step);
        note_probes(task, segment, end->probe_roots);
        if (!is_exact) {
            judge(task, artifacts, segment, kept, *end);
        }
        context_.journal.keep_replays();
    } catch (const JournalError&) {
        throw;
    } catch (const std::exception& error) {
        // Out of memory, a device, a self-test: ours to report, never the solver's fault.
        replays.unable = true;
        reason = error.what();
    }
    const auto judged = context_.judged.find({task.id, segment});
    roles::Finding finding = roles::finding_of(replays, claimed);
    if (judged != context_.judged.end() && !replays.unable) {
        const bool accepts = contracts::is_within_threshold(task, judged->second.verdict);
        finding = accepts ? roles::Finding::kAccept : roles::Finding::kReject;
    }
    report_verdict(context_.reporter, task, segment, finding, reason);
    return true;
}

}  // namespace assay::worker
