// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/placement.hpp>

namespace assay::engine {

/// What another rank did that ends a session.
enum class RankFault : std::uint8_t {
    kGone,         ///< it left, or is too slow
    kOtherLength,  ///< it sent a message of another length
    kNotSigned,    ///< it sent other values than it signed
    kOtherState,   ///< it gave another state than a segment begins with
};
class RankError : public std::runtime_error {
  public:
    RankError(std::uint32_t rank, RankFault fault, const std::string& text)
        : std::runtime_error(text), rank_(rank), fault_(fault) {}
    std::uint32_t rank() const { return rank_; }
    RankFault fault() const { return fault_; }

  private:
    std::uint32_t rank_;
    RankFault fault_;
};

/// What the messages of an exchange hold, by rank; nullptr stands for a message without values of the execution. What
/// several ranks are told alike may be one object.
struct Contents {
    using Message = std::shared_ptr<const plan::MessagePieces>;
    std::vector<Message> to;
    std::vector<Message> from;
};

/// What a rank does with messages while they cross. All functions are called by the thread that exchanges.
class Crossing {
  public:
    virtual ~Crossing() = default;
    /// Bytes that follow those for a rank, which are not counted in `to`; 0 if nothing does.
    virtual std::size_t ending_bytes(std::uint32_t to) const = 0;
    /// Returns what follows. The bytes before it may be on their way already; they stay where they are until all
    /// endings are made.
    virtual Bytes ending(std::uint32_t to, ByteView sent) = 0;
    /// The beginning of a rank's message is there, each time more of it, at last all. What must not be handed on may
    /// throw.
    virtual void arrived(std::uint32_t from, ByteView so_far) = 0;
};

/// A tensor of the state that rank 0 gives.
struct GivenTensor {
    std::size_t index = 0;
    std::size_t tensors = 0;  ///< of the state
    canonical::TensorType type;
    const plan::Placement& placement;  ///< what each rank gets of it
};

/// How much of one rank's messages a link may keep that nobody has asked for yet.
struct Ahead {
    std::uint64_t bytes = std::uint64_t{1} << 20U;
    std::uint64_t messages = 1'024;
};

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
    /// exchange() of messages that have an ending, if they are not empty; `expected` counts it. Links that can call
    /// `crossing` while bytes cross do; these here do so before and after.
    virtual std::vector<Bytes> exchange_while(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag, Crossing& crossing
    ) {
        for (std::uint32_t other = 0; other < to.size(); ++other) {
            if (!to[other].empty() && crossing.ending_bytes(other) != 0) {
                to[other].reserve(to[other].size() + crossing.ending_bytes(other));
                append(to[other], crossing.ending(other, to[other]));
            }
        }
        std::vector<Bytes> out = exchange(std::move(to), expected, tag);
        for (std::uint32_t other = 0; other < out.size(); ++other) {
            if (!out[other].empty()) {
                crossing.arrived(other, out[other]);
            }
        }
        return out;
    }
    /// Waits until other ranks have taken what was sent. Ranks that wait here for each other's later exchanges wait for
    /// ever. Throws as exchange() does.
    virtual void settle() = 0;
    /// Tells what each rank sends this one in a step by the plan (the r-th entry is rank r's). Links to strangers keep
    /// no more of what nobody has asked for than that and an Ahead; before it is called, no more than an Ahead.
    virtual void expect(const std::vector<Ahead>& /*in_step*/) {}

    /// Whether ranks answer to each other for what they send. Then messages with values are sent by exchange_stated(),
    /// each part of a reduction has whole partials (plan::slices_of_part), and the functions below are called.
    /// Else none of it costs anything.
    virtual bool is_stated() const { return false; }
    /// exchange() of messages that hold values of the execution at the current step.
    virtual std::vector<Bytes> exchange_stated(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag,
        const Contents& /*contents*/
    ) {
        return exchange(std::move(to), expected, tag);
    }
    /// Begins a segment, whose first step becomes the current one. `before` is the state root before it. Throws
    /// std::runtime_error if this rank does not take part in such a segment.
    virtual void begin_segment(const Hash256& /*before*/, std::uint64_t /*first_step*/) {}
    /// Has ranks compare what they were given of a tensor of the segment's first state with `before`, so that they may
    /// hand it on: all ranks call it for each tensor, rank 0 with the whole of it, the others with their blocks. Throws
    /// RankError if rank 0 has given another state.
    virtual void compare_state(const GivenTensor& /*given*/, const canonical::Tensor& /*tensor*/) {}
    /// Ends the segment: ranks that answer for what they send show each other what they were told. Call it on all
    /// ranks.
    virtual void end_segment() {}
    /// Makes a step of the segment the current one.
    virtual void begin_step(std::uint64_t /*step*/) {}

    /// Bytes that this rank has sent.
    std::uint64_t sent_bytes() const { return sent_bytes_; }

  protected:
    void count(const std::vector<Bytes>& to) {
        for (const Bytes& message : to) {
            sent_bytes_ += message.size();
        }
    }
    void count(std::size_t bytes) { sent_bytes_ += bytes; }

  private:
    std::uint64_t sent_bytes_ = 0;
};

/// Connects threads of one process, for tests: one Collective for each rank, each to be used by a thread of its own.
std::vector<std::unique_ptr<Collective>> connect_threads(std::uint32_t ranks);

}  // namespace assay::engine
