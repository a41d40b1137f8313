// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/checker.hpp>

#include <chrono>
#include <string>
#include <utility>

#include <contracts/tasks/task.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::milliseconds kReportInterval{500};
/// Asking for a checkpoint again is cheap; waiting long for a dead server is not.
constexpr artifacts::FetchLimits kFetchLimits{.size_max = 1U << 30U, .timeout = std::chrono::seconds(10)};

const char* verdict_name(roles::Finding finding) {
    switch (finding) {
        case roles::Finding::kAccept: return "accept";
        case roles::Finding::kReject: return "reject";
        case roles::Finding::kDoubt: return "doubt";
        default: return "unable";
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

}  // namespace

bool Checker::replay(const contracts::Task& task, std::uint32_t segment) {
    const auto material = at_.material(task);
    roles::Replays& replays = at_.journal.replays({task.id, segment});
    if (!material) {
        // The submitter's artifacts, not the solver's: nothing to challenge.
        const auto why = at_.unusable.find(task.id);
        if (why != at_.unusable.end()) {
            replays.unable = true;
            report_verdict(at_.reporter, task, segment, roles::Finding::kUnable, why->second);
        }
        return false;
    }
    std::vector<canonical::Tensor> before;
    // The checkpoint after the segment as well: a state that nobody can have cannot be built upon.
    for (std::uint32_t index = segment == 0 ? 0 : segment - 1; index <= segment; ++index) {
        auto state = load_state(*material, at_.chain.checkpoint(task.id, index), at_.store, kFetchLimits);
        if (!state) {
            replays.missing_checkpoint = index;
            ++replays.fetch_failures;
            at_.reporter.event(
                {{"event", "missing"},
                 {"task", to_hex(task.id.view())},
                 {"checkpoint", index},
                 {"tries", replays.fetch_failures},
                 {"reason", state.error().reason}}
            );
            return false;
        }
        if (index != segment) {
            before = *std::move(state);
        }
    }
    replays.missing_checkpoint.reset();
    replays.fetch_failures = 0;
    return run(task, material, segment, before);
}

bool Checker::run(
    const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
    const std::vector<canonical::Tensor>& before
) {
    roles::Replays& replays = at_.journal.replays({task.id, segment});
    const Hash256 claimed = at_.chain.checkpoint(task.id, segment).state_root;
    auto last_report = std::chrono::steady_clock::now();
    const auto progress = [&](std::uint64_t done, std::uint64_t steps) {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_report >= kReportInterval || done == steps) {
            last_report = now;
            at_.reporter.event(
                {{"event", "replay"},
                 {"task", to_hex(task.id.view())},
                 {"segment", segment},
                 {"step", done},
                 {"steps", steps},
                 {"attempt", replays.first ? 2 : 1}}
            );
        }
        return !at_.stop;
    };
    std::string reason;
    try {
        const auto claimed_step = segment == contracts::segment_count(task) ? task.diverged_at : std::nullopt;
        const auto end = run_segment(
            material, segment, before, at_.options.engine, at_.fraud(material), progress, claimed_step
        );
        if (!end) {
            return false;
        }
        if (end->diverged_at && end->diverged_at != claimed_step) {
            reason = "step " + std::to_string(*end->diverged_at) + " diverged, which the solver does not say";
        }
        (replays.first ? replays.second : replays.first) = end->root(claimed_step);
        at_.journal.keep_replays();
    } catch (const JournalError&) {
        throw;
    } catch (const std::exception& error) {
        // Out of memory, a device, a self-test: ours to report, never the solver's fault.
        replays.unable = true;
        reason = error.what();
    }
    report_verdict(at_.reporter, task, segment, roles::finding_of(replays, claimed), reason);
    return true;
}

}  // namespace assay::worker
