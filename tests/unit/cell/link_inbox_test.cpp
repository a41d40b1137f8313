// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <verifier/cell/link_frames.hpp>
#include <verifier/cell/link_inbox.hpp>

using namespace assay;
using cell::InboxError;
using cell::LinkInbox;

namespace {

Bytes frame_of(std::uint32_t tag, std::uint64_t bytes) {
    return codec::encode(cell::FrameHeader{.tag = tag, .bytes = bytes});
}
Bytes message_of(std::uint32_t tag, ByteView bytes) {
    Bytes out = frame_of(tag, bytes.size());
    append(out, bytes);
    return out;
}

/// Hands over as much as the inbox has room for, and returns how much that is.
std::size_t feed(LinkInbox& inbox, ByteView bytes, std::size_t piece = 1'000) {
    std::size_t taken = 0;
    while (taken < bytes.size() && !inbox.room().empty()) {
        const std::size_t size = std::min({piece, inbox.room().size(), bytes.size() - taken});
        std::memcpy(inbox.room().data(), bytes.data() + taken, size);
        inbox.fill(size);
        taken += size;
    }
    return taken;
}

LinkInbox inbox_with(std::uint64_t bytes, std::uint64_t messages) {
    LinkInbox out;
    out.set_ahead({.bytes = bytes, .messages = messages});
    return out;
}

}  // namespace

TEST_CASE("what a rank sends is handed out by tag, in the order in which it comes, however it is cut") {
    for (const std::size_t piece : {1U, 5U, 1'000U}) {
        LinkInbox inbox = inbox_with(100, 10);
        Bytes sent = message_of(7, Bytes{1, 2, 3});
        append(sent, message_of(8, Bytes{4}));
        append(sent, message_of(7, Bytes{5, 6}));
        CHECK(feed(inbox, sent, piece) == sent.size());
        CHECK(inbox.held_bytes() == 6);
        CHECK_FALSE(inbox.is_answered());
        inbox.ask(8, 1);
        REQUIRE(inbox.is_answered());
        CHECK(inbox.answer().value() == Bytes{4});
        inbox.ask(7, 3);
        CHECK(inbox.answer().value() == Bytes{1, 2, 3});
        inbox.ask(7, 2);
        CHECK(inbox.answer().value() == Bytes{5, 6});
        CHECK(inbox.held_bytes() == 0);
    }
}

TEST_CASE("no memory is taken for a length that nobody asked for and the plan does not have") {
    for (const std::uint64_t length : {std::uint64_t{101}, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
        LinkInbox inbox = inbox_with(100, 10);
        CHECK(feed(inbox, frame_of(7, length)) == cell::kFrameHeaderBytes);
        CHECK(inbox.room().empty());
        CHECK(inbox.held_bytes() == 0);
        CHECK_FALSE(inbox.is_answered());
        inbox.ask(7, 10);
        REQUIRE(inbox.is_answered());
        CHECK(inbox.answer().error() == InboxError::kOtherLength);
        CHECK(inbox.wrong_bytes() == length);
        CHECK(inbox.held_bytes() == 0);
    }
}

TEST_CASE("what does not fit is left in the link until it is asked for") {
    LinkInbox inbox = inbox_with(100, 10);
    const Bytes large(1'000, 9);
    const Bytes sent = message_of(7, large);
    CHECK(feed(inbox, sent) == cell::kFrameHeaderBytes);
    inbox.ask(7, large.size());
    CHECK(inbox.held_bytes() == large.size());
    CHECK(feed(inbox, ByteView(sent).subspan(cell::kFrameHeaderBytes)) == large.size());
    CHECK(inbox.answer().value() == large);
    // What was taken makes room for the next ones.
    const Bytes small = message_of(7, Bytes(60, 1));
    CHECK(feed(inbox, small) == small.size());
    CHECK(feed(inbox, small) == cell::kFrameHeaderBytes);
    inbox.ask(7, 60);
    CHECK(inbox.answer().value() == Bytes(60, 1));
    CHECK(inbox.room().size() == 60);
}

TEST_CASE("a rank that sends more than it may in front of what is asked for is refused at once") {
    LinkInbox inbox = inbox_with(100, 10);
    inbox.ask(7, 5);
    CHECK(feed(inbox, frame_of(8, 101)) == cell::kFrameHeaderBytes);
    REQUIRE(inbox.is_answered());
    CHECK(inbox.answer().error() == InboxError::kUnasked);
    CHECK(inbox.wrong_bytes() == 101);
    CHECK(inbox.room().empty());
}

TEST_CASE("empty messages are counted too") {
    LinkInbox inbox = inbox_with(100, 3);
    const Bytes empty = frame_of(7, 0);
    for (int i = 0; i < 3; ++i) {
        CHECK(feed(inbox, empty) == empty.size());
    }
    CHECK(feed(inbox, empty) == empty.size());
    CHECK(inbox.room().empty());
    inbox.ask(7, 5);
    CHECK(inbox.answer().error() == InboxError::kOtherLength);
}

TEST_CASE("a message that came before it is asked for and has another length is refused") {
    LinkInbox inbox = inbox_with(100, 10);
    feed(inbox, message_of(7, Bytes{1, 2}));
    inbox.ask(7, 3);
    CHECK(inbox.answer().error() == InboxError::kOtherLength);
    CHECK(inbox.wrong_bytes() == 2);
    CHECK(inbox.is_answered());
}

TEST_CASE("where a rank listens is read in digits alone") {
    const cell::RankPlace place{.address = "10.0.0.2", .port = 4100};
    CHECK(string_of(ByteView(cell::encode_place(place))) == "10.0.0.2 4100");
    CHECK(cell::decode_place(cell::encode_place(place)) == place);
    CHECK(cell::decode_place(to_bytes("::1 1"))->address == "::1");
    for (const char* wrong :
         {"", " ", "10.0.0.2", "10.0.0.2 ", "10.0.0.2 0", "10.0.0.2 65536", "10.0.0.2 +1", "10.0.0.2 1 ", "10.0.0.2  1",
          "localhost 1", "10.0.0.256 1", "10.0.0.2\n 1"}) {
        CHECK_MESSAGE(!cell::decode_place(to_bytes(wrong)), wrong);
    }
    CHECK_FALSE(cell::decode_place(to_bytes(std::string(100, '1') + " 1")));
}

TEST_CASE("what has come of a message that is asked for is shown, and nothing of others") {
    LinkInbox inbox = inbox_with(100, 10);
    const Bytes sent = message_of(7, Bytes{1, 2, 3, 4});
    CHECK(inbox.so_far().empty());
    feed(inbox, ByteView(sent).first(sent.size() - 2));
    CHECK(inbox.so_far().empty());  // nobody has asked
    inbox.ask(8, 4);
    CHECK(inbox.so_far().empty());
    inbox.ask(7, 5);
    CHECK(inbox.so_far().empty());  // it has another length
    inbox.ask(7, 4);
    const ByteView begun = inbox.so_far();
    REQUIRE(begun.size() == 2);
    CHECK(begun[1] == 2);
    feed(inbox, ByteView(sent).last(2));
    REQUIRE(inbox.is_answered());
    CHECK(inbox.so_far().size() == 4);
    CHECK(inbox.so_far().data() == begun.data());
    CHECK(inbox.answer().value() == Bytes{1, 2, 3, 4});
    CHECK(inbox.so_far().empty());
}
