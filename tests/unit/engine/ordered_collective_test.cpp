// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <tests/unit/engine/links.hpp>
#include <verifier/engine/cell/local_words.hpp>
#include <verifier/engine/cell/nccl_collective.hpp>

using namespace assay;
using namespace assay::engine;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPatient{20'000};

// What another rank has to say of the first one that it misses.
RankError error_of(Collective& collective, std::uint32_t from) {
    try {
        std::vector<std::uint64_t> expected(collective.size());
        expected[from] = 10;
        collective.exchange(std::vector<Bytes>(collective.size()), expected, 0);
    } catch (const RankError& error) {
        return error;
    }
    throw std::logic_error("nothing was missed");
}

}  // namespace

TEST_CASE("ordered links: ranks that both send first do not wait for each other") {
    const auto connect = test::connect_ordered(2, kPatient);
    const auto work = [&](std::uint32_t rank) {
        const auto collective = connect(rank);
        const std::uint32_t other = 1 - rank;
        for (std::uint32_t tag = 0; tag < 20; ++tag) {
            std::vector<Bytes> to(2);
            to[other] = Bytes(1 + tag, static_cast<std::uint8_t>(tag));
            collective->exchange(std::move(to), {0, 0}, tag);
        }
        for (std::uint32_t tag = 20; tag-- > 0;) {  // the last one first
            std::vector<std::uint64_t> expected(2);
            expected[other] = 1 + tag;
            const auto from = collective->exchange(std::vector<Bytes>(2), expected, tag);
            CHECK(from[other] == Bytes(1 + tag, static_cast<std::uint8_t>(tag)));
        }
        collective->settle();
    };
    std::jthread second([&] { work(1); });
    work(0);
}

TEST_CASE("ordered links: the rank that left first is named, whoever else left because of it") {
    const auto connect = test::connect_ordered(3, kPatient);
    auto first = connect(0);
    auto second = connect(1);
    connect(2).reset();
    const RankError of_second = error_of(*second, 2);
    CHECK(of_second.rank() == 2);
    CHECK(of_second.fault() == RankFault::kGone);
    CHECK(std::string(of_second.what()) == "a rank of the cell is gone or too slow: rank 2: it left");
    CHECK(error_of(*second, 0).rank() == 2);  // it has no use for the others any more
    second.reset();
    CHECK(error_of(*first, 1).rank() == 1);
}

TEST_CASE("ordered links: who takes nothing is named once others wait for it, and a sender that waits is let go") {
    const auto connect = test::connect_ordered(2, milliseconds(100));
    const auto first = connect(0);
    const auto second = connect(1);
    first->exchange({{}, {1, 2, 3}}, {0, 0}, 0);
    CHECK_THROWS_WITH_AS(
        first->settle(), "a rank of the cell is gone or too slow: rank 1: it does not take what was sent", RankError
    );
    CHECK(error_of(*first, 1).rank() == 1);
}

TEST_CASE("ordered links: a message of another length is its sender's fault") {
    const auto connect = test::connect_ordered(2, kPatient);
    const auto first = connect(0);
    const auto second = connect(1);
    second->exchange({{1, 2, 3}, {}}, {0, 0}, 0);
    const RankError error = error_of(*first, 1);
    CHECK(error.rank() == 1);
    CHECK(error.fault() == RankFault::kOtherLength);
}

TEST_CASE("NCCL: what is missing is said with what to do") {
    const auto said = [](bool is_built, std::uint32_t gpus, std::uint32_t gpu) {
        return nccl_refusal({.is_built = is_built, .gpus = gpus}, gpu).value_or("nothing");
    };
    CHECK(said(false, 0, 0).find("without ASSAY_WITH_NCCL") != std::string::npos);
    CHECK(said(false, 2, 0).find("without ASSAY_WITH_NCCL") != std::string::npos);
    CHECK(said(true, 0, 0).find("finds none in this machine. See whether nvidia-smi does") != std::string::npos);
    CHECK(said(true, 2, 2).find("would use the GPU cuda:2, and libtorch finds 2") != std::string::npos);
    CHECK(said(true, 2, 1) == "nothing");
}

TEST_CASE("NCCL: a build without it refuses to connect, and one without a GPU") {
    if (nccl_support().is_built && nccl_support().gpus > 0) {
        MESSAGE("left out: this machine has a GPU");
        return;
    }
    const std::string expected = nccl_refusal(nccl_support(), 0).value();
    CHECK_THROWS_WITH_AS(
        connect_nccl(std::make_shared<LocalWords>(), {.size = 2}), expected.c_str(), std::runtime_error
    );
}

TEST_CASE("NCCL: links share the thread blocks that a GPU gives them") {
    CHECK(nccl_blocks_per_link(1) == 16);
    CHECK(nccl_blocks_per_link(2) == 16);
    CHECK(nccl_blocks_per_link(4) == 5);
    CHECK(nccl_blocks_per_link(64) == 1);
}

TEST_CASE("NCCL: of what c10d says of an error the cause is kept") {
    CHECK(
        nccl_error_text(
            "NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, invalid usage, NCCL version 2.18.1\n"
            "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\n"
            "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1000\nException raised from create"
        ) == "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1000"
    );
    CHECK(nccl_error_text("remote process exited\nException raised from check") == "remote process exited");
    CHECK(nccl_error_text("a system error\nLast error:\n") == "a system error");
}
