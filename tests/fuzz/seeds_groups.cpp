// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/fuzz/group_shapes.hpp>
#include <tests/fuzz/seeds.hpp>
#include <tests/fuzz/stated_messages.hpp>
#include <verifier/cell/link_frames.hpp>
#include <verifier/engine/cell/opening.hpp>
#include <verifier/engine/cell/orders.hpp>
#include <verifier/group/equivocation.hpp>
#include <verifier/group/shown.hpp>
#include <verifier/group/topics.hpp>

namespace assay::fuzz {
namespace {

constexpr std::uint64_t kFirstStep = 3;
constexpr std::uint32_t kAuthor = 2;

Bytes frame_of(std::uint32_t tag, ByteView bytes) {
    Bytes out = codec::encode(cell::FrameHeader{.tag = tag, .bytes = bytes.size()});
    append(out, bytes);
    return out;
}

Bytes with_first(std::uint8_t first, ByteView rest) {
    Bytes out{first};
    append(out, rest);
    return out;
}

void write_links(const CorpusWriter& out) {
    LinkCase link{.ahead_bytes = 64, .ahead_messages = 4, .acts = {}, .written = frame_of(1, Bytes{1, 2, 3})};
    append(link.written, frame_of(2, Bytes(100, 7)));
    append(link.written, frame_of(1, Bytes{}));
    link.acts = {{LinkAct::kFeed, 0, 20},  {LinkAct::kAsk, 1, 3},     {LinkAct::kAnswer, 0, 0},
                 {LinkAct::kAsk, 2, 100},  {LinkAct::kFeed, 0, 50},   {LinkAct::kFeed, 0, 500},
                 {LinkAct::kAnswer, 0, 0}, {LinkAct::kAllow, 0, 200}, {LinkAct::kFeed, 0, 12}};
    out.write("link", "in_order", codec::encode(link));
    link.acts = {{LinkAct::kFeed, 0, 500}, {LinkAct::kAsk, 1, 3}, {LinkAct::kAnswer, 0, 0}, {LinkAct::kAsk, 5, 9}};
    out.write("link", "unasked", codec::encode(link));
    link.acts = {{LinkAct::kAsk, 1, 4}, {LinkAct::kFeed, 0, 500}, {LinkAct::kAnswer, 0, 0}};
    out.write("link", "other_length", codec::encode(link));
    link.written = codec::encode(cell::FrameHeader{.tag = 1, .bytes = std::uint64_t{1} << 40U});
    out.write("link", "announced", codec::encode(link));
    out.write("link", "place", "10.0.0.2 4100");
    out.write("link", "place_v6", "::1 65535");
}

void write_meetings(const CorpusWriter& out) {
    const std::string name = to_hex(member_key(0).account().view());
    const auto write = [&](const char* file, std::uint8_t target, const std::string& body) {
        out.write("meeting", file, with_first(target, as_bytes(body)));
    };
    write("seat", 0, R"({"name":"left","served":0})");
    write("seat_of_account", 0, R"({"name":")" + name + R"(","served":@})");
    write("leave", 1, R"({"name":")" + name + R"("})");
    write("get", 2, R"({"session":@,"key":"tls/1"})");
    write("set", 3, R"({"session":@,"key":"tls/1","value":"00ff"})");
    write("set_of_another", 3, R"({"session":@,"key":"tls/2","value":"00ff"})");
    write("other_session", 3, R"({"session":1,"key":"tls/1","value":"00"})");
    write("answer", 4, R"({"session":7,"rank":2,"names":["a","b"],"timeout_ms":1000})");
    write("no_answer", 4, R"({"session":7,"rank":3,"names":["a","b"],"timeout_ms":18446744073709551615})");
}

void write_sessions(const CorpusWriter& out) {
    using engine::cell::Order;
    const auto write_opening = [&](const char* name, std::uint8_t ranks, std::size_t program) {
        const plan::Layout layout = plan::decode_layout(name, ranks).value();
        const engine::cell::Opening opening{.layout = layout, .program = Bytes(program)};
        out.write(
            "session", "opening_" + std::to_string(ranks) + "_" + std::to_string(program),
            with_first(static_cast<std::uint8_t>(ranks - 1), engine::cell::encode_opening(opening))
        );
    };
    write_opening("zero1:5,3", 2, 0);
    write_opening("pp+1f1b4", 4, 2);
    write_opening("dp2tp", 6, 3);
    write_opening("zero3", 3, 1);
    // Shares of which all are 0: no rank would have rows.
    const plan::Layout none{.data = 2, .shares = {0, 0}};
    out.write("session", "no_rows", with_first(1, engine::cell::encode_opening({.layout = none, .program = {}})));
    for (const std::uint8_t kind : {engine::cell::kStep, engine::cell::kSetTensor, engine::cell::kGetBusy}) {
        const Order order{.kind = kind, .first = 3, .second = 4};
        out.write("session", "order_" + std::to_string(kind), with_first(4, codec::encode(order)));
    }
}

void write_plans(const CorpusWriter& out) {
    const std::vector<std::pair<std::uint8_t, std::string>> names{
        {2, "dp"}, {4, "dp2tp2"},   {3, "zero3"},     {2, "zero1:5,3"}, {4, "zero2+dp2tp2"},           {5, "tp"},
        {4, "pp"}, {4, "pp+1f1b4"}, {2, "pp+gpipe2"}, {8, "dp2tp2pp2"}, {6, "zero1+dp2pp3+1f1b2:1,2"}, {3, "dp:1,0,7"},
        {1, "dp"}};
    out.write("plan", "gpipe_alone", "\x08\x01pp+gpipe2");
    for (std::size_t i = 0; i < names.size(); ++i) {
        Bytes bytes{static_cast<std::uint8_t>(names[i].first - 1), static_cast<std::uint8_t>(i)};
        append(bytes, as_bytes(names[i].second));
        out.write("plan", "layout_" + std::to_string(i), bytes);
    }
}

void write_statements(const CorpusWriter& out) {
    for (std::size_t i = 0; i < stated_messages().size(); ++i) {
        const auto message = static_cast<std::uint8_t>(i);
        const std::string number = std::to_string(i);
        StatedCase stated{
            .kind = StatedCase::kHonest, .message = message, .place = 0, .change = 0, .values = {1, 2, 3}};
        out.write("statement", "honest_" + number, codec::encode(stated));
        stated.kind = StatedCase::kAltered;
        stated.place = 70;
        out.write("statement", "altered_" + number, codec::encode(stated));
        stated.kind = StatedCase::kAnyBytes;
        out.write("statement", "unsigned_" + number, codec::encode(stated));
    }
}

/// What ranks ask, what they answer and the evidence that they show stand behind their lengths.
void append_list(Bytes& out, const Bytes& list) {
    append(out, codec::encode(std::uint64_t{list.size()}));
    append(out, list);
}

void write_told(const CorpusWriter& out) {
    dispute::Statement occasion{.task = {}, .before = {}, .session = {}, .step = kFirstStep, .pieces = 0, .root = {}};
    const std::filesystem::path directory = std::filesystem::temp_directory_path() / "assay-make-corpus-told";
    std::filesystem::remove_all(directory);
    group::Ledger ledger(directory, std::uint64_t{1} << 20U);
    const auto& messages = stated_messages();
    for (const std::uint8_t values : {std::uint8_t{1}, std::uint8_t{2}}) {  // which contradict each other
        ledger.add(kFirstStep, told_of(0, occasion, messages[1], Bytes(messages[1]->bytes, values)));
    }
    ledger.add(kFirstStep, told_of(1, occasion, messages[2], Bytes(messages[2]->bytes)));
    std::ifstream file(std::filesystem::directory_iterator(directory)->path(), std::ios::binary);
    out.write("told", "file", Bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    std::filesystem::remove_all(directory);

    const group::Told other = told_of(kAuthor, occasion, messages[1], Bytes(messages[1]->bytes, 9));
    const group::Topic topic = group::topics_of(*messages[1]).front();
    const group::HeardLine line{kAuthor, kFirstStep, topic.pieces, group::said_of(topic, other.values)};
    Bytes shown = codec::encode(std::uint64_t{1});  // how many lines
    append(shown, codec::encode(std::vector<group::HeardLine>{line}));
    append_list(shown, codec::encode(std::vector<std::uint64_t>{0}));
    append_list(
        shown, codec::encode(std::vector<group::ShownMessage>{
                   {kAuthor, other.statement, other.signature, messages[1]->pieces, other.values}})
    );
    append_list(shown, codec::encode(std::vector<group::Equivocation>{}));
    out.write("told", "shown", shown);
    const group::Told first = told_of(kAuthor, occasion, messages[1], Bytes(messages[1]->bytes, 1));
    const group::Equivocation evidence{
        .author = kAuthor,
        .one = first.stated(0),
        .one_signature = first.signature,
        .other = other.stated(0),
        .other_signature = other.signature};
    Bytes learned = codec::encode(std::uint64_t{0});
    append(learned, codec::encode(std::vector<group::HeardLine>{}));
    append_list(learned, codec::encode(std::vector<std::uint64_t>{}));
    append_list(learned, codec::encode(std::vector<group::ShownMessage>{}));
    append_list(learned, codec::encode(std::vector<group::Equivocation>{evidence}));
    out.write("told", "evidence", learned);
    out.write("told", "one_evidence", codec::encode(evidence));
}

}  // namespace

void write_group_seeds(const CorpusWriter& out) {
    write_links(out);
    write_meetings(out);
    write_sessions(out);
    write_plans(out);
    write_statements(out);
    write_told(out);
}

}  // namespace assay::fuzz
