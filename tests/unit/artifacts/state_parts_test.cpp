// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/artifacts/odd_server.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/artifacts/state_parts.hpp>

namespace assay::artifacts {
namespace {

using canonical::DType;
using test::OddServer;

/// A state of several parts, with edges, a vector, other types, and more columns than are checked at once.
struct Trained {
    test::TemporaryDirectory home;
    ContentStore store{home.path() / "store"};
    program::Program program;
    std::vector<canonical::Tensor> state;
    Leaves leaves;
    Bytes file;
    Hash256 hash;
    ExpectedState expected;

    Trained() {
        program.state = {
            {.name = "step", .type = {DType::kI64, {1, 1}}},
            {.name = "frozen", .type = {DType::kF32, {1'000, 300}}},
            {.name = "bias", .type = {DType::kF32, {1, 5'000}}},
            {.name = "head", .type = {DType::kI32, {70, 2'100}}}};
        std::uint32_t word = 1;
        for (const auto& [name, type] : program.state) {
            state.push_back(canonical::make_tensor(type.dtype, type.shape));
            for (std::uint8_t& byte : state.back().data) {
                word = word * 1'664'525U + 1'013'904'223U;
                byte = static_cast<std::uint8_t>(word >> 24U);
            }
        }
        settle();
    }
    void settle() {
        leaves = leaves_of(state);
        file = encode_state(program, state);
        expected = {.tensors = program.state, .root = state_root_of(state)};
        hash = name_of(expected);
    }
    Bytes leaf_bytes() const { return encode_leaves(leaves); }
    Result<StoredFile, FetchError> get(
        const std::string& url, const std::vector<std::string>& mirrors = {},
        const std::vector<NearbyState>& nearby = {}
    ) const {
        const FetchLimits limits{.idle_timeout = std::chrono::milliseconds(300), .mirrors = mirrors};
        return download(reference_to(expected, url), store, limits, nearby);
    }
    bool is_stored() const {
        const auto stored = store.open(hash);
        return stored && Bytes(stored->view().begin(), stored->view().end()) == file && store.leaves(hash) &&
               store.partials().empty();
    }
    std::uint64_t offset_of(const std::string& name) const {
        const auto layout = decode_safetensors_layout(file);
        for (const TensorPlace& place : layout->tensors) {
            if (place.name == name) {
                return place.offset;
            }
        }
        return 0;
    }
};

TEST_CASE("ART-15: the hashes of a state's tiles are those that its root follows from, and no others") {
    const Trained trained;
    const auto types = program::types_of(trained.program.state);
    const Bytes bytes = trained.leaf_bytes();
    CHECK(bytes.size() == leaves_bytes(types));
    CHECK(bytes.size() == 32 * (1 + 32 * 10 + 157 + 3 * 66));
    CHECK(decode_leaves(types, trained.expected.root, bytes) == trained.leaves);
    CHECK(!decode_leaves(types, Hash256{{1}}, bytes));
    CHECK(!decode_leaves(types, trained.expected.root, ByteView(bytes).first(bytes.size() - 32)));
    for (const std::size_t at : {std::size_t{0}, std::size_t{5'000}, bytes.size() - 1}) {
        Bytes other = bytes;
        other[at] ^= 1U;
        CHECK(!decode_leaves(types, trained.expected.root, other));
    }
}

TEST_CASE("ART-15: they are stored, served and removed with their checkpoint") {
    const Trained trained;
    const auto stored = store_state(trained.program, trained.state, trained.leaves, trained.store);
    const ArtifactServer server({}, trained.store);
    const std::string url = server.url() + "/artifact/" + to_hex(stored.hash.view());
    CHECK(to_bytes(http::http_get(url + "/leaves").body) == trained.leaf_bytes());
    CHECK(http::http_get(url + "/other").status == 400);
    CHECK(trained.store.entries().at(0).size_bytes == trained.file.size() + trained.leaf_bytes().size());
    const Hash256 data = trained.store.put(as_bytes("no checkpoint"));
    CHECK(http::http_get(server.url() + "/artifact/" + to_hex(data.view()) + "/leaves").status == 404);
    trained.store.remove(stored.hash);
    CHECK(!trained.store.leaves(stored.hash));
}

TEST_CASE("ART-16: every wrong byte of a file makes its part wrong, and no other part") {
    const Trained trained;
    const StateParts parts(trained.expected, trained.leaves);
    REQUIRE(parts.ends().size() > 5);
    CHECK(parts.ends().back() == trained.file.size());
    const File file(trained.home.path() / "file", O_RDWR | O_CREAT);
    file.write_at(0, trained.file);
    const auto wrong_parts = [&] {
        std::vector<std::uint64_t> out;
        for (std::uint64_t part = 0; part < parts.ends().size(); ++part) {
            if (!parts.is_right(part, file)) {
                out.push_back(part);
            }
        }
        return out;
    };
    CHECK(wrong_parts().empty());
    std::vector<std::uint64_t> places{0, trained.file.size() - 1};
    for (std::uint64_t part = 1; part < parts.ends().size(); ++part) {
        places.push_back(parts.begin_of(part));
        places.push_back((parts.begin_of(part) + parts.ends()[part]) / 2);
        places.push_back(parts.ends()[part] - 1);
    }
    for (const std::uint64_t at : places) {
        const std::uint8_t wrong = trained.file[at] ^ 1U;
        file.write_at(at, {&wrong, 1});
        const auto found = wrong_parts();
        REQUIRE(found.size() == 1);
        CHECK(parts.begin_of(found[0]) <= at);
        CHECK(at < parts.ends()[found[0]]);
        file.write_at(at, {&trained.file[at], 1});
    }
}

TEST_CASE("ART-16: a source that lies is dropped at its first wrong part, and what is right stays") {
    const Trained trained;
    const Bytes leaves = trained.leaf_bytes();
    const std::uint64_t wrong = trained.offset_of("frozen") + 600'000;
    {
        const OddServer liar(trained.file, {.lie_at = wrong}, leaves);
        CHECK(trained.get(liar.url()).error() == FetchError::kMismatch);
        CHECK(!trained.store.has(trained.hash));
        const OddServer honest(trained.file, {}, leaves);
        REQUIRE(trained.get(honest.url()).has_value());
        CHECK(trained.is_stored());
        CHECK(honest.bytes_sent() < trained.file.size() - 250'000);  // two parts of the liar's were right
        trained.store.remove(trained.hash);
    }
    // Together: the honest one brings what the liar does not, and nothing is fetched again from the beginning.
    const OddServer liar(trained.file, {.lie_at = trained.offset_of("frozen")}, leaves);
    const OddServer honest(trained.file, {.pause = std::chrono::milliseconds(1)}, leaves);
    REQUIRE(trained.get(liar.url(), {honest.url()}).has_value());
    CHECK(trained.is_stored());
    CHECK(honest.bytes_sent() <= trained.file.size());
    CHECK(honest.bytes_sent() + liar.bytes_sent() < trained.file.size() * 2);
}

TEST_CASE("ART-15: hashes that are wrong or missing at one source come from another, and without any there is nothing"
) {
    const Trained trained;
    const Bytes leaves = trained.leaf_bytes();
    Bytes wrong = leaves;
    wrong[100] ^= 1U;
    for (const Bytes& others : {wrong, Bytes{}, trained.file}) {
        const OddServer odd(trained.file, {}, others);
        const OddServer good(trained.file, {}, leaves);
        REQUIRE(trained.get(good.url(), {odd.url()}).has_value());
        CHECK(trained.is_stored());
        trained.store.remove(trained.hash);
        CHECK(trained.get(odd.url()).error() == FetchError::kMissing);
        CHECK(!trained.store.has(trained.hash));
    }
}

TEST_CASE("ART-10: hashes of other frozen tensors than the task's are not used, though the root follows from them") {
    Trained trained;
    auto some = *decode_safetensors(trained.file);
    some.tensors.erase(some.tensors.begin() + 1);
    some.metadata.clear();
    trained.expected.lacking = {{}, commit_tensor(trained.state[1]), {}, {}};
    trained.state[1].data[0] ^= 1U;  // what the solver says
    trained.expected.root = state_root_of(trained.state);
    trained.leaves = leaves_of(trained.state);
    trained.file = encode_safetensors(some);
    const OddServer server(trained.file, {}, trained.leaf_bytes());
    CHECK(trained.get(server.url()).error() == FetchError::kMissing);
    trained.expected.lacking[1] = commit_tensor(trained.state[1]);
    CHECK(trained.get(server.url()).has_value());
}

TEST_CASE("ART-16: what is the same in another checkpoint is copied, and is checked as if it were fetched") {
    const Trained before;
    const auto earlier = store_state(before.program, before.state, before.leaves, before.store);
    Trained trained;
    for (const std::size_t changed : {0U, 2U, 3U}) {
        trained.state[changed].data[0] ^= 1U;
    }
    trained.state[3].data.back() ^= 1U;
    trained.settle();
    const auto nearby_of = [&](const Hash256& hash) {
        return std::vector<NearbyState>{{*StoredFile::open(before.store.path(hash)), *before.store.leaves(hash)}};
    };
    const std::uint64_t frozen_bytes = 1'000 * 300 * 4;
    {
        const OddServer server(trained.file, {}, trained.leaf_bytes());
        REQUIRE(trained.get(server.url(), {}, nearby_of(earlier.hash)).has_value());
        CHECK(trained.is_stored());
        CHECK(server.bytes_sent() < trained.file.size() - frozen_bytes * 3 / 4);
        trained.store.remove(trained.hash);
    }
    // The other checkpoint is damaged: its hashes still say that it is the same.
    Bytes damaged = before.file;
    damaged[before.offset_of("frozen") + frozen_bytes / 2] ^= 1U;
    test::write_file(before.store.path(earlier.hash), damaged);
    const OddServer server(trained.file, {}, trained.leaf_bytes());
    REQUIRE(trained.get(server.url(), {}, nearby_of(earlier.hash)).has_value());
    CHECK(trained.is_stored());
}

TEST_CASE("ART-10: a checkpoint's file is one sequence of bytes: another order of the same tensors is another file") {
    Trained trained;
    auto other = *decode_safetensors(trained.file);
    std::swap(other.tensors[0], other.tensors[1]);
    const OddServer server(encode_safetensors(other), {}, trained.leaf_bytes());
    CHECK(trained.get(server.url()).error() == FetchError::kMismatch);
    CHECK(!trained.store.has(trained.hash));
}

TEST_CASE("ART-10: a file without its frozen tensors has a name of its own") {
    Trained trained;
    ExpectedState trained_only = trained.expected;
    trained_only.lacking = {{}, commit_tensor(trained.state[1]), {}, {}};
    CHECK(name_of(trained.expected) == trained.expected.root);
    CHECK(name_of(trained_only) != trained.expected.root);
    CHECK(size_bytes_of(trained.expected) == trained.file.size());
    // SHA-256 over twice the tag's SHA-256, the root, and the vector of one number, computed by another program.
    trained_only.root = Hash256{{1}};
    CHECK(to_hex(name_of(trained_only).view()) == "5c5b05f5304ca716efb12f08f30ee8a25e7fb64cc2a01f3e9bfac5fab1a46f2e");
}

TEST_CASE("ART-10: two tasks that freeze different tensors of one state have different files under different names") {
    const Trained trained;
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const std::vector<Hash256> commitments{commit_tensor(trained.state[1]), commit_tensor(trained.state[2])};
    const std::vector<canonical::Tensor> tensors{trained.state[1], trained.state[2]};
    const Frozen one{{{}, 0, {}, {}}, tensors, commitments};
    const Frozen two{{{}, 0, 1, {}}, tensors, commitments};
    for (const Frozen& frozen : {one, two, Frozen{}}) {
        const auto stored = store_state(trained.program, trained.state, trained.leaves, store, frozen);
        CHECK(stored.hash == name_of(expected_state(trained.program, trained.expected.root, frozen)));
    }
    CHECK(store.entries().size() == 3);
    for (const Frozen& frozen : {one, two, Frozen{}}) {
        const auto file = find_stored(
            reference_to(expected_state(trained.program, trained.expected.root, frozen), "http://127.0.0.1:1"), store
        );
        REQUIRE(file.has_value());
        CHECK(decode_state(trained.program, *file, frozen).value() == trained.state);
    }
}

TEST_CASE("ART-16: a checkpoint without its frozen tensors is taken in parts, and copied from another one") {
    Trained trained;
    auto some = *decode_safetensors(trained.file);
    some.tensors.erase(some.tensors.begin() + 1);
    some.metadata.clear();
    const auto settle = [&] {
        trained.file = encode_safetensors(some);
        trained.expected.lacking = {{}, commit_tensor(trained.state[1]), {}, {}};
        trained.hash = name_of(trained.expected);
    };
    settle();
    const StateParts parts(trained.expected, trained.leaves);
    REQUIRE(parts.ends().back() == trained.file.size());
    CHECK(size_bytes_of(trained.expected) == trained.file.size());
    Bytes wrong = trained.file;
    wrong.back() ^= 1U;
    const OddServer liar(wrong, {}, trained.leaf_bytes());
    const OddServer honest(trained.file, {}, trained.leaf_bytes());
    REQUIRE(trained.get(liar.url(), {honest.url()}).has_value());
    CHECK(trained.is_stored());
    const std::vector<NearbyState> nearby{
        {*StoredFile::open(trained.store.path(trained.hash)), *trained.store.leaves(trained.hash)}};
    trained.state[0].data[0] ^= 1U;
    trained.settle();
    some.tensors[0].tensor = trained.state[0];
    settle();
    const OddServer next(trained.file, {}, trained.leaf_bytes());
    REQUIRE(trained.get(next.url(), {}, nearby).has_value());
    CHECK(trained.is_stored());
    CHECK(next.bytes_sent() < trained.file.size() / 2);
}

TEST_CASE("ART-16: what a process has marked before a crash is checked again by the next one") {
    const Trained trained;
    const Bytes leaves = trained.leaf_bytes();
    {
        const OddServer liar(trained.file, {.lie_at = trained.file.size() - 1}, leaves);
        CHECK(trained.get(liar.url()).error() == FetchError::kMismatch);
    }
    // The file system kept the marks, and lost bytes of a part.
    const auto partial = trained.store.partial_path(trained.hash, trained.file.size()).string() + "s";
    Bytes bytes = test::file_bytes(partial);
    REQUIRE(bytes.size() > trained.file.size());
    bytes[trained.offset_of("frozen") + 600'000] ^= 1U;
    test::write_file(partial, bytes);
    const OddServer honest(trained.file, {}, leaves);
    REQUIRE(trained.get(honest.url()).has_value());
    CHECK(trained.is_stored());
    CHECK(honest.bytes_sent() > 200'000);
    CHECK(honest.bytes_sent() < trained.file.size());
}

TEST_CASE("ART-16: a fetcher takes from a task's checkpoints that it has") {
    Trained trained;
    Cache cache(trained.home.path() / "cache", {.reserve_bytes = 0});
    const contracts::TaskId task{{1}};
    Fetcher fetcher(trained.store, cache);
    const auto wait = [&](const OddServer& server) {
        const Reference ref = reference_to(trained.expected, server.url());
        for (;;) {
            const auto got = fetcher.get(task, ref, ref.size_bytes, Urgency::kDuty);
            if (got || got.error() != FetchError::kPending) {
                return got.has_value();
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    const OddServer first(trained.file, {}, trained.leaf_bytes());
    REQUIRE(wait(first));
    CHECK(first.bytes_sent() == trained.file.size() - head_of(trained.expected).size());
    trained.state[0].data[0] ^= 1U;
    trained.settle();
    const OddServer second(trained.file, {}, trained.leaf_bytes());
    REQUIRE(wait(second));
    CHECK(second.bytes_sent() < trained.file.size() / 3);
    CHECK(cache.store().leaves(trained.hash).has_value());
    // One that we have made, in which everything of a large tensor differs.
    for (std::uint8_t& byte : trained.state[1].data) {
        byte ^= 1U;
    }
    trained.settle();
    const auto own = store_state(trained.program, trained.state, trained.leaves, trained.store);
    fetcher.note_own(task, own.hash);
    trained.state[0].data[0] ^= 1U;
    trained.settle();
    const OddServer third(trained.file, {}, trained.leaf_bytes());
    REQUIRE(wait(third));
    CHECK(third.bytes_sent() < trained.file.size() / 3);
}

}  // namespace
}  // namespace assay::artifacts
