// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <consensus/solo/block_log.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

using namespace assay;
using namespace assay::solo;
using namespace assay::solo::test;

namespace {

LogRecord make_record(std::uint64_t height, std::vector<Bytes> txs = {}) {
    BlockHeader header;
    header.chain_id = "toy-1";
    header.height = {height};
    header.time_ms = height;
    LogRecord record{.block = sign_block(header, std::move(txs), toy_key(1)), .app_hash = {}};
    record.app_hash.data[0] = static_cast<std::uint8_t>(height);
    return record;
}

void append_heights(const std::filesystem::path& file, std::uint64_t first, std::uint64_t last) {
    BlockLog log(file);
    for (std::uint64_t height = first; height <= last; ++height) {
        log.append(make_record(height, {toy_tx(1, static_cast<std::uint8_t>(height))}));
    }
}

std::string open_error(const std::filesystem::path& file) {
    try {
        const BlockLog log(file);
        return {};
    } catch (const BlockLogError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("what was appended is read back after reopening") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 3);
    const BlockLog log(file);
    CHECK(log.height().value == 3);
    CHECK_FALSE(log.torn_tail().has_value());
    for (std::uint64_t height = 1; height <= 3; ++height) {
        const auto record = log.read({height});
        REQUIRE(record.has_value());
        CHECK(
            codec::encode(*record) == codec::encode(make_record(height, {toy_tx(1, static_cast<std::uint8_t>(height))}))
        );
    }
    CHECK_FALSE(log.read({0}).has_value());
    CHECK_FALSE(log.read({4}).has_value());
}

TEST_CASE("a log with the later records of another one begins with their first height") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 5);
    const BlockLog whole(file, BlockLog::Mode::kReadOnly);
    CHECK(whole.first_height().value == 1);
    const auto shorter = directory.path() / "shorter.log";
    {
        BlockLog log(shorter);
        CHECK(log.first_height().value == 1);
        log.append_from(whole, {4});
        CHECK(log.height().value == 5);
        log.append(make_record(6));
    }
    BlockLog log(shorter);
    CHECK(log.first_height().value == 4);
    CHECK(log.height().value == 6);
    for (std::uint64_t height = 4; height <= 5; ++height) {
        CHECK(codec::encode(log.read({height}).value()) == codec::encode(whole.read({height}).value()));
    }
    for (const std::uint64_t height : {0U, 1U, 3U, 7U}) {
        CHECK_FALSE(log.read({height}).has_value());
        CHECK_FALSE(log.read_part({height}, 4, 4).has_value());
    }
    CHECK(log.read_part({5}, 8 + toy_tx(1, 5).size() - 4, 4).has_value());
}

TEST_CASE("a part of a block's transactions is read by where it is") {
    const TemporaryDirectory directory;
    const std::vector<Bytes> txs{toy_tx(1, 1), Bytes(300, 7), toy_tx(2, 2)};
    BlockLog log(directory.path() / "blocks.log");
    log.append(make_record(1, txs));
    for (const std::uint64_t appended : {1U, 2U}) {
        std::uint64_t before_end = 0;
        for (std::size_t i = txs.size(); i > 0; --i) {
            before_end += txs[i - 1].size();
            CHECK(log.read_part({1}, before_end, txs[i - 1].size()) == txs[i - 1]);
            before_end += 4;
        }
        CHECK_FALSE(log.read_part({appended + 1}, 4, 4).has_value());
        CHECK_FALSE(log.read_part({0}, 4, 4).has_value());
        CHECK_FALSE(log.read_part({1}, 4, 5).has_value());
        CHECK_FALSE(log.read_part({1}, 1'000'000, 4).has_value());
        if (appended == 1) {
            log.append(make_record(2));
        }
    }
}

TEST_CASE("a log cut at any byte of its last record opens without that record and goes on") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 2);
    const std::size_t whole_two = read_file(file).size();
    append_heights(file, 3, 3);
    const Bytes bytes = read_file(file);
    for (std::size_t size = whole_two; size < bytes.size(); ++size) {
        CAPTURE(size);
        write_file(file, ByteView(bytes).first(size));
        {
            BlockLog log(file);
            REQUIRE(log.height().value == 2);
            REQUIRE(log.torn_tail().has_value() == (size > whole_two));
            if (log.torn_tail()) {
                REQUIRE(log.torn_tail()->offset == whole_two);
                REQUIRE(log.torn_tail()->size_bytes == size - whole_two);
                REQUIRE(read_file(file.string() + ".torn").size() == size - whole_two);
            }
            log.append(make_record(3, {toy_tx(1, 3)}));
        }
        REQUIRE(read_file(file) == bytes);
    }
}

TEST_CASE("a last record that is zeros or garbage is torn too") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 2);
    const Bytes whole = read_file(file);
    for (const std::uint8_t filler : {std::uint8_t{0}, std::uint8_t{0xA5}, std::uint8_t{0xFF}}) {
        Bytes longer = whole;
        longer.resize(whole.size() + 5'000, filler);
        write_file(file, longer);
        const BlockLog log(file);
        CHECK(log.height().value == 2);
        CHECK(log.torn_tail().has_value());
    }
    CHECK(read_file(file) == whole);
}

TEST_CASE("a tail of claimed records is scanned once, whatever lengths they claim") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 2);
    const Bytes whole = read_file(file);
    const Bytes magic{0xA5, 'B', 'L', 'K'};
    // Magics side by side, each with a length of 64 MiB at most; then headers that claim to follow, signed by nobody.
    Bytes bare = whole;
    for (int i = 0; i < 100'000; ++i) {
        append(bare, magic);
        append(bare, Bytes{0, 0, 0, 4});
    }
    Bytes header = magic;
    header.resize(16, 0);
    BlockHeader claimed = make_record(3).block.header;
    codec::encode_to(header, claimed);
    header.resize(header.size() + 64, 7);
    Bytes claims = whole;
    for (int i = 0; i < 2'000; ++i) {
        append(claims, header);
    }
    for (const Bytes& bytes : {bare, claims}) {
        write_file(file, bytes);
        const std::uint64_t tail = bytes.size() - whole.size();
        std::filesystem::resize_file(file, bytes.size() + (96U << 20U));  // so that the claimed lengths fit
        const BlockLog log(file, BlockLog::Mode::kReadOnly);
        CHECK(log.height().value == 2);
        CHECK(log.torn_tail().has_value());
        CHECK(log.scan_cost().bytes_read <= tail + (97U << 20U));
        CHECK(log.scan_cost().signatures_verified <= tail / header.size() + 1);
    }
}

TEST_CASE("a flipped bit anywhere before the last record is an error that names the offset") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 1);
    const std::size_t first_end = read_file(file).size();
    append_heights(file, 2, 3);
    const Bytes bytes = read_file(file);
    const std::size_t second_end = first_end + (bytes.size() - first_end) / 2;
    for (std::size_t i = first_end; i < second_end; ++i) {
        CAPTURE(i);
        Bytes damaged = bytes;
        damaged[i] ^= 0x10U;
        write_file(file, damaged);
        REQUIRE(open_error(file).find("at offset " + std::to_string(first_end)) != std::string::npos);
        REQUIRE(read_file(file) == damaged);
    }
}

TEST_CASE("a transaction that looks like a record does not make a torn record look damaged") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 1);
    // A forged later record, framed rightly, signed by somebody else.
    const auto forged_file = directory.path() / "forged.log";
    {
        BlockLog forged(forged_file);
        for (std::uint64_t height = 1; height <= 9; ++height) {
            BlockHeader header;
            header.chain_id = "toy-1";
            header.height = {height};
            forged.append({.block = sign_block(header, {}, toy_key(2)), .app_hash = {}});
        }
    }
    {
        BlockLog log(file);
        log.append(make_record(2, {read_file(forged_file)}));
    }
    Bytes bytes = read_file(file);
    bytes.resize(bytes.size() - 1);
    write_file(file, bytes);
    const BlockLog log(file);
    CHECK(log.height().value == 1);
    CHECK(log.torn_tail().has_value());
}

TEST_CASE("a read-only log leaves a torn record in the file") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 2);
    Bytes bytes = read_file(file);
    bytes.resize(bytes.size() - 3);
    write_file(file, bytes);
    const BlockLog log(file, BlockLog::Mode::kReadOnly);
    CHECK(log.height().value == 1);
    CHECK(log.torn_tail().has_value());
    CHECK(read_file(file) == bytes);
}

TEST_CASE("a file that is no block log is refused and one cut in its first bytes is begun again") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    write_file(file, as_bytes("hello, this is text"));
    CHECK(open_error(file).find("is not a block log") != std::string::npos);
    write_file(file, as_bytes("ASS"));
    const BlockLog log(file);
    CHECK(log.height().value == 0);
    CHECK(read_file(file).size() == 8);
}

TEST_CASE("a record damaged while the log is open is an error and not an answer") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    append_heights(file, 1, 2);
    const BlockLog log(file);
    Bytes bytes = read_file(file);
    bytes[40] ^= 1U;
    write_file(file, bytes);
    CHECK_THROWS_AS(static_cast<void>(log.read({1})), BlockLogError);
    CHECK(log.read({2}).has_value());
}
