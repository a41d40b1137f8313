// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <core/dispute/statement.hpp>
#include <verifier/group/ledger.hpp>
#include <verifier/plan/message.hpp>

namespace assay::fuzz {

/// Messages of a small perceptron: a tensor of its state, two blocks of a node's output, and parts of a product.
const std::vector<std::shared_ptr<const plan::MessagePieces>>& stated_messages();

/// The key of the group's member with this rank.
crypto::SecretKey member_key(std::uint32_t rank);
inline constexpr const char* kGroupChain = "fuzz";

/// What somebody who states a message is asked to sign, and what it says of each piece. `occasion` has the task, the
/// state before, the session and the step.
group::Told told_of(
    std::uint32_t author, dispute::Statement occasion, const std::shared_ptr<const plan::MessagePieces>& message,
    ByteView values
);

}  // namespace assay::fuzz
