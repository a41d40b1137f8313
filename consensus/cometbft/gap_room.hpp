// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::cometbft {

/// Transactions from bundles whose nonce leaves a gap: their predecessors may be in another bundle that is on its way
/// (CMT-17). What does not fit is not kept. Not thread-safe.
class GapRoom {
  public:
    static constexpr std::size_t kTxsMax = 1'000;
    static constexpr std::size_t kSenderTxsMax = 100;
    static constexpr std::size_t kBytesMax = 1U << 20U;
    static constexpr std::uint64_t kBlocksMax = 10;  ///< so many blocks later a transaction is forgotten

    /// Keeps a transaction, unless there is no room or one of the sender with this nonce is kept.
    void hold(const AccountId& sender, std::uint64_t nonce, Bytes tx);
    /// Takes the sender's transaction with this nonce out.
    std::optional<Bytes> take(const AccountId& sender, std::uint64_t nonce);
    struct First {
        AccountId sender;
        std::uint64_t nonce = 0;
        Bytes tx;
    };
    /// Returns a copy of each sender's transaction with the lowest nonce.
    std::vector<First> firsts() const;
    /// Call after each block.
    void note_block();

    std::size_t size() const { return count_; }

  private:
    struct Held {
        Bytes tx;
        std::uint64_t since = 0;  ///< the value of blocks_ when it came
    };
    using Queue = std::map<std::uint64_t, Held>;
    Bytes remove(Queue& queue, Queue::iterator held);

    std::map<AccountId, Queue> senders_;  ///< no queue is empty
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t blocks_ = 0;
};

}  // namespace assay::cometbft
