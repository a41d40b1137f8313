// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/link_inbox.hpp>

#include <string>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>

namespace assay::cell {

engine::RankError wrong_message(std::uint32_t rank, std::uint64_t asked, std::uint64_t came, InboxError error) {
    const std::string wanted = std::to_string(asked);
    const std::string in_place_of =
        error == InboxError::kOtherLength
            ? "in place of " + wanted
            : "that the plan does not have, in front of the " + wanted + " that are waited for";
    return {
        rank, engine::RankFault::kOtherLength,
        "rank " + std::to_string(rank) + " of the cell sends " + std::to_string(came) + " bytes " + in_place_of};
}

void LinkInbox::set_ahead(const engine::Ahead& ahead) {
    ahead_ = ahead;
    admit();
}

void LinkInbox::ask(std::uint32_t tag, std::uint64_t bytes) {
    asked_ = Asked{.tag = tag, .bytes = bytes};
    admit();
}

bool LinkInbox::is_answered() const { return error_ || (asked_ && has(asked_->tag)); }

Result<Bytes, InboxError> LinkInbox::answer() {
    ASSERT(is_answered());
    if (error_) {
        return Unexpected{*error_};
    }
    const Asked asked = *std::exchange(asked_, std::nullopt);
    const auto list = kept_.find(asked.tag);
    Kept out = std::move(list->second.front());
    list->second.pop_front();
    if (list->second.empty()) {
        kept_.erase(list);
    }
    held_bytes_ -= out.bytes.size();
    if (out.is_ahead) {
        used_.bytes -= out.bytes.size();
        --used_.messages;
    }
    if (out.bytes.size() != asked.bytes) {
        refuse(InboxError::kOtherLength, out.bytes.size());
        return Unexpected{*error_};
    }
    admit();
    return std::move(out.bytes);
}

ByteView LinkInbox::so_far() const {
    if (!asked_) {
        return {};
    }
    const auto list = kept_.find(asked_->tag);
    const bool is_coming = list == kept_.end() && next_ && is_admitted_ && next_->tag == asked_->tag;
    const Kept* const message = is_coming ? &coming_ : list != kept_.end() ? &list->second.front() : nullptr;
    if (message == nullptr || message->bytes.size() != asked_->bytes) {
        return {};
    }
    return ByteView(message->bytes).first(is_coming ? filled_ : message->bytes.size());
}

std::span<std::uint8_t> LinkInbox::room() {
    if (error_) {
        return {};
    }
    if (!next_) {
        return std::span(head_).subspan(head_filled_);
    }
    return is_admitted_ ? std::span(coming_.bytes).subspan(filled_) : std::span<std::uint8_t>();
}

void LinkInbox::fill(std::size_t bytes) {
    ASSERT(bytes <= room().size());
    if (next_) {
        filled_ += bytes;
        if (filled_ == coming_.bytes.size()) {
            finish();
        }
        return;
    }
    head_filled_ += bytes;
    if (head_filled_ == head_.size()) {
        next_ = codec::decode<FrameHeader>(head_).value();  // any 12 bytes are one
        admit();
    }
}

bool LinkInbox::fits() const {
    return used_.messages < ahead_.messages && next_->bytes <= ahead_.bytes &&
           used_.bytes <= ahead_.bytes - next_->bytes;
}

// Makes room for the message that comes, if it may.
void LinkInbox::admit() {
    if (!next_ || is_admitted_ || error_) {
        return;
    }
    const bool is_waited_for = asked_ && !has(asked_->tag);
    if (is_waited_for && asked_->tag == next_->tag) {
        if (next_->bytes != asked_->bytes) {
            return refuse(InboxError::kOtherLength, next_->bytes);
        }
        return begin(false);
    }
    if (fits()) {
        return begin(true);
    }
    // What this rank waits for is behind a message that it may not read.
    if (is_waited_for) {
        refuse(InboxError::kUnasked, next_->bytes);
    }
}

void LinkInbox::begin(bool is_ahead) {
    is_admitted_ = true;
    coming_ = {.bytes = Bytes(next_->bytes), .is_ahead = is_ahead};
    held_bytes_ += next_->bytes;
    if (is_ahead) {
        used_.bytes += next_->bytes;
        ++used_.messages;
    }
    if (next_->bytes == 0) {
        finish();
    }
}

void LinkInbox::finish() {
    kept_[next_->tag].push_back(std::exchange(coming_, {}));
    next_.reset();
    is_admitted_ = false;
    filled_ = 0;
    head_filled_ = 0;
}

void LinkInbox::refuse(InboxError error, std::uint64_t bytes) {
    error_ = error;
    wrong_bytes_ = bytes;
}

}  // namespace assay::cell
