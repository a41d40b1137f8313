// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::engine {

/// Messages between the ranks of a cell. Ranks that exchange nothing do not wait for each other.
class Collective {
  public:
    virtual ~Collective() = default;
    virtual std::uint32_t rank() const = 0;
    virtual std::uint32_t size() const = 0;

    /// Sends `to[r]` to each other rank r for which it is not empty, and returns from each rank r the `expected[r]`
    /// bytes that it sends. The r-th entry of each stands for rank r; this rank's own are empty and 0. Each message is
    /// the next one of this tag between the two ranks: they may exchange in any order of tags. What is sent may be on
    /// its way still. Throws std::runtime_error if a rank is gone or too slow.
    virtual std::vector<Bytes> exchange(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag
    ) = 0;
    /// Waits until other ranks have taken what was sent. Ranks that wait here for each other's later exchanges wait for
    /// ever. Throws as exchange() does.
    virtual void settle() = 0;

    /// Bytes that this rank has sent.
    std::uint64_t sent_bytes() const { return sent_bytes_; }

  protected:
    void count(const std::vector<Bytes>& to) {
        for (const Bytes& message : to) {
            sent_bytes_ += message.size();
        }
    }

  private:
    std::uint64_t sent_bytes_ = 0;
};

/// Connects threads of one process, for tests: one Collective for each rank, each to be used by a thread of its own.
std::vector<std::unique_ptr<Collective>> connect_threads(std::uint32_t ranks);

}  // namespace assay::engine
