// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <contracts/state/ids.hpp>
#include <core/base/integers.hpp>
#include <node/api/node_api.hpp>
#include <node/rpc/jsonrpc.hpp>

/// What subscribers are told of a block, and which of it concerns whom.
namespace assay::rpc {

/// A block, a transaction in it or an event that it caused.
struct FeedItem {
    const char* kind = "";  ///< "block", "tx" or "event"
    std::string data;       ///< JSON of the shape BlockHead, TxSummary or Event
    std::set<AccountId> accounts{};
    std::optional<contracts::TaskId> task{};
    std::optional<contracts::DisputeId> dispute{};
};

/// What happened with one block, in an order that every node has: the block, its transactions, then events.
struct FeedBlock {
    Height height;
    std::vector<FeedItem> items;
};

/// Reads a block and what it caused. Throws consensus::HeightNotKept.
FeedBlock make_feed(const node::NodeApi& api, Height height);

/// The place of an item in the chain: the same on every node and after every restart, and larger than those of all
/// items before it. Below 2^53, which JSON numbers hold exactly, for the first 2^29 blocks.
constexpr std::uint64_t sequence_of(Height height, std::uint64_t index) { return height.value << 24U | index; }
constexpr Height height_of(std::uint64_t sequence) { return Height{sequence >> 24U}; }
constexpr std::uint64_t kLastIndex = 0xff'ffff;
constexpr std::uint64_t index_of(std::uint64_t sequence) { return sequence & kLastIndex; }

enum class TopicKind : std::uint8_t { kBlocks = 1, kEvents = 2, kAccount = 3, kTask = 4, kDispute = 5 };

/// What a subscriber wants to hear of.
struct Topic {
    TopicKind kind = TopicKind::kBlocks;
    AccountId account{};
    contracts::TaskId task{};
    contracts::DisputeId dispute{};
};

/// Reads `topic` and the id that belongs to it, and leaves other parameters alone. Throws a Fault.
Topic topic_argument(const Json& params);
const char* to_string(TopicKind kind) noexcept;
bool concerns(const Topic& topic, const FeedItem& item);

}  // namespace assay::rpc
