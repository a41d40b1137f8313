// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/profiler.hpp>

#include <algorithm>
#include <utility>

#include <core/crypto/random.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

/// The canonical state after the segment. Throws Diverged.
States replay_from(
    const std::shared_ptr<const Material>& material, std::uint32_t segment, const States& before,
    const engine::EngineOptions& options
) {
    auto end = run_segment(material, segment, before, options, nullptr);
    if (end->diverged_at) {
        throw Diverged(*end->diverged_at);
    }
    return std::move(end->state);
}

}  // namespace

bool Profiler::attend(const contracts::Task& task) {
    if (task.state != contracts::TaskState::kProfiling || !task.tolerance || at_.stop) {
        return false;
    }
    const auto& profiles = task.tolerance->profiles;
    const auto mine = std::find_if(profiles.begin(), profiles.end(), [&](const contracts::Profile& profile) {
        return profile.profiler == at_.chain.self();
    });
    if (mine == profiles.end()) {
        return false;
    }
    if (mine->status == contracts::ProfileStatus::kDue) {
        return commit(task);
    }
    const auto kept = at_.journal.profile(task.id);
    const bool publishes = mine->status == contracts::ProfileStatus::kCommitted &&
                           task.tolerance->phase == contracts::ProfilingPhase::kPublish && kept;
    return publishes && at_.chain.send(contracts::PublishProfile{
                            .task = task.id, .report = kept->report, .salt = kept->salt});
}

bool Profiler::commit(const contracts::Task& task) {
    auto kept = at_.journal.profile(task.id);
    if (!kept && at_.journal.breaker()) {
        return false;
    }
    if (!kept) {
        auto report = make_report(task);
        if (!report) {
            return false;
        }
        kept.emplace();
        kept->report = *std::move(report);
        crypto::fill_random(kept->salt.data);
        at_.journal.keep_profile(task.id, *kept);
    }
    const bool sent = at_.chain.send(contracts::CommitProfile{
        .task = task.id,
        .commitment = contracts::profile_commitment(task.id, at_.chain.self(), kept->report, kept->salt)});
    if (sent) {
        at_.reporter.event({{"event", "profiled"}, {"task", to_hex(task.id.view())}});
    }
    return sent;
}

contracts::ProfileSegment Profiler::profile_segment(
    const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
    const States& before, States& native
) {
    const States replayed = replay_from(material, segment, before, at_.options.engine);
    native = run_natively(*material, segment, before, at_.options.engine);
    const Bytes bytes = artifacts::encode_state(material->program, native);
    const auto measuring = prepare_measuring(*material, before, replayed, native, task.tolerance->profile_seed);
    contracts::ProfileSegment out;
    out.native_root = artifacts::state_root_of(native);
    out.native = {.sha256 = at_.store.put(bytes), .size_bytes = bytes.size(), .location = at_.artifacts_url};
    out.replayed_root = artifacts::state_root_of(replayed);
    out.measurement = measure(measuring, at_.options.engine);
    at_.reporter.event(
        {{"event", "profile"},
         {"task", to_hex(task.id.view())},
         {"segment", segment},
         {"drift", trace::relative_drift(out.measurement.parameters)}}
    );
    return out;
}

std::optional<contracts::ProfileReport> Profiler::make_report(const contracts::Task& task) {
    const auto material = at_.material(task);
    if (!material) {
        return std::nullopt;
    }
    try {
        contracts::ProfileReport report;
        const States start = replay_from(material, 0, {}, at_.options.engine);
        report.start_root = artifacts::state_root_of(start);
        States before = start;
        for (std::uint32_t segment = 1; segment <= at_.chain.params().profile_segments; ++segment) {
            States native;
            report.segments.push_back(profile_segment(task, material, segment, before, native));
            before = std::move(native);
        }
        const States other =
            replay_from(with_seed(*material, task.tolerance->reference_seed), 1, start, at_.options.engine);
        const States replayed = replay_from(material, 1, start, at_.options.engine);
        report.reference_root = artifacts::state_root_of(other);
        report.reference = measure(
            prepare_measuring(*material, start, replayed, other, task.tolerance->profile_seed), at_.options.engine
        );
        return report;
    } catch (const JournalError&) {
        throw;
    } catch (const std::exception& error) {
        at_.reporter.trouble("task " + to_hex(task.id.view()) + ": unable to profile it: " + error.what());
        return std::nullopt;
    }
}

std::optional<States> state_before_profiled(
    Workplace& at, const std::shared_ptr<const Material>& material, const contracts::ProfileReport& report,
    std::uint32_t segment
) {
    if (segment <= 1) {
        return replay_from(material, 0, {}, at.options.engine);
    }
    const auto bytes = at.store.get(report.segments.at(segment - 2).native.sha256);
    auto state = artifacts::decode_state(material->program, bytes.value_or(Bytes{}));
    return state ? std::optional(*std::move(state)) : std::nullopt;
}

}  // namespace assay::worker
