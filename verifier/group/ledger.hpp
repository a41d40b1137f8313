// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/dispute/statement.hpp>
#include <verifier/plan/message.hpp>

namespace assay::group {

/// A statement that a rank made, and what of its message is needed to show later that it is wrong: the hashes of its
/// pieces. What the pieces are follows from the plan, and all messages of that kind share it.
struct Told {
    std::uint32_t author = 0;  ///< rank
    dispute::Statement statement;
    Signature signature;
    std::shared_ptr<const plan::MessagePieces> message;
    std::vector<Hash256> values;  ///< of each piece

    dispute::Piece piece(std::size_t index) const;
    /// The piece as evidence.
    dispute::StatedPiece stated(std::size_t index) const;
    std::uint64_t bytes() const { return sizeof(Told) + values.size() * sizeof(Hash256); }
};
/// The piece that says that `values` hashes to what it has.
dispute::Piece piece_of(const plan::MessagePiece& place, const Hash256& values);

/// What a rank was told in segments that are not settled yet. It is in memory: whoever stops loses it, and with it the
/// means to accuse. Thread-safe.
class Ledger {
  public:
    /// Holds at most so many bytes.
    explicit Ledger(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

    /// Throws std::runtime_error if it is full.
    void add(std::uint64_t first_step, Told told);
    /// What was told in the segment that begins with this step, in the order in which it came.
    std::vector<std::shared_ptr<const Told>> told(std::uint64_t first_step) const;
    /// Forgets a segment, once nobody can be accused in it any more.
    void drop(std::uint64_t first_step);
    std::uint64_t bytes() const;

  private:
    using Segment = std::vector<std::shared_ptr<const Told>>;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Segment> segments_;  // by first step
    std::uint64_t bytes_ = 0;
    std::uint64_t bytes_max_;
};

}  // namespace assay::group
