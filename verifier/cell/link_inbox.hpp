// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <verifier/cell/link_frames.hpp>
#include <verifier/engine/cell/collective.hpp>

/// Internal to the cell.
namespace assay::cell {

/// What another rank did that it would not do by the plan.
enum class [[nodiscard]] InboxError : std::uint8_t{
    kOtherLength = 1,  ///< its message has another length than this rank asks for
    kUnasked = 2,      ///< it sends more than it may be ahead, in front of what this rank asks for
};

/// What to say of a message of that rank in place of one of `asked` bytes.
engine::RankError wrong_message(std::uint32_t rank, std::uint64_t asked, std::uint64_t came, InboxError error);

/// The messages of one other rank, which may be anybody's and lie about lengths. Memory is taken for a message once
/// this rank asks for one of that tag and length, or if it fits into what the rank may be ahead. What does not fit is
/// left in the link until it is asked for.
///
/// Whoever reads the link puts bytes into room() and says so by fill(), in the order in which they come; whoever wants
/// a message calls ask() and then answer() once it is_answered(). Not thread-safe, but for the bytes of room(), which
/// nothing but fill() touches.
class LinkInbox {
  public:
    /// Sets how much may be kept that nobody has asked for.
    void set_ahead(const engine::Ahead& ahead);

    /// Asks for the next message of this tag, which is to have so many bytes, in place of what was asked for before.
    void ask(std::uint32_t tag, std::uint64_t bytes);
    /// Whether answer() returns: the message is there, or cannot come any more.
    bool is_answered() const;
    Result<Bytes, InboxError> answer();
    /// What is there of the message that was asked for, from its beginning; empty if that has another length. The bytes
    /// stay where they are until answer().
    ByteView so_far() const;
    /// After an error: how many bytes the message has that is wrong.
    std::uint64_t wrong_bytes() const { return wrong_bytes_; }

    /// Where the next bytes of the link belong; empty while none may be read.
    std::span<std::uint8_t> room();
    /// The first `bytes` of room() are filled.
    void fill(std::size_t bytes);

    /// That are kept, or that room has been made for.
    std::uint64_t held_bytes() const { return held_bytes_; }

  private:
    struct Asked {
        std::uint32_t tag = 0;
        std::uint64_t bytes = 0;
    };
    struct Kept {
        Bytes bytes;
        bool is_ahead = false;  // it counts against what the rank may be ahead
    };

    bool has(std::uint32_t tag) const { return kept_.contains(tag); }
    bool fits() const;
    void admit();
    void begin(bool is_ahead);
    void finish();
    void refuse(InboxError error, std::uint64_t bytes);

    engine::Ahead ahead_;
    std::array<std::uint8_t, kFrameHeaderBytes> head_{};
    std::size_t head_filled_ = 0;
    std::optional<FrameHeader> next_;                 // the message that comes, once its header is there
    bool is_admitted_ = false;                        // it may be read
    Kept coming_;                                     // then
    std::size_t filled_ = 0;                          // of it
    std::map<std::uint32_t, std::deque<Kept>> kept_;  // by tag; no list is empty
    std::optional<Asked> asked_;
    std::optional<InboxError> error_;
    std::uint64_t wrong_bytes_ = 0;
    std::uint64_t held_bytes_ = 0;
    engine::Ahead used_{.bytes = 0, .messages = 0};  // of what the rank may be ahead
};

}  // namespace assay::cell
