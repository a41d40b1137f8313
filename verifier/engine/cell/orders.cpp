// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/orders.hpp>

#include <stdexcept>
#include <utility>

#include <core/codec/borsh.hpp>

namespace assay::engine::cell {

std::vector<Bytes> exchange(
    Collective& collective, std::vector<Bytes> to, const std::vector<std::uint64_t>& expected,
    const std::optional<Contents>& contents
) {
    std::vector<Bytes> out = contents ? collective.exchange_stated(std::move(to), expected, kSessionTag, *contents)
                                      : collective.exchange(std::move(to), expected, kSessionTag);
    collective.settle();
    return out;
}

void broadcast(Collective& collective, const Bytes& message) {
    std::vector<Bytes> to(collective.size(), message);
    to[0].clear();
    exchange(collective, std::move(to), std::vector<std::uint64_t>(collective.size()));
}

Bytes receive(Collective& collective, std::uint64_t bytes) {
    std::vector<std::uint64_t> expected(collective.size());
    expected[0] = bytes;
    return std::move(collective.exchange(std::vector<Bytes>(collective.size()), expected, kSessionTag)[0]);
}

void send_order(Collective& collective, const Order& order) { broadcast(collective, codec::encode(order)); }

void post(Collective& collective, std::vector<Bytes> to) {
    collective.exchange(std::move(to), std::vector<std::uint64_t>(collective.size()), kSessionTag);
}

void post_order(Collective& collective, const Order& order) {
    std::vector<Bytes> to(collective.size(), codec::encode(order));
    to[collective.rank()].clear();
    post(collective, std::move(to));
}

std::optional<Order> decode_order(ByteView bytes, std::size_t tensors) {
    const auto order = codec::decode<Order>(bytes);
    const bool is_about_tensor = order && (order->kind == kSetTensor || order->kind == kGetTensor);
    if (!order || order->kind > kGetBusy || (is_about_tensor && order->first >= tensors)) {
        return std::nullopt;
    }
    return *order;
}

Order receive_order(Collective& collective, std::size_t tensors) {
    const auto order = decode_order(receive(collective, kOrderBytes), tensors);
    if (!order) {
        throw std::runtime_error("rank 0 of the cell gave an order that is none");
    }
    return *order;
}

}  // namespace assay::engine::cell
