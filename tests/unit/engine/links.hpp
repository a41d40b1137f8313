// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <verifier/engine/cell/collective.hpp>

/// What tests link ranks by.
namespace assay::test {

using Connect = std::function<std::unique_ptr<engine::Collective>(std::uint32_t rank)>;
/// Ranks over cell::OrderedLinks in memory, on which a sender waits until the other rank receives: NCCL may have it
/// wait so, and no other link of a cell does.
Connect connect_ordered(std::uint32_t ranks, std::chrono::milliseconds patience);
/// Rank r on GPU r.
Connect connect_by_nccl(std::uint32_t ranks, std::chrono::milliseconds patience);

/// What ASSAY_TEST_LINKS says: "threads", which it is without, "ordered" or "nccl". With "nccl" and no two GPUs the
/// program ends before any case, and prints why it is skipped.
std::string test_links();
/// The most ranks that can be linked so: the GPUs with "nccl", 64 otherwise.
std::uint32_t linked_ranks_max();
/// A cell whose ranks are linked so, each to be used by a thread of its own.
std::vector<std::unique_ptr<engine::Collective>> connect_cell(std::uint32_t ranks);
/// Where a rank of such a cell computes: its GPU with "nccl", "cpu" otherwise.
std::string device_of(std::uint32_t rank);

}  // namespace assay::test
