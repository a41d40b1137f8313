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

/// The pending answers to duties (POOL-4): at most one per duty, ordered by arrival. Not thread-safe.
class AnswerPool {
  public:
    struct Answer {
        contracts::Duty duty;
        std::shared_ptr<const Bytes> bytes;
        Hash256 hash;
    };

    /// Adds an answer. It replaces a pending answer to the same duty and takes over that answer's place in the order.
    void add(Answer answer);
    bool contains(const Hash256& hash) const { return by_hash_.contains(hash); }
    /// Returns the bytes of the answer with this hash, or null if there is none.
    std::shared_ptr<const Bytes> find(const Hash256& hash) const;
    bool answers(const contracts::Duty& duty) const { return by_duty_.contains(duty); }
    /// Returns all pending answers, the oldest first.
    std::vector<Answer> list() const;
    /// Removes the answer with this hash; does nothing if there is none.
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
