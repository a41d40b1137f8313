// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/segment_check.hpp>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <verifier/worker/reporter.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/verification/verification.hpp>
#include <core/dispute/evaluation.hpp>
#include <verifier/worker/evaluating.hpp>
#include <verifier/worker/measuring.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

bool is_evaluation(const artifacts::SegmentRecords& records) {
    return records.segment == contracts::evaluation_segment(records.task);
}

artifacts::SegmentRecords read_records(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) {
        throw std::runtime_error(
            "cannot read " + path.string() + ": --records takes the file that `assay verify segment` writes"
        );
    }
    auto records = codec::decode<artifacts::SegmentRecords>(bytes);
    if (!records || records->segment > contracts::last_segment(records->task) ||
        records->after.has_value() == is_evaluation(*records) ||
        records->before.has_value() != (records->segment != 0) ||
        (records->task.tolerance && !records->task.tolerance->threshold)) {
        throw std::runtime_error(path.string() + " has no records of a segment; `assay verify segment` writes them");
    }
    return *std::move(records);
}

struct Ends {
    States before;
    States after;
};

/// The states before and after. In exact mode the latter is not kept: it has to be there, and to be what the chain
/// says.
Result<Ends, Unavailable> load_ends(
    const TaskArtifacts& artifacts, const artifacts::SegmentRecords& records, const ArtifactSource& source
) {
    Ends ends;
    if (records.before) {
        TRY_ASSIGN(
            ends.before, load_state(artifacts, *records.before, artifacts.frozen_in(records.segment - 1), source)
        );
    }
    if (records.after && contracts::is_exact(records.task, records.segment)) {
        TRY(check_state(artifacts, *records.after, artifacts.frozen_in(records.segment), source));
    } else if (records.after) {
        TRY_ASSIGN(ends.after, load_state(artifacts, *records.after, artifacts.frozen_in(records.segment), source));
    }
    return ends;
}

/// Of a task that has a threshold. A replay that diverged is as far away as can be.
SegmentCheck::Distance measure_distance(
    const TaskArtifacts& artifacts, const contracts::Task& task, const Ends& ends, const SegmentEnd& end,
    const engine::EngineOptions& options
) {
    contracts::Verdict verdict;
    SegmentCheck::Distance out{
        .drift = {dispute::kMaxRelative, dispute::kMaxRelative}, .threshold = task.tolerance->threshold.value()};
    if (!end.diverged_at) {
        verdict.measurement = measure(
            prepare_measuring(artifacts, ends.before, end.state, ends.after, task.tolerance->sketch_seed), options
        );
        out.drift = {
            dispute::relative_drift(verdict.measurement->parameters),
            dispute::relative_drift(verdict.measurement->other)};
    }
    out.is_within = contracts::is_within_threshold(task, verdict);
    return out;
}

}  // namespace

Result<std::optional<SegmentCheck>, Unavailable> check_segment(
    const artifacts::SegmentRecords& records, const ArtifactSource& source, const engine::EngineOptions& options,
    Reporter& reporter, const std::atomic<bool>& stop, const DatasetSource& dataset_source
) {
    const contracts::Task& task = records.task;
    if (task.spec.privacy) {
        return Unexpected{Unavailable{
            .is_final = true,
            .reason = "the task is private: only who was drawn for it can replay it, and this command has no key",
            .defect = Defect::kSealed}};
    }
    reporter.event({{"event", "fetching"}, {"task", to_hex(task.id.view())}, {"segment", records.segment}});
    const auto part = dataset_source ? std::optional(SegmentPart{records.segment, dataset_source}) : std::nullopt;
    TRY_ASSIGN(const auto artifacts, load_task_artifacts(task.id, task.spec, source, part, records.start));
    if (artifacts->segments) {
        reporter.event(
            {{"event", "dataset"},
             {"task", to_hex(task.id.view())},
             {"segment", records.segment},
             {"bytes", artifacts->part_bytes},
             {"of", canonical::byte_count(task.spec.program.dataset)}}
        );
    }
    TRY_ASSIGN(auto ends, load_ends(*artifacts, records, source));
    SegmentCheck check;
    auto last_report = std::chrono::steady_clock::now();
    const auto progress = [&](std::uint64_t done, std::uint64_t steps) {
        const auto now = std::chrono::steady_clock::now();
        check.steps = done;
        if (now - last_report >= kReportInterval || done == steps) {
            last_report = now;
            reporter.event(
                {{"event", "replay"},
                 {"task", to_hex(task.id.view())},
                 {"segment", records.segment},
                 {"step", done},
                 {"steps", steps}}
            );
        }
        return !stop;
    };
    const auto claimed_step = records.segment == contracts::segment_count(task) ? task.diverged_at : std::nullopt;
    const bool is_exact = contracts::is_exact(task, records.segment);
    const auto execute = [&](States before) {
        return is_evaluation(records)
                   ? run_segment(evaluating(*artifacts, before), 0, {}, options, nullptr, progress)
                   : run_segment(
                         artifacts, records.segment, std::move(before), options, nullptr, progress, claimed_step
                     );
    };
    const auto end = is_exact ? execute(std::move(ends.before)) : execute(ends.before);
    if (!end) {
        return std::optional<SegmentCheck>{};
    }
    check.claimed = records.after ? records.after->state_root : dispute::score_root(task.evaluation.value().score);
    check.replayed = end->root(claimed_step);
    check.diverged_at = end->diverged_at;
    if (!is_exact) {
        check.distance = measure_distance(*artifacts, task, ends, *end, options);
    }
    return std::optional(check);
}

int run_replay(const std::filesystem::path& path, const WorkerOptions& options, const std::atomic<bool>& stop) {
    const artifacts::SegmentRecords records = read_records(path);
    const artifacts::ContentStore store(options.home / "store");
    Reporter reporter(options.json_progress);
    const auto source = waiting_source(store, options.artifact_sources);
    const auto dataset_source = waiting_dataset_source(store, options.artifact_sources);
    const auto check = check_segment(records, source, options.engine, reporter, stop, dataset_source);
    if (!check) {
        reporter.event({{"event", "unable"}, {"reason", check.error().reason}});
        return EXIT_FAILURE;
    }
    if (!*check) {
        reporter.event({{"event", "stopping"}});
        return EXIT_FAILURE;
    }
    const SegmentCheck& result = **check;
    nlohmann::ordered_json event = {{"event", "replayed"},
                                    {"task", to_hex(records.task.id.view())},
                                    {"segment", records.segment},
                                    {"steps", result.steps},
                                    {"claimed", to_hex(result.claimed.view())},
                                    {"replayed", to_hex(result.replayed.view())},
                                    {"holds", result.holds()}};
    if (result.diverged_at) {
        event["diverged_at"] = *result.diverged_at;
    }
    if (result.distance) {
        const auto& [drift, threshold, is_within] = *result.distance;
        event["drift"] = {{"parameters", drift.parameters}, {"other", drift.other}};
        event["threshold"] = {{"parameters", threshold.parameters}, {"other", threshold.other}};
    }
    reporter.event(event);
    return result.holds() ? kReplayHolds : kReplayDiffers;
}

}  // namespace assay::worker
