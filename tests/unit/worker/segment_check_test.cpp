// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include <tests/adversary/fraud.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/worker/measuring.hpp>
#include <verifier/worker/segment_check.hpp>

namespace assay::worker {
namespace {

using adversary::Dishonesty;
using adversary::Fraud;

/// The records of a segment of the small task as its chain would have them.
artifacts::SegmentRecords records_of(
    test::SmallTask& small, std::uint32_t segment, const std::shared_ptr<const Fraud>& fraud = nullptr
) {
    const auto checkpoint = [&](std::uint32_t index) { return small.post(small.state_after(index, fraud)); };
    artifacts::SegmentRecords out;
    out.task.id = contracts::TaskId{{7}};
    out.task.spec = small.spec;
    out.task.checkpoints = 4;
    out.segment = segment;
    if (segment != 0) {
        out.before = checkpoint(segment - 1);
    }
    out.after = checkpoint(segment);
    return out;
}

Result<std::optional<SegmentCheck>, Unavailable> check(
    const test::SmallTask& small, const artifacts::SegmentRecords& records, bool stop = false
) {
    Reporter reporter(true);
    return check_segment(records, waiting_source(small.store), {}, reporter, std::atomic<bool>(stop));
}

int replay(const test::SmallTask& small, const Bytes& file) {
    const auto path = small.home.path() / "segment.borsh";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    WorkerOptions options;
    options.home = small.home.path();
    return run_replay(path, options, std::atomic<bool>(false));
}

TEST_CASE("anybody's replay of an honest segment holds, the initialisation included") {
    test::SmallTask small;
    for (std::uint32_t segment = 0; segment <= 3; ++segment) {
        const auto done = check(small, records_of(small, segment)).value().value();
        CHECK(done.holds());
        CHECK(done.steps == (segment == 0 ? 1 : 4));
        CHECK_FALSE(done.diverged_at.has_value());
    }
    CHECK(replay(small, codec::encode(records_of(small, 2))) == kReplayHolds);
}

TEST_CASE("VER-18: in tolerance mode a replay says how far the checkpoint is, and what is tolerated") {
    test::SmallTask small;
    auto records = records_of(small, 2);
    small.spec.mode = contracts::Mode::kTolerance;
    const auto distance = program::build_distance_program(small.artifacts->program.state).value();
    const auto commitment = artifacts::commit_program(distance, Hash256{});
    small.spec.distance = contracts::DistanceCommitment{
        commitment.init_root, commitment.init_nodes, commitment.init_work, commitment.outputs};
    records.task.spec = small.spec;
    auto& tolerance = records.task.tolerance.emplace();
    tolerance.threshold = contracts::Distances{100'000, 100'000};
    const auto after = run_natively(*small.artifacts, 2, small.state_after(1), {});
    records.after = small.post(after);
    const auto near = check(small, records).value().value();
    CHECK(near.holds());
    CHECK(near.claimed != near.replayed);
    REQUIRE(near.distance.has_value());
    CHECK(near.distance->drift.parameters > 0);
    CHECK(near.distance->drift.parameters <= 100'000);

    tolerance.threshold = contracts::Distances{0, 0};
    CHECK_FALSE(check(small, records).value().value().holds());
    CHECK(replay(small, codec::encode(records)) == kReplayDiffers);

    // The initialisation is canonical in both modes.
    auto first = records_of(small, 0);
    first.task.tolerance = tolerance;
    CHECK_FALSE(check(small, first).value().value().distance.has_value());
}

TEST_CASE("anybody's replay of a fraud differs in the segment of the fraud alone") {
    test::SmallTask small;
    const auto fraud = std::make_shared<const Fraud>(Dishonesty::kTile, small.artifacts, 5);
    CHECK(check(small, records_of(small, 1, fraud)).value().value().holds());
    const auto wrong = check(small, records_of(small, 2, fraud)).value().value();
    CHECK_FALSE(wrong.holds());
    CHECK(wrong.claimed != wrong.replayed);
    CHECK(check(small, records_of(small, 3, fraud)).value().value().holds());
    CHECK(replay(small, codec::encode(records_of(small, 2, fraud))) == kReplayDiffers);
}

TEST_CASE("a replay that cannot be done says nothing about the solver") {
    test::SmallTask small;
    auto records = records_of(small, 2);
    records.before->state_root = Hash256{{1}};
    const auto missing = check(small, records);
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().reason.find("the checkpoint") != std::string::npos);
    CHECK(replay(small, codec::encode(records)) == EXIT_FAILURE);
    records = records_of(small, 2);
    records.after->state_root = Hash256{{1}};
    CHECK_FALSE(check(small, records).has_value());
    CHECK_FALSE(check(small, records_of(small, 2), true).value().has_value());
}

TEST_CASE("ART-10: a segment upon a parent is replayed with the frozen tensors of the first checkpoint") {
    test::SmallTask small(test::Start::kFrozen);
    small.spec.parent = contracts::TaskId{{8}};
    small.spec.initial_artifact.reset();
    const auto before = small.state_after(3);  // the parent's last
    const contracts::Checkpoint start = small.post(before);
    auto child =
        load_task_artifacts(contracts::TaskId{{7}}, small.spec, waiting_source(small.store), {}, start).value();
    const auto first = run_segment(child, 1, before, {}, nullptr).value().state;
    const auto second = run_segment(child, 2, first, {}, nullptr).value().state;
    artifacts::SegmentRecords records;
    records.task.id = contracts::TaskId{{7}};
    records.task.spec = small.spec;
    records.task.checkpoints = 4;
    records.segment = 2;
    records.before = small.post(first, child->frozen_in(1));
    records.after = small.post(second, child->frozen_in(2));
    CHECK_FALSE(check(small, records).has_value());
    records.start = start;
    CHECK(check(small, records).value().value().holds());
    CHECK(replay(small, codec::encode(records)) == kReplayHolds);
}

TEST_CASE("a file that has no records of a segment is refused") {
    test::SmallTask small;
    CHECK_THROWS_WITH(replay(small, {1, 2, 3}), doctest::Contains("has no records of a segment"));
    auto records = records_of(small, 1);
    records.before.reset();
    CHECK_THROWS_WITH(replay(small, codec::encode(records)), doctest::Contains("has no records"));
    records = records_of(small, 1);
    records.segment = 4;
    CHECK_THROWS_WITH(replay(small, codec::encode(records)), doctest::Contains("has no records"));
}

}  // namespace
}  // namespace assay::worker
