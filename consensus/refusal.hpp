// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Why a node does not take a submitted transaction.
namespace assay::consensus {

enum class [[nodiscard]] RefusalReason : std::uint8_t{
    kRejected = 1,  ///< by the state machine, or because of nonce or balance; `code` has the TxError
    kFull = 2,      ///< a limit is reached: the pool's transactions, bytes or turnover, or the sender's transactions
    kAlreadyKnown = 3,  ///< the same transaction is already in the mempool
    kStopping = 4,      ///< the node is shutting down
    kUnreachable = 5,   ///< the process of the consensus engine cannot be reached
    kReadOnly = 6,      ///< the node only shows what it has
};

struct Refusal {
    RefusalReason reason = RefusalReason::kRejected;
    std::uint8_t code = 0;  ///< contracts::TxError with kRejected, otherwise 0
};

}  // namespace assay::consensus
