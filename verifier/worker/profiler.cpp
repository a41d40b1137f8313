// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/profiler.hpp>

#include <algorithm>
#include <utility>

#include <core/crypto/random.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

/// How often a report is checked that cannot be at first.
constexpr std::uint32_t kTries = 3;

/// The canonical state after the segment. Throws Diverged.
States replay_from(
    const Workplace& at, const std::shared_ptr<const Material>& material, std::uint32_t segment, const States& before
) {
    const auto progress = [&at](std::uint64_t, std::uint64_t) {
        at.interlude();
        return true;
    };
    auto end = run_segment(material, segment, before, at.options.engine, nullptr, progress);
    if (end->diverged_at) {
        throw Diverged(*end->diverged_at);
    }
    return std::move(end->state);
}

/// The state that every report of the task starts from (PRF-3, LIN-6). Throws Diverged.
Result<States, Unavailable> start_state(
    Workplace& at, const contracts::Task& task, const std::shared_ptr<const Material>& material
) {
    if (task.spec.parent) {
        return load_parents_state(at, task, *material);
    }
    return replay_from(at, material, 0, {});
}

}  // namespace

const contracts::Profile* Profiler::own(const contracts::Task& task) const {
    if (task.state != contracts::TaskState::kProfiling || !task.tolerance || at_.stop) {
        return nullptr;
    }
    const auto& profiles = task.tolerance->profiles;
    const auto mine = std::find_if(profiles.begin(), profiles.end(), [&](const contracts::Profile& profile) {
        return profile.profiler == at_.chain.self();
    });
    return mine == profiles.end() ? nullptr : &*mine;
}

bool Profiler::send(const contracts::Task& task) {
    const contracts::Profile* mine = own(task);
    const auto kept = mine == nullptr ? std::nullopt : at_.journal.profile(task.id);
    if (!kept) {
        return false;
    }
    if (mine->status == contracts::ProfileStatus::kDue) {
        return commit(task, *kept);
    }
    const bool publishes = mine->status == contracts::ProfileStatus::kCommitted &&
                           task.tolerance->phase == contracts::ProfilingPhase::kPublish;
    return publishes && at_.chain.send(contracts::PublishProfile{
                            .task = task.id, .report = kept->report, .salt = kept->salt});
}

bool Profiler::attend(const contracts::Task& task) {
    const contracts::Profile* mine = own(task);
    const bool is_due = mine != nullptr && mine->status == contracts::ProfileStatus::kDue;
    if (!is_due || at_.journal.breaker() || at_.journal.profile(task.id)) {
        return false;
    }
    auto report = make_report(task);
    if (!report) {
        return false;
    }
    Journal::KeptProfile kept{.report = *std::move(report), .salt = {}};
    crypto::fill_random(kept.salt.data);
    at_.journal.keep_profile(task.id, kept);
    return commit(task, kept);
}

bool Profiler::commit(const contracts::Task& task, const Journal::KeptProfile& kept) {
    const bool sent = at_.chain.send(contracts::CommitProfile{
        .task = task.id,
        .commitment = contracts::profile_commitment(task.id, at_.chain.self(), kept.report, kept.salt)});
    if (sent) {
        at_.reporter.event({{"event", "profiled"}, {"task", to_hex(task.id.view())}});
    }
    return sent;
}

contracts::ProfileSegment Profiler::profile_segment(
    const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
    const States& before, States& native
) {
    const States replayed = replay_from(at_, material, segment, before);
    native = run_natively(*material, segment, before, at_.options.engine);
    const Bytes bytes = artifacts::encode_state(material->program, native);
    const auto measuring = prepare_measuring(*material, before, replayed, native, task.tolerance->profile_seed);
    contracts::ProfileSegment out;
    out.native_root = artifacts::state_root_of(native);
    out.native = {.sha256 = at_.store.put(bytes), .size_bytes = bytes.size(), .location = at_.artifacts_url};
    out.replayed_root = artifacts::state_root_of(replayed);
    out.measurement = measure(
        measuring, at_.options.engine, at_.measuring_fraud(measuring.material, Dishonesty::kMisprofile)
    );
    at_.reporter.event(
        {{"event", "profile"},
         {"task", to_hex(task.id.view())},
         {"segment", segment},
         {"drift", dispute::relative_drift(out.measurement.parameters)}}
    );
    return out;
}

std::optional<contracts::ProfileReport> Profiler::make_report(const contracts::Task& task) {
    const auto material = at_.material(task);
    if (!material || at_.unusable.contains(task.id)) {
        return std::nullopt;
    }
    try {
        contracts::ProfileReport report;
        const auto start = start_state(at_, task, material);
        if (!start) {
            at_.decline(task.id, start.error());
            return std::nullopt;
        }
        report.start_root = artifacts::state_root_of(*start);
        States before = *start;
        for (std::uint32_t segment = 1; segment <= at_.chain.params().profile_segments; ++segment) {
            States native;
            report.segments.push_back(profile_segment(task, material, segment, before, native));
            before = std::move(native);
        }
        const States other =
            replay_from(at_, with_seed(*material, task.tolerance->reference_seed), 1, *start);
        const States replayed = replay_from(at_, material, 1, *start);
        report.reference_root = artifacts::state_root_of(other);
        report.reference = measure(
            prepare_measuring(*material, *start, replayed, other, task.tolerance->profile_seed), at_.options.engine
        );
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
        at_.reporter.trouble("task " + to_hex(task.id.view()) + ": unable to profile it: " + error.what());
        return std::nullopt;
    }
}

Result<States, Unavailable> native_state(
    Workplace& at, const Material& material, const contracts::ProfileSegment& segment
) {
    return at.state(material, {segment.native_root, segment.native, {}});
}

Result<States, Unavailable> state_before_profiled(
    Workplace& at,
    const contracts::Task& task,
    const std::shared_ptr<const Material>& material,
    const contracts::ProfileReport& report,
    std::uint32_t segment
) {
    if (segment <= 1) {
        return start_state(at, task, material);
    }
    return native_state(at, *material, report.segments.at(segment - 2));
}

bool ProfileWatch::attend(const contracts::Task& task) {
    const bool is_time = task.state == contracts::TaskState::kProfiling && task.tolerance &&
                         task.tolerance->phase == contracts::ProfilingPhase::kChallenge;
    if (!is_time || at_.stop || at_.options.dishonesty != Dishonesty::kNone || at_.journal.breaker()) {
        return false;
    }
    for (const contracts::Profile& profile : task.tolerance->profiles) {
        const bool stands = profile.status == contracts::ProfileStatus::kStanding;
        std::uint32_t& tries = tries_.try_emplace({task.id, profile.profiler}, kTries).first->second;
        if (!stands || profile.profiler == at_.chain.self() || tries == 0) {
            continue;
        }
        switch (check(task, profile.profiler)) {
            case Checked::kDone: tries = 0; return true;
            case Checked::kFailed: --tries; break;  // with the next block, what failed may not
            case Checked::kWaiting: break;
        }
    }
    return false;
}

ProfileWatch::Checked ProfileWatch::check(const contracts::Task& task, const AccountId& profiler) {
    const auto material = at_.material(task);
    const auto report = at_.chain.rpc().profile(task.id, profiler);
    if (!material || !report) {
        return at_.unusable.contains(task.id) ? Checked::kFailed : Checked::kWaiting;
    }
    try {
        const auto fault = find_fault(task, material, *report);
        if (!fault) {
            if (fault.error().defect == Defect::kPending) {
                return Checked::kWaiting;
            }
            at_.reporter.trouble(
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
        at_.reporter.trouble("task " + to_hex(task.id.view()) + ": unable to check a profile: " + error.what());
        return Checked::kFailed;
    }
}

bool ProfileWatch::challenge(const contracts::Task& task, const AccountId& profiler, const Fault& fault) {
    const bool sent = at_.chain.send(contracts::ChallengeProfile{
        .task = task.id,
        .profiler = profiler,
        .role = role_,
        .part = fault.part,
        .segment = fault.segment,
        .roots = fault.roots});
    if (sent) {
        at_.reporter.event(
            {{"event", "challenge_profile"},
             {"task", to_hex(task.id.view())},
             {"profiler", to_hex(profiler.view())},
             {"part", contracts::to_string(fault.part)},
             {"segment", fault.segment}}
        );
    }
    return sent;
}

Result<const ProfileWatch::Reference*, Unavailable> ProfileWatch::reference_of(
    const contracts::Task& task, const std::shared_ptr<const Material>& material
) {
    if (reference_ && reference_->task == task.id) {
        return &*reference_;
    }
    const contracts::Tolerance& tolerance = task.tolerance.value();
    const auto& engine = at_.options.engine;
    Reference made{.task = task.id};
    auto& [start, first, other] = made.states;
    TRY_ASSIGN(start, start_state(at_, task, material));
    first = replay_from(at_, material, 1, start);
    other = replay_from(at_, with_seed(*material, tolerance.reference_seed), 1, start);
    const auto measuring = prepare_measuring(*material, start, first, other, tolerance.profile_seed);
    made.measurement = measure(measuring, engine);
    made.roots = measuring.roots;
    return &reference_.emplace(std::move(made));
}

Result<std::optional<ProfileWatch::Fault>, Unavailable> ProfileWatch::find_fault(
    const contracts::Task& task, const std::shared_ptr<const Material>& material,
    const contracts::ProfileReport& report
) {
    using contracts::ProfilePart;
    const contracts::Tolerance& tolerance = task.tolerance.value();
    const auto& engine = at_.options.engine;
    // Asked for before the first replay: what takes long is not begun to be broken off.
    std::vector<Result<States, Unavailable>> natives;
    for (const contracts::ProfileSegment& claimed : report.segments) {
        at_.fetcher.want(task.id, claimed.native, artifacts::Urgency::kDuty);
    }
    for (const contracts::ProfileSegment& claimed : report.segments) {
        natives.push_back(native_state(at_, *material, claimed));
        if (!natives.back() && natives.back().error().defect == Defect::kPending) {
            return Unexpected{natives.back().error()};
        }
    }
    TRY_ASSIGN(const Reference* reference, reference_of(task, material));
    const auto& [start, first, other] = reference->states;
    if (artifacts::state_root_of(start) != report.start_root) {
        return std::optional(Fault{ProfilePart::kStart, 0, {}});
    }
    if (artifacts::state_root_of(other) != report.reference_root) {
        return std::optional(Fault{ProfilePart::kReference, 0, {}});
    }
    States before = start;
    for (std::uint32_t segment = 1; segment <= report.segments.size(); ++segment) {
        const contracts::ProfileSegment& claimed = report.segments[segment - 1];
        const States replayed = segment == 1 ? first : replay_from(at_, material, segment, before);
        if (artifacts::state_root_of(replayed) != claimed.replayed_root) {
            return std::optional(Fault{ProfilePart::kReplayed, segment, {}});
        }
        TRY_ASSIGN(States native, natives[segment - 1]);
        const auto measuring = prepare_measuring(*material, before, replayed, native, tolerance.profile_seed);
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
