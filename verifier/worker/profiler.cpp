// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/profiler.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <contracts/lifecycle/keys.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

/// How often a report is checked that cannot be at first.
constexpr std::uint32_t kTries = 3;

/// The canonical state after the segment. Throws Diverged.
States replay(
    const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment, const States& before,
    const engine::EngineOptions& options, const Progress& progress
) {
    auto end = run_segment(artifacts, segment, before, options, nullptr, progress);
    if (end->diverged_at) {
        throw Diverged(*end->diverged_at);
    }
    return std::move(end->state);
}

/// Lets urgent things be done between steps.
Progress progress_of(const WorkerContext& context) {
    return [&context](std::uint64_t, std::uint64_t) {
        context.interlude();
        return true;
    };
}

States replay_from(
    const WorkerContext& context, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
    const States& before
) {
    return replay(artifacts, segment, before, context.options.engine, progress_of(context));
}

/// The state that every report of the task starts from (PRF-3, LIN-6). Throws Diverged.
Result<States, Unavailable> start_state(
    WorkerContext& context, const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts
) {
    if (task.spec.parent) {
        return load_parents_state(context, task, *artifacts);
    }
    return replay_from(context, artifacts, 0, {});
}

/// What the salt of a commitment is derived for: one draw of profilers.
struct SaltLabel {
    std::string chain_id;
    contracts::TaskId task;
    std::uint64_t reference_seed = 0;
    std::uint64_t profile_seed = 0;
    static constexpr auto fields() {
        return Fields<&SaltLabel::chain_id, &SaltLabel::task, &SaltLabel::reference_seed, &SaltLabel::profile_seed>{};
    }
};

Hash256 salt_for(const WorkerContext& context, const contracts::Task& task) {
    static const crypto::TaggedHash kTag("assay/profile-salt");
    const SaltLabel label{
        .chain_id = context.chain.chain_id(),
        .task = task.id,
        .reference_seed = task.tolerance.value().reference_seed,
        .profile_seed = task.tolerance->profile_seed};
    return kTag(ByteView(context.chain.key().bytes()), codec::encode(label));
}

/// Whether a report is for the draw that the task is in. Others may have been drawn since it was made (PRV-11), with
/// other seeds.
bool is_for(const WorkerContext& context, const contracts::Task& task, const Journal::KeptProfile& kept) {
    return kept.salt == salt_for(context, task);
}

/// The native states that the report is about; none of a private task (PRV-12). They are asked for before the first
/// replay: what takes long is not begun to be broken off.
Result<std::vector<Result<States, Unavailable>>, Unavailable> native_states(
    WorkerContext& context, const contracts::Task& task, const TaskArtifacts& artifacts,
    const contracts::ProfileReport& report
) {
    std::vector<Result<States, Unavailable>> out;
    if (task.spec.privacy) {
        return out;
    }
    for (const contracts::ProfileSegment& claimed : report.segments) {
        context.want_state(task.id, {claimed.native_root, claimed.location, {}, {}});
    }
    for (const contracts::ProfileSegment& claimed : report.segments) {
        out.push_back(native_state(context, artifacts, claimed));
        if (!out.back() && out.back().error().is_ours()) {
            return Unexpected{out.back().error()};
        }
    }
    return out;
}

}  // namespace

MeasuredReference measure_reference(
    const std::shared_ptr<const TaskArtifacts>& artifacts, const contracts::Tolerance& tolerance, States start,
    const engine::EngineOptions& options, const Progress& progress
) {
    MeasuredReference out;
    auto& [before, first, other] = out.states;
    before = std::move(start);
    first = replay(artifacts, 1, before, options, progress);
    other = replay(with_seed(*artifacts, tolerance.reference_seed), 1, before, options, progress);
    const auto measuring = prepare_measuring(*artifacts, before, first, other, tolerance.profile_seed);
    out.measurement = measure(measuring, options);
    out.roots = measuring.roots;
    return out;
}

const contracts::Profile* Profiler::own(const contracts::Task& task) const {
    if (task.state != contracts::TaskState::kProfiling || !task.tolerance || context_.stop) {
        return nullptr;
    }
    const auto& profiles = task.tolerance->profiles;
    const auto mine = std::find_if(profiles.begin(), profiles.end(), [&](const contracts::Profile& profile) {
        return profile.profiler == context_.chain.self();
    });
    return mine == profiles.end() ? nullptr : &*mine;
}

bool Profiler::send(const contracts::Task& task) {
    const contracts::Profile* mine = own(task);
    const auto kept = mine == nullptr ? std::nullopt : context_.journal.profile(task.id);
    if (!kept) {
        return false;
    }
    if (mine->status == contracts::ProfileStatus::kDue) {
        return is_for(context_, task, *kept) && commit(task, *kept);
    }
    const bool publishes = mine->status == contracts::ProfileStatus::kCommitted &&
                           task.tolerance->phase == contracts::ProfilingPhase::kPublish;
    return publishes &&
           context_.chain.send(contracts::PublishProfile{.task = task.id, .report = kept->report, .salt = kept->salt});
}

bool Profiler::attend(const contracts::Task& task) {
    const contracts::Profile* mine = own(task);
    const bool is_due = mine != nullptr && mine->status == contracts::ProfileStatus::kDue;
    // PRV-11: while somebody waits for the key of a private task, others may be drawn, and the work be for nothing.
    if (!is_due || contracts::owes_keys(task) || context_.journal.breaker()) {
        return false;
    }
    const auto known = context_.journal.profile(task.id);
    if (known && is_for(context_, task, *known)) {
        return false;
    }
    auto report = make_report(task);
    if (!report) {
        return false;
    }
    const Journal::KeptProfile kept{.report = *std::move(report), .salt = salt_for(context_, task)};
    context_.journal.keep_profile(task.id, kept);
    return commit(task, kept);
}

bool Profiler::commit(const contracts::Task& task, const Journal::KeptProfile& kept) {
    const bool sent = context_.chain.send(contracts::CommitProfile{
        .task = task.id,
        .commitment = contracts::profile_commitment(task.id, context_.chain.self(), kept.report, kept.salt)});
    if (sent) {
        context_.reporter.event({{"event", "profiled"}, {"task", to_hex(task.id.view())}});
    }
    return sent;
}

contracts::ProfileSegment Profiler::profile_segment(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
    const States& before, States& native
) {
    const States replayed = replay_from(context_, artifacts, segment, before);
    native = run_natively(*artifacts, segment, before, context_.options.engine);
    const artifacts::Leaves leaves = artifacts::leaves_of(native);
    contracts::ProfileSegment out;
    if (!task.spec.privacy) {  // PRV-12: nobody fetches those of a private task
        const auto stored = artifacts::store_state(artifacts->program, native, leaves, context_.store);
        context_.journal.note_made(task.id, stored.hash, stored.size_bytes);
        out.location = context_.artifacts_url;
    }
    const auto measuring = prepare_measuring(*artifacts, before, replayed, native, task.tolerance->profile_seed);
    out.native_root = artifacts::root_of_leaves(program::types_of(artifacts->program.state), leaves);
    out.replayed_root = artifacts::state_root_of(replayed);
    out.measurement = measure(measuring, context_.options.engine, context_.behaviour.of_profile(measuring.artifacts));
    context_.reporter.event(
        {{"event", "profile"},
         {"task", to_hex(task.id.view())},
         {"segment", segment},
         {"drift", dispute::relative_drift(out.measurement.parameters)}}
    );
    return out;
}

std::optional<contracts::ProfileReport> Profiler::make_report(const contracts::Task& task) {
    const auto artifacts = context_.artifacts(task);
    if (!artifacts || context_.unusable.contains(task.id)) {
        return std::nullopt;
    }
    try {
        contracts::ProfileReport report;
        const auto start = start_state(context_, task, artifacts);
        if (!start) {
            context_.decline(task.id, start.error());
            return std::nullopt;
        }
        report.start_root = artifacts::state_root_of(*start);
        States before = *start;
        for (std::uint32_t segment = 1; segment <= context_.chain.params().profile_segments; ++segment) {
            States native;
            report.segments.push_back(profile_segment(task, artifacts, segment, before, native));
            before = std::move(native);
        }
        const MeasuredReference reference =
            measure_reference(artifacts, *task.tolerance, *start, context_.options.engine, progress_of(context_));
        report.reference_root = artifacts::state_root_of(reference.states[2]);
        report.reference = reference.measurement;
        return report;
    } catch (const JournalError&) {
        throw;
    } catch (const artifacts::StoreError&) {
        throw;
    } catch (const http::NetError&) {
        throw;
    } catch (const client::RpcError&) {
        throw;
    } catch (const std::exception& error) {
        context_.reporter.trouble("task " + to_hex(task.id.view()) + ": unable to profile it: " + error.what());
        return std::nullopt;
    }
}

Result<States, Unavailable> native_state(
    WorkerContext& context, const TaskArtifacts& artifacts, const contracts::ProfileSegment& segment
) {
    return context.state(artifacts, {segment.native_root, segment.location, {}, {}});
}

Result<States, Unavailable> state_before_profiled(
    WorkerContext& context, const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
    const contracts::ProfileReport& report, std::uint32_t segment
) {
    if (segment <= 1) {
        return start_state(context, task, artifacts);
    }
    return native_state(context, *artifacts, report.segments.at(segment - 2));
}

bool ProfileWatch::attend(const contracts::Task& task) {
    const bool is_time = task.state == contracts::TaskState::kProfiling && task.tolerance &&
                         task.tolerance->phase == contracts::ProfilingPhase::kChallenge;
    if (!is_time || context_.stop || !context_.behaviour.watches() || context_.journal.breaker()) {
        return false;
    }
    for (const contracts::Profile& profile : task.tolerance->profiles) {
        const bool stands = profile.status == contracts::ProfileStatus::kStanding;
        std::uint32_t& tries = tries_.try_emplace({task.id, profile.profiler}, kTries).first->second;
        if (!stands || profile.profiler == context_.chain.self() || tries == 0) {
            continue;
        }
        switch (check(task, profile.profiler)) {
            case Checked::kDone:
                tries = 0;
                return true;
            case Checked::kFailed:
                --tries;
                break;  // with the next block, what failed may not
            case Checked::kWaiting:
                break;
        }
    }
    return false;
}

ProfileWatch::Checked ProfileWatch::check(const contracts::Task& task, const AccountId& profiler) {
    const auto artifacts = context_.artifacts(task);
    const auto report = context_.chain.rpc().profile(task.id, profiler);
    if (!artifacts || !report) {
        return context_.unusable.contains(task.id) ? Checked::kFailed : Checked::kWaiting;
    }
    try {
        const auto fault = find_fault(task, artifacts, *report);
        if (!fault) {
            if (fault.error().is_ours()) {
                return Checked::kWaiting;
            }
            context_.reporter.trouble(
                "task " + to_hex(task.id.view()) + ": unable to check a profile: " + fault.error().reason
            );
            return Checked::kFailed;
        }
        return !*fault || challenge(task, profiler, **fault) ? Checked::kDone : Checked::kFailed;
    } catch (const JournalError&) {
        throw;
    } catch (const http::NetError&) {
        throw;
    } catch (const client::RpcError&) {
        throw;
    } catch (const std::exception& error) {
        // Out of memory, a device, a replay that diverges: nothing to accuse anybody of.
        context_.reporter.trouble("task " + to_hex(task.id.view()) + ": unable to check a profile: " + error.what());
        return Checked::kFailed;
    }
}

bool ProfileWatch::challenge(const contracts::Task& task, const AccountId& profiler, const Fault& fault) {
    const bool sent = context_.chain.send(contracts::ChallengeProfile{
        .task = task.id,
        .profiler = profiler,
        .role = role_,
        .part = fault.part,
        .segment = fault.segment,
        .roots = fault.roots});
    if (sent) {
        context_.reporter.event(
            {{"event", "challenge_profile"},
             {"task", to_hex(task.id.view())},
             {"profiler", to_hex(profiler.view())},
             {"part", contracts::to_string(fault.part)},
             {"segment", fault.segment}}
        );
    }
    return sent;
}

Result<const MeasuredReference*, Unavailable> ProfileWatch::reference_of(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts
) {
    const contracts::Tolerance& tolerance = task.tolerance.value();
    if (reference_ && reference_->task == task.id && reference_->seed == tolerance.reference_seed) {
        return &reference_->measured;
    }
    TRY_ASSIGN(States start, start_state(context_, task, artifacts));
    Reference made{.task = task.id, .seed = tolerance.reference_seed};
    made.measured =
        measure_reference(artifacts, tolerance, std::move(start), context_.options.engine, progress_of(context_));
    return &reference_.emplace(std::move(made)).measured;
}

Result<std::optional<ProfileWatch::Fault>, Unavailable> ProfileWatch::find_fault(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
    const contracts::ProfileReport& report
) {
    using contracts::ProfilePart;
    const contracts::Tolerance& tolerance = task.tolerance.value();
    const auto& engine = context_.options.engine;
    TRY_ASSIGN(const auto natives, native_states(context_, task, *artifacts, report));
    TRY_ASSIGN(const MeasuredReference* reference, reference_of(task, artifacts));
    const auto& [start, first, other] = reference->states;
    if (artifacts::state_root_of(start) != report.start_root) {
        return std::optional(Fault{ProfilePart::kStart, 0, {}});
    }
    if (artifacts::state_root_of(other) != report.reference_root) {
        return std::optional(Fault{ProfilePart::kReference, 0, {}});
    }
    States before = start;
    // PRV-12: of a private task all but the replay of segment 1 is its profiler's own.
    const std::size_t checked = task.spec.privacy ? 1 : report.segments.size();
    for (std::uint32_t segment = 1; segment <= checked; ++segment) {
        const contracts::ProfileSegment& claimed = report.segments[segment - 1];
        const States replayed = segment == 1 ? first : replay_from(context_, artifacts, segment, before);
        if (artifacts::state_root_of(replayed) != claimed.replayed_root) {
            return std::optional(Fault{ProfilePart::kReplayed, segment, {}});
        }
        if (natives.empty()) {
            break;
        }
        TRY_ASSIGN(States native, natives[segment - 1]);
        const auto measuring = prepare_measuring(*artifacts, before, replayed, native, tolerance.profile_seed);
        if (measure(measuring, engine) != claimed.measurement) {
            return std::optional(Fault{ProfilePart::kMeasurement, segment, measuring.roots});
        }
        before = std::move(native);
    }
    // Last: it says the least, and its claim is about a segment that was right.
    if (reference->measurement != report.reference) {
        return std::optional(Fault{ProfilePart::kReferenceMeasurement, 0, reference->roots});
    }
    return std::optional<Fault>{};
}

}  // namespace assay::worker
