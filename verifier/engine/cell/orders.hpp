// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <verifier/engine/cell/collective.hpp>

/// Internal to the cell: what rank 0 says to the others.
namespace assay::engine::cell {

enum OrderKind : std::uint8_t {
    kEnd = 0,
    kStep = 1,
    kSetTensor = 2,
    kGetTensor = 3,
    kEndRound = 4,
    kBeginSegment = 5,
    kEndSegment = 6,
    kGetBusy = 7
};

/// A kind, and the numbers that go with it.
struct Order {
    std::uint8_t kind = kEnd;
    std::uint64_t first = 0;  ///< kStep, kEndRound: the seed; kBeginSegment: its first step; else the index of a tensor
    /// kStep, kEndRound: the step; kGetTensor of ranks that take turns: which is asked, in the upper half, and how many
    /// turns have begun.
    std::uint64_t second = 0;
    static constexpr auto fields() { return Fields<&Order::kind, &Order::first, &Order::second>{}; }
};
inline constexpr std::size_t kOrderBytes = 17;

/// nullopt if these are not the bytes of an order to a rank whose state has so many tensors.
std::optional<Order> decode_order(ByteView bytes, std::size_t tensors);

inline constexpr std::uint32_t kSessionTag = 0;  // those of a step follow

/// Until all have taken what they are sent: ranks do this in the same order.
std::vector<Bytes> exchange(
    Collective& collective, std::vector<Bytes> to, const std::vector<std::uint64_t>& expected,
    const std::optional<Contents>& contents = std::nullopt
);
/// Rank 0 sends a message to every other rank, which receive it.
void broadcast(Collective& collective, const Bytes& message);
/// The next message of rank 0. What this rank has sent may be on its way still.
Bytes receive(Collective& collective, std::uint64_t bytes);
void send_order(Collective& collective, const Order& order);
/// The same without waiting until it is taken. Who does so has to settle some time.
void post(Collective& collective, std::vector<Bytes> to);
void post_order(Collective& collective, const Order& order);
/// Throws std::runtime_error if rank 0 sends what is no order.
Order receive_order(Collective& collective, std::size_t tensors);

}  // namespace assay::engine::cell
