// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include <core/base/bytes.hpp>
#include <verifier/engine/cell/collective.hpp>

/// Internal to the cell.
namespace assay::engine::cell {

/// Links between this rank and the others that keep the order of what crosses and know no tags, such as NCCL's. A link
/// in one direction is used by one thread at a time, and all links at the same time. Functions throw std::exception if
/// the other rank is gone.
class OrderedLinks {
  public:
    virtual ~OrderedLinks() = default;
    /// Sends bytes to a rank. May wait until that rank receives them, for as long as that takes.
    virtual void send(std::uint32_t to, ByteView bytes) = 0;
    /// Receives exactly so many bytes, the next ones that a rank sends. Throws if they do not come in time.
    virtual void receive(std::uint32_t from, std::span<std::uint8_t> out) = 0;
    /// Makes every call throw, those that wait included. May be called by any thread, and more than once.
    virtual void abort() noexcept = 0;
    /// Ends the links once everything has crossed, so that nothing that another rank still receives is lost.
    virtual void close() noexcept = 0;
};

struct OrderedOptions {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::chrono::milliseconds timeout{300'000};  ///< how long settle() waits for other ranks to receive
};

/// A Collective over such links. Each message crosses with its tag and length in front; one that comes before it is
/// asked for is kept. Another rank receives only while it waits for a message of this rank's, so sending is left to
/// threads, one for each other rank. Errors are RankErrors that name the rank which was noticed to be gone first.
std::unique_ptr<Collective> make_ordered_collective(std::unique_ptr<OrderedLinks> links, const OrderedOptions& options);

}  // namespace assay::engine::cell
