// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <core/base/bytes.hpp>
#include <contracts/chain/duty.hpp>
#include <consensus/state_machine.hpp>

namespace assay::consensus {

/// The answers to duties that wait for a block (POOL-4): one for each duty, the oldest first. Not thread-safe.
class AnswerPool {
  public:
    struct Answer {
        contracts::Duty duty;
        std::shared_ptr<const Bytes> bytes;
        Hash256 hash;
    };

    /// A later answer to the same duty takes the place of the one that waits.
    void add(Answer answer);
    bool contains(const Hash256& hash) const { return by_hash_.contains(hash); }
    bool answers(const contracts::Duty& duty) const { return by_duty_.contains(duty); }
    /// The oldest first.
    std::vector<Answer> list() const;
    /// Drops the answer with this hash, if it still waits.
    void drop(const Hash256& hash);

    std::uint64_t count() const { return waiting_.size(); }
    std::uint64_t bytes() const { return bytes_; }

  private:
    using Arrival = std::uint64_t;

    Arrival arrivals_ = 0;
    std::uint64_t bytes_ = 0;
    std::map<Arrival, Answer> waiting_;
    std::map<contracts::Duty, Arrival> by_duty_;
    std::map<Hash256, Arrival> by_hash_;
};

}  // namespace assay::consensus
