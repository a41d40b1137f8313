// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

#include <core/merkle/tree.hpp>
#include <core/dispute/commitment.hpp>
#include <tests/unit/worker/part_of_task.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

TEST_CASE("ART-19: a segment is replayed with the chunks that its batches are in, and fetches no others") {
    test::SmallTask task(test::Start::kRandom, test::long_text(2U << 20U));
    const std::uint64_t size_bytes = task.spec.dataset_artifact.size_bytes;
    for (std::uint32_t segment = 0; segment <= 3; ++segment) {
        CAPTURE(segment);
        test::PartOfTask part(task);
        const auto some = part.load(segment);
        CHECK(some->covers(segment));
        CHECK_FALSE(some->covers(segment + 1));
        CHECK(part.server().bytes_sent() < size_bytes / 5);
        CHECK_FALSE(part.store().has(task.spec.dataset_artifact.sha256));
        auto before = segment == 0 ? std::vector<canonical::Tensor>{} : task.state_after(segment - 1);
        const auto end = run_segment(some, segment, std::move(before), {}, nullptr).value();
        CHECK(artifacts::state_root_of(end.state) == artifacts::state_root_of(task.state_after(segment)));
    }
}

TEST_CASE("ART-19: a step whose chunks are not there fails, and never reads zeros") {
    test::SmallTask task(test::Start::kRandom, test::long_text(2U << 20U));
    const test::PartOfTask part(task);
    const auto some = part.load(1);
    CHECK_THROWS_AS(run_segment(some, 2, task.state_after(1), {}, nullptr), artifacts::StoreError);
    const auto more = part.load(2);  // the chunks of the first are there as well
    CHECK_NOTHROW(run_segment(more, 1, task.state_after(0), {}, nullptr));
    CHECK_NOTHROW(run_segment(more, 2, task.state_after(1), {}, nullptr));
}

TEST_CASE("ART-19: the initialisation and an evaluation need no chunk of the dataset, and a small dataset is whole") {
    test::SmallTask task(test::Start::kRandom, test::long_text(2U << 20U));
    CHECK(chunks_of_segment(task.spec, 0)->chunks.empty());
    CHECK(chunks_of_segment(task.spec, 4)->chunks.empty());
    CHECK(!chunks_of_segment(task.spec, 3)->chunks.empty());
    CHECK(
        chunks_of_segment(task.spec, 3)->chunks ==
        chunks_of_segment(task.spec, 3, &task.artifacts->program.step)->chunks
    );
    auto spec = task.spec;
    spec.dataset_artifact.size_bytes += 1;
    CHECK(chunks_of_segment(spec, 3) == nullptr);
    const test::SmallTask small;
    CHECK(chunks_of_segment(small.spec, 1) == nullptr);
}

TEST_CASE("ART-19: where nobody serves chunks the whole dataset is fetched, and what is wrong with it is named") {
    test::SmallTask task(test::Start::kRandom, test::long_text(2U << 20U));
    for (const test::Trick trick : {test::Trick::kNoLeaves, test::Trick::kWrongLeaves, test::Trick::kWrongChunk}) {
        test::PartOfTask part(task);
        part.server().play(trick);
        const auto whole = part.load(1);
        CHECK_FALSE(whole->segments.has_value());
        CHECK(part.store().has(task.spec.dataset_artifact.sha256));
    }
    task.spec.dataset_root = Hash256{{1}};
    const test::PartOfTask part(task);
    const auto other = part.try_load(1);
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().defect == Defect::kDatasetOther);
    CHECK(other.error().is_final);
}

TEST_CASE("a chunk of a part is opened by the hashes of all chunks") {
    test::SmallTask task(test::Start::kRandom, test::long_text(2U << 20U));
    const test::PartOfTask part(task);
    const auto some = part.load(1);
    const auto request = chunks_of_segment(task.spec, 1);
    for (const std::uint64_t chunk : request->chunks) {
        const auto root = merkle::root_from_path(
            dispute::chunk_leaf(some->dataset->chunk(chunk)), chunk, some->dataset_tree.leaf_count(),
            some->dataset_tree.path(chunk)
        );
        CHECK(root == task.spec.dataset_root);
    }
}

}  // namespace
}  // namespace assay::worker
