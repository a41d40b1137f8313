// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <core/merkle/tree.hpp>
#include <verifier/group/ledger.hpp>

using namespace assay;
using group::Told;

namespace {

/// An entry of a ledger's file, in the order of its fields.
Bytes entry_of(std::uint32_t kind, const std::vector<plan::MessagePiece>& pieces, const Told& told) {
    Bytes line = codec::encode(kind);
    append(line, codec::encode(pieces));
    append(line, codec::encode(told.author));
    append(line, codec::encode(told.statement));
    append(line, codec::encode(told.signature));
    append(line, codec::encode(told.values));
    Bytes out = codec::encode(static_cast<std::uint32_t>(line.size()));
    append(out, line);
    return out;
}

Told told_of(std::size_t pieces) {
    auto message = std::make_shared<plan::MessagePieces>();
    for (std::size_t i = 0; i < pieces; ++i) {
        plan::MessagePiece piece;
        piece.index = static_cast<std::uint32_t>(i);
        piece.rows = 1;
        piece.cols = 1;
        piece.width = 4;
        message->pieces.push_back(piece);
    }
    Told out{.author = 1, .statement = {}, .signature = {}, .message = message, .values = {}};
    std::vector<Hash256> leaves;
    for (std::size_t i = 0; i < pieces; ++i) {
        out.values.push_back(dispute::values_hash(Bytes(4, static_cast<std::uint8_t>(i))));
        leaves.push_back(dispute::piece_leaf(out.piece(i)));
    }
    out.statement.pieces = static_cast<std::uint32_t>(pieces);
    out.statement.root = pieces > 0 ? merkle::root_of(leaves) : Hash256{};
    return out;
}

std::size_t count_in(const Bytes& bytes) {
    std::istringstream file{string_of(ByteView(bytes))};
    return group::read_told(file, bytes.size()).size();
}

}  // namespace

TEST_CASE("a ledger's file is read up to where it is damaged") {
    const Told one = told_of(2);
    Bytes whole = entry_of(0, one.message->pieces, one);
    append(whole, entry_of(0, {}, one));
    CHECK(count_in(whole) == 2);
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{4}, whole.size() - 1}) {
        CHECK(
            count_in(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))) == (size > 100 ? 1U : 0U)
        );
    }
    Bytes with_rubbish = whole;
    append(with_rubbish, Bytes{1, 0, 0, 0, 7});
    append(with_rubbish, whole);
    CHECK(count_in(with_rubbish) == 2);
    // A length that the file does not have makes no room for itself.
    append(whole, Bytes{255, 255, 255, 255, 0});
    CHECK(count_in(whole) == 2);
}

TEST_CASE("an entry that no statement has is no evidence") {
    const Told one = told_of(2);
    CHECK(count_in(entry_of(0, {}, told_of(0))) == 0);            // without pieces
    CHECK(count_in(entry_of(1, one.message->pieces, one)) == 0);  // of a message that nothing describes
    Told other = told_of(2);
    other.statement.pieces = 3;
    CHECK(count_in(entry_of(0, one.message->pieces, other)) == 0);
    other = told_of(2);
    other.values[1].data[0] ^= 1;
    CHECK(count_in(entry_of(0, one.message->pieces, other)) == 0);
    other = told_of(2);
    other.values.pop_back();
    CHECK(count_in(entry_of(0, one.message->pieces, other)) == 0);
}
