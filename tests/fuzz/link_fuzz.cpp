// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/group_shapes.hpp>
#include <verifier/cell/link_frames.hpp>
#include <verifier/cell/link_inbox.hpp>

/// What another rank writes on a link: any bytes, in any pieces, whatever this rank asks for meanwhile.
namespace assay::fuzz {
namespace {

/// The messages of a stream, read all at once.
struct Sent {
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    ByteView what;  // as much of it as there is
    bool is_taken = false;
};

std::vector<Sent> messages_of(ByteView stream) {
    std::vector<Sent> out;
    while (stream.size() >= cell::kFrameHeaderBytes) {
        const auto header = codec::decode<cell::FrameHeader>(stream.first(cell::kFrameHeaderBytes)).value();
        stream = stream.subspan(cell::kFrameHeaderBytes);
        const std::size_t size = std::min<std::uint64_t>(header.bytes, stream.size());
        out.push_back({.tag = header.tag, .bytes = header.bytes, .what = stream.first(size), .is_taken = false});
        stream = stream.subspan(size);
    }
    return out;
}

class Reader {
  public:
    explicit Reader(const LinkCase& input) : left_(input.written), sent_(messages_of(input.written)) {
        allow(input.ahead_bytes, input.ahead_messages);
    }

    void act(const LinkAct& act) {
        switch (act.kind % LinkAct::kKinds) {
            case LinkAct::kFeed:
                feed(act.bytes);
                break;
            case LinkAct::kAsk:
                if (!is_asked_) {
                    inbox_.ask(act.tag, act.bytes);
                    asked_ = {.tag = act.tag, .bytes = act.bytes, .what = {}, .is_taken = false};
                    is_asked_ = true;
                }
                break;
            case LinkAct::kAnswer:
                answer();
                break;
            default:
                allow(std::max<std::uint64_t>(ahead_.bytes, act.bytes), ahead_.messages);
        }
        check_shown();
        // The bound: what a rank may be ahead, and what is asked for.
        ASSERT(inbox_.held_bytes() <= ahead_.bytes + (is_asked_ ? asked_.bytes : 0));
    }

  private:
    void allow(std::uint64_t bytes, std::uint64_t messages) {
        ahead_ = {.bytes = bytes, .messages = messages};
        inbox_.set_ahead(ahead_);
    }
    void feed(std::size_t bytes) {
        while (bytes > 0 && !left_.empty() && !inbox_.room().empty()) {
            const std::size_t size = std::min({bytes, left_.size(), inbox_.room().size()});
            std::memcpy(inbox_.room().data(), left_.data(), size);
            inbox_.fill(size);
            left_ = left_.subspan(size);
            bytes -= size;
        }
    }
    // The first message that was not handed out of the tag that is asked for.
    std::vector<Sent>::iterator next_asked() {
        return std::find_if(sent_.begin(), sent_.end(), [&](const Sent& sent) {
            return !sent.is_taken && sent.tag == asked_.tag;
        });
    }
    // What is shown of a message is its beginning.
    void check_shown() {
        const ByteView shown = inbox_.so_far();
        if (!shown.empty()) {
            const auto next = next_asked();
            ASSERT(is_asked_ && next != sent_.end() && next->bytes == asked_.bytes);
            ASSERT(shown.size() <= next->what.size() && same(shown, next->what.first(shown.size())));
        }
    }
    void answer() {
        if (!inbox_.is_answered()) {
            return;
        }
        const bool was_refused = is_refused_;
        const auto message = inbox_.answer();
        if (!message) {
            ASSERT(inbox_.room().empty());
            is_refused_ = true;
            return;
        }
        ASSERT(!was_refused && is_asked_);
        const auto next = next_asked();
        ASSERT(next != sent_.end() && next->bytes == asked_.bytes && same(*message, next->what));
        next->is_taken = true;
        is_asked_ = false;
    }

    cell::LinkInbox inbox_;
    engine::Ahead ahead_;
    ByteView left_;
    std::vector<Sent> sent_;
    Sent asked_;
    bool is_asked_ = false;
    bool is_refused_ = false;
};

}  // namespace

void run(ByteView input) {
    if (const auto place = cell::decode_place(input)) {
        ASSERT(cell::decode_place(cell::encode_place(*place)) == place);
    }
    const auto link = round_trip<LinkCase>(input);
    if (!link) {
        return;
    }
    Reader reader(*link);
    for (const LinkAct& act : link->acts) {
        reader.act(act);
    }
}

}  // namespace assay::fuzz
