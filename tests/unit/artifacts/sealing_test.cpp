// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/share.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/task_secrets.hpp>

namespace assay::artifacts {
namespace {

crypto::SecretKey key_of(std::uint8_t number) { return crypto::SecretKey::from_bytes(Bytes(32, number)).value(); }

const std::string& plaintext() {
    static const std::string kText = [] {
        std::string out;
        for (int i = 0; out.size() < 100'000; ++i) {
            out += "line " + std::to_string(i) + " of a private text; ";
        }
        return out;
    }();
    return kText;
}

/// A text that is sealed in one store, and another store.
struct Sealed {
    test::TemporaryDirectory home;
    ContentStore remote{home.path() / "remote"};
    ContentStore local{home.path() / "local"};
    ContentStore opened{home.path() / "opened"};
    sealed::TaskSecret secret{key_of(5)};
    sealed::Artifact artifact{.task = Hash256{{1}}, .name = crypto::sha256(as_bytes(plaintext()))};
    contracts::SealedFile file = seal_file(as_bytes(plaintext()), secret, artifact, remote);
    Reference ref(const std::string& url) const { return reference_to(file, url); }
};

TEST_CASE("ART-24: a sealed file is served at its root, checked without a key and opened with one") {
    const Sealed sealed;
    CHECK(sealed.file.size == sealed_bytes_of(plaintext().size()));
    CHECK(sealed.remote.entries().size() == 1);
    const ArtifactServer server({}, sealed.remote);
    const auto got = fetch(sealed.ref(server.url()), sealed.file.size, sealed.local);
    REQUIRE(got.has_value());
    CHECK(got->size_bytes() == sealed.file.size);
    CHECK(fetch(sealed.ref("http://127.0.0.1:1"), sealed.file.size, sealed.local).has_value());  // from the store
    CHECK(fetch(sealed.ref(server.url()), sealed.file.size - 1, sealed.local).error() == FetchError::kTooLarge);
    const std::string bytes(as_text(got->view()));
    CHECK(bytes.find(plaintext().substr(50'000, 32)) == std::string::npos);
    const auto opened = open_file(*got, sealed.secret, sealed.artifact, sealed.file.root, sealed.opened);
    REQUIRE(opened.has_value());
    CHECK(as_text(opened->view()) == plaintext());
    CHECK(opened->path() == sealed.opened.path(sealed.artifact.name));
}

TEST_CASE("ART-24: another file than the root names is not taken") {
    const Sealed sealed;
    Bytes wrong = test::file_bytes(sealed.remote.path(sealed.file.root));
    const ArtifactServer server({}, sealed.remote);
    for (const std::size_t at : {std::size_t{0}, std::size_t{9}, wrong.size() / 2, wrong.size() - 1}) {
        CAPTURE(at);
        Bytes altered = wrong;
        altered[at] ^= 1U;
        test::write_file(sealed.remote.path(sealed.file.root), altered);
        const auto got = fetch(sealed.ref(server.url()), sealed.file.size, sealed.local);
        REQUIRE(!got.has_value());
        CHECK(got.error() == FetchError::kMismatch);
        CHECK(!sealed.local.has(sealed.file.root));
    }
    wrong.pop_back();
    test::write_file(sealed.remote.path(sealed.file.root), wrong);
    CHECK(fetch(sealed.ref(server.url()), sealed.file.size, sealed.local).error() == FetchError::kMismatch);
}

TEST_CASE("ART-24: neither another key nor another task or name opens a sealed file, and nothing of it is kept") {
    const Sealed sealed;
    const auto file = sealed.remote.open(sealed.file.root).value();
    const auto check = [&](const sealed::TaskSecret& secret, const sealed::Artifact& artifact) {
        const auto opened = open_file(file, secret, artifact, sealed.file.root, sealed.opened);
        REQUIRE(!opened.has_value());
        CHECK(opened.error() == sealed::OpenError::kContents);
        CHECK(sealed.opened.entries().empty());
    };
    check(sealed::TaskSecret(key_of(6)), sealed.artifact);
    check(sealed.secret, {.task = Hash256{{2}}, .name = sealed.artifact.name});
    check(sealed.secret, {.task = sealed.artifact.task, .name = Hash256{{3}}});
    CHECK(
        open_file(file, sealed.secret, sealed.artifact, Hash256{{4}}, sealed.opened).error() == sealed::OpenError::kRoot
    );
}

canonical::Tensor numbers(std::uint32_t rows, std::uint32_t cols) {
    canonical::Tensor tensor = canonical::make_tensor(canonical::DType::kF32, {.rows = rows, .cols = cols});
    for (std::size_t i = 0; i < tensor.data.size(); i += 4) {
        tensor.data[i] = static_cast<std::uint8_t>(i / 4 % 251);
    }
    return tensor;
}

TEST_CASE("PRV-8: the piece that is drawn of a sealed checkpoint leads to its root, whatever is drawn") {
    const Sealed sealed;
    const std::vector<canonical::Tensor> state{numbers(200, 70), numbers(1, 3)};
    const Hash256 root = state_root_of(state);
    const auto file = seal_checkpoint(state, sealed.secret, artifact_of(contracts::TaskId{{8}}, root), sealed.remote);
    const auto stored = sealed.remote.open(file.root).value();
    CHECK(stored.size_bytes() == file.size);
    for (std::uint32_t group = 0; group < 3; ++group) {
        for (const std::uint64_t number :
             {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
            const auto piece = open_drawn_piece(stored, file.root, group, number);
            REQUIRE(piece.has_value());
            CHECK(sealed::is_well_formed(*piece));
            CHECK(sealed::sealed_root_of(*piece) == file.root);
            CHECK(piece->group == group);
            CHECK(piece->chunk == number % piece->chunks);
            CHECK(piece->piece == number / piece->chunks % sealed::piece_count(piece->size));
        }
    }
    CHECK(!open_drawn_piece(stored, file.root, 3, 0));
    CHECK(!open_drawn_piece(stored, Hash256{{1}}, 0, 0));
}

contracts::TaskSpec spec_titled(const std::string& title) {
    contracts::TaskSpec spec;
    spec.title = title;
    spec.program_artifact = {.sha256 = Hash256{{1}}, .size_bytes = 10, .location = {}};
    spec.dataset_artifact = {.sha256 = Hash256{{2}}, .size_bytes = 20, .location = {}};
    return spec;
}

TEST_CASE("PRV-2: a task's secret follows from the submitter's key, the chain and the spec without its locations") {
    const contracts::TaskSpec spec = spec_titled("one");
    const auto key = artifacts_secret(key_of(1), "chain", spec).key();
    contracts::TaskSpec moved = spec;
    moved.program_artifact.location = "http://127.0.0.1:1";
    moved.privacy.emplace().key = key;
    CHECK(artifacts_secret(key_of(1), "chain", moved).key() == key);
    CHECK(artifacts_secret(key_of(2), "chain", spec).key() != key);
    CHECK(artifacts_secret(key_of(1), "another", spec).key() != key);
    CHECK(artifacts_secret(key_of(1), "chain", spec_titled("two")).key() != key);
}

TEST_CASE("PRV-2: each solver that is drawn gets a key of the checkpoints of its own") {
    contracts::Task task;
    task.id = contracts::TaskId{{7}};
    task.spec = spec_titled("one");
    task.spec.privacy.emplace().key = artifacts_secret(key_of(1), "chain", task.spec).key();
    CHECK_FALSE(secrets_of(key_of(1), "chain", task).value().of_checkpoints);  // nobody is drawn
    task.solver = key_of(3).account();
    const auto first = secrets_of(key_of(1), "chain", task);
    REQUIRE(first.has_value());
    CHECK(first->of_task.key() == task.spec.privacy->key);
    CHECK(secrets_of(key_of(1), "chain", task)->of_checkpoints->key() == first->of_checkpoints->key());
    task.solver = key_of(4).account();
    CHECK(secrets_of(key_of(1), "chain", task)->of_checkpoints->key() != first->of_checkpoints->key());
    CHECK(!secrets_of(key_of(2), "chain", task));  // did not seal it
}

TEST_CASE(
    "PRV-3, PRV-10: shares are in order, each reader opens its own, and one whose key is no point gets a share too"
) {
    TaskSecrets secrets{.of_task = sealed::TaskSecret(key_of(11)), .of_checkpoints = sealed::TaskSecret(key_of(12))};
    AccountId nobody;
    nobody.data.fill(0xFF);  // above the field's order
    const std::vector<contracts::Reader> readers{
        {.account = AccountId{{9}}, .key = nobody},
        {.account = AccountId{{3}}, .key = key_of(21).account()},
        {.account = AccountId{{5}}, .key = key_of(22).account()}};
    const auto shares = make_shares(secrets, "chain", {}, readers);
    REQUIRE(shares.size() == 3);
    CHECK(std::is_sorted(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.to < b.to; }));
    const auto opens = [&](std::uint8_t reader, const contracts::KeyShare& share) {
        return sealed::open_share(key_of(reader), secrets.of_task.key(), share.of_task).has_value() &&
               sealed::open_share(key_of(reader), secrets.of_checkpoints->key(), share.of_checkpoints).has_value();
    };
    CHECK(opens(21, shares[0]));
    CHECK(opens(22, shares[1]));
    CHECK(!opens(22, shares[0]));
    CHECK(shares[2].of_task.size() == sealed::kShareBytes);
    CHECK(!opens(21, shares[2]));
    secrets.of_checkpoints.reset();  // nobody has a checkpoint to open while a task is profiled
    const auto half = make_shares(secrets, "chain", {}, readers);
    CHECK(sealed::open_share(key_of(21), secrets.of_task.key(), half[0].of_task).has_value());
    CHECK(half[0].of_checkpoints.empty());
}

}  // namespace
}  // namespace assay::artifacts
