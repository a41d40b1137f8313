// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/artifacts/files.hpp>
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

/// Lets no file grow beyond so many bytes, as a full disk would not, for as long as it lives.
class FullDisk {
  public:
    explicit FullDisk(std::uint64_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

  private:
    rlimit before_{};
};

/// Whether the ledger throws, without an assertion, which might have to write a file itself.
bool refuses(group::Ledger& ledger, const Told& told) {
    try {
        ledger.add(0, told);
    } catch (const std::runtime_error&) {
        return true;
    }
    return false;
}

/// Of how many pieces the messages are that a ledger has of a segment, in their order.
std::vector<std::size_t> sizes_of(const group::Ledger& ledger, std::uint64_t first_step) {
    std::vector<std::size_t> out;
    for (const auto& told : ledger.told(first_step)) {
        out.push_back(told->values.size());
    }
    return out;
}

/// How many files below the directory this process has open.
std::size_t open_in(const std::filesystem::path& directory) {
    std::size_t out = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code ignored;  // one of the entries is what reads them
        const auto file = std::filesystem::read_symlink(entry.path(), ignored);
        out += file.string().starts_with(directory.string()) ? 1U : 0U;
    }
    return out;
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

TEST_CASE("a message that a full ledger refuses takes no number from those that come later") {
    const test::TemporaryDirectory directory;
    group::Ledger ledger(directory.path(), 4'000);
    ledger.add(0, told_of(1));
    CHECK(refuses(ledger, told_of(100)));
    ledger.add(0, told_of(2));
    ledger.add(0, told_of(3));
    CHECK(sizes_of(ledger, 0) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("what could be written in part only hides nothing that comes later") {
    const test::TemporaryDirectory directory;
    group::Ledger ledger(directory.path(), std::uint64_t{1} << 20U);
    const Told first = told_of(1);
    const Told second = told_of(2);
    ledger.add(0, first);
    const std::uint64_t bytes = ledger.bytes();
    bool has_failed = false;
    bool has_failed_again = false;
    {
        const FullDisk full(bytes + 50);
        has_failed = refuses(ledger, told_of(100));
        has_failed_again = refuses(ledger, second);  // in a file of its own, which has no room either
    }
    CHECK(has_failed);
    CHECK(has_failed_again);
    CHECK(ledger.bytes() == bytes);
    ledger.add(0, second);
    ledger.add(0, first);
    ledger.add(0, second);
    std::vector<std::size_t> sizes = sizes_of(ledger, 0);
    std::sort(sizes.begin(), sizes.end());
    CHECK(sizes == std::vector<std::size_t>{1, 1, 2, 2});
    CHECK(group::Ledger(directory.path(), std::uint64_t{1} << 20U).bytes() == ledger.bytes());
}

TEST_CASE("a ledger has one file open, whatever the number of segments, and goes on with any of them") {
    const test::TemporaryDirectory directory;
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 20U;
    group::Ledger ledger(directory.path(), kBytes);
    std::weak_ptr<const plan::MessagePieces> of_first;
    {
        const Told first = told_of(1);
        of_first = first.message;
        ledger.add(0, first);
    }
    const Told second = told_of(2);
    const Told third = told_of(3);
    for (const std::uint64_t segment : {1U, 2U, 3U}) {
        ledger.add(segment, second);
    }
    CHECK(open_in(directory.path()) == 1);
    CHECK(of_first.expired());
    // A segment that begins again has another file, in which messages are described anew.
    ledger.add(0, third);
    ledger.add(0, second);
    ledger.add(1, third);
    ledger.add(0, second);
    CHECK(open_in(directory.path()) == 1);
    for (const bool is_after_restart : {false, true}) {
        const group::Ledger again(directory.path(), kBytes);
        const group::Ledger& from = is_after_restart ? again : ledger;
        CHECK(sizes_of(from, 0) == std::vector<std::size_t>{1, 3, 2, 2});
        CHECK(sizes_of(from, 1) == std::vector<std::size_t>{2, 3});
        CHECK(sizes_of(from, 3) == std::vector<std::size_t>{2});
        CHECK(from.bytes() == ledger.bytes());
    }
}
