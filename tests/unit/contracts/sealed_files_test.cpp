// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <variant>
#include <vector>

#include <contracts/availability/availability.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/params/by_value.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <tests/unit/contracts/committees.hpp>
#include <tests/unit/contracts/privately.hpp>

/// Sealed files of private tasks: who answers for them, and how they are shown (PRV-7 to PRV-9).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const std::array<std::uint8_t, 32> kAux{};

std::vector<canonical::TensorType> types_of(const std::vector<canonical::Tensor>& state) {
    std::vector<canonical::TensorType> out;
    for (const canonical::Tensor& tensor : state) {
        out.push_back({tensor.dtype, tensor.shape});
    }
    return out;
}

/// What a reader finds wrong with a file that is said to be checkpoint 1.
sealed::WrongChunk find_wrong(const TaskId& id, ByteView file, const Hash256& root, const AccountId& reporter) {
    const auto& state = honest().state(ToyRun::kInterval);
    const auto types = types_of(state);
    const sealed::StateReader reader{
        .secret = checkpoint_secret(),
        .artifact = {retag<Hash256>(id), honest().checkpoint_root(1)},
        .sealed_root = root,
        .types = types,
        .reporter = reporter,
        .aux = kAux};
    const sealed::MemorySource source(file);
    auto opened = sealed::open_state(source, reader);
    REQUIRE_FALSE(opened.has_value());
    REQUIRE(std::holds_alternative<sealed::WrongChunk>(opened.error()));
    return std::get<sealed::WrongChunk>(opened.error());
}

/// A private task whose checkpoint 1 is posted with this file.
TaskId posted_privately(Chain& chain, const sealed::SealedFile& file, const TaskId& id) {
    const sealed::SealedFile first = seal_checkpoint(id, 0);
    for (std::uint32_t index = 0; index < 2; ++index) {
        PostCheckpoint action{id, index, honest().checkpoint_root(index), {}};
        const sealed::SealedFile& posted = index == 0 ? first : file;
        action.sealed = SealedFile{posted.root, posted.bytes.size()};
        REQUIRE(chain.run(chain.solver, action) == 0);
    }
    return id;
}

}  // namespace

TEST_CASE("PRV-7: a solver whose sealed file is not its checkpoint is convicted by one chunk of it") {
    Chain chain(private_params());
    chain.bond_all();
    const TaskId id = start_privately(chain);
    bool is_sealed_by_another = false;
    SUBCASE("of a damaged chunk") {}
    SUBCASE("of another key") { is_sealed_by_another = true; }
    sealed::SealedFile file =
        is_sealed_by_another ? seal_checkpoint(id, 1, secret_named("other")) : seal_checkpoint(id, 1);
    if (!is_sealed_by_another) {
        file.bytes.back() ^= 1U;
        file.root = sealed::check_sealed(file.bytes).value();
    }
    posted_privately(chain, file, id);
    const sealed::WrongChunk evidence = find_wrong(id, file.bytes, file.root, chain.submitter.id);
    CHECK(chain.fail(chain.stranger, ReportWrongChunk{id, 1, evidence}) == TxError::kChunkRight);
    CHECK(chain.fail(chain.submitter, ReportWrongChunk{id, 0, evidence}) == TxError::kChunkRight);
    CHECK(chain.fail(chain.submitter, ReportWrongChunk{id, 2, evidence}) == TxError::kFieldOutOfRange);
    CHECK(chain.fail(chain.solver, ReportWrongChunk{id, 1, evidence}) == TxError::kFieldOutOfRange);
    ReportWrongChunk long_path{id, 1, evidence};
    long_path.evidence.expected_path.resize(100);
    CHECK(chain.fail(chain.submitter, long_path) == TxError::kFieldOutOfRange);
    REQUIRE(chain.run(chain.submitter, ReportWrongChunk{id, 1, evidence}) == 0);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kWrongChunk) == std::vector{chain.params.solver_bond.grains});
}

TEST_CASE("PRV-7: nobody is convicted by a chunk of a file that is right") {
    Chain chain(private_params());
    chain.bond_all();
    const TaskId id = start_privately(chain);
    const sealed::SealedFile right = seal_checkpoint(id, 1);
    posted_privately(chain, right, id);
    sealed::SealedFile damaged = right;
    damaged.bytes.back() ^= 1U;
    damaged.root = sealed::check_sealed(damaged.bytes).value();
    sealed::WrongChunk evidence = find_wrong(id, damaged.bytes, damaged.root, chain.submitter.id);
    CHECK(chain.fail(chain.submitter, ReportWrongChunk{id, 1, evidence}) == TxError::kChunkRight);
    // The chunk as it is, with everything else of the evidence.
    const sealed::MemorySource source(right.bytes);
    const auto checked = sealed::check_file(source).value();
    evidence.opening = sealed::open_sealed(source, checked, evidence.opening.group, evidence.opening.chunk);
    CHECK(chain.fail(chain.submitter, ReportWrongChunk{id, 1, evidence}) == TxError::kChunkRight);
    CHECK(chain.task(id).state == TaskState::kTraining);
}

TEST_CASE("PRV-8: who has a sealed file shows a piece of it that was drawn, without any key") {
    Params params = private_params();
    params.committee_seats = 3;
    params.attest_blocks = 40;
    Chain chain(params);
    chain.add_verifiers(3);
    const TaskId id = verifying_privately(chain);
    REQUIRE(chain.run(chain.solver, share_all(chain, id)) == 0);
    give_no_verdict(chain, id);
    const Committee committee = await_committee(chain, id);
    const Actor& who = chain.actor_of(committee.members[0].account);
    const DrawnTile asked = asked_tile(chain.task(id), 0);
    REQUIRE(asked.tensor < 3);  // the list and two tensors
    const sealed::SealedFile file = seal_checkpoint(id, asked.checkpoint);
    const sealed::MemorySource source(file.bytes);
    const auto checked = sealed::check_file(source).value();
    const std::uint32_t chunks = checked.layout.chunk_count(asked.tensor);
    const auto chunk = static_cast<std::uint32_t>(asked.number % chunks);
    const sealed::SealedOpening whole = sealed::open_sealed(source, checked, asked.tensor, chunk);
    const auto pieces = sealed::piece_count(static_cast<std::uint32_t>(whole.bytes.size()));
    const auto piece = static_cast<std::uint32_t>(asked.number / chunks % pieces);
    const sealed::PieceOpening right = sealed::open_piece(whole, piece);
    const auto refuses = [&](auto change, TxError error) {
        sealed::PieceOpening wrong = right;
        change(wrong);
        return chain.fail(who, AttestAvailability{id, wrong}) == error;
    };
    CHECK(refuses([](auto& p) { p.bytes[0] ^= 1U; }, TxError::kTileInvalid));
    CHECK(refuses([](auto& p) { p.chunks += 1; }, TxError::kFieldOutOfRange));
    CHECK(refuses([](auto& p) { p.group_path.pop_back(); }, TxError::kFieldOutOfRange));
    const sealed::SealedOpening other = sealed::open_sealed(source, checked, (asked.tensor + 1) % 3, 0);
    CHECK(chain.fail(who, AttestAvailability{id, sealed::open_piece(other, 0)}) == TxError::kTileInvalid);
    CHECK(
        chain.fail(who, AttestAvailability{id, open_toy_tile(honest(), asked.checkpoint, asked.tensor % 2, 0)}) ==
        TxError::kTileInvalid
    );
    CHECK(chain.run(who, AttestAvailability{id, right}) == 0);
}

TEST_CASE("PRV-7: the largest evidence fits into a transaction whatever the parameters") {
    constexpr std::size_t kEnvelope = 512;  // the rest of the action, names, signature
    CHECK(sealed::largest_evidence_bytes() + kEnvelope <= kMinTxSize);
}

TEST_CASE("PRV-9: of a private task as many segments are checked as of the most valuable one") {
    Params params = private_params();
    params.segments_checked = 2;
    params.segments_checked_max = 4;
    const TaskSpec secret = private_spec();
    TaskSpec plain = secret;
    plain.privacy.reset();
    CHECK(segments_checked(params, plain, 10) == 2);
    CHECK(segments_checked(params, secret, 10) == 4);
    CHECK(segments_checked(params, secret, 3) == 3);
    Chain chain(params);
    const TaskId id = verifying_privately(chain);
    CHECK(chain.task(id).assignments.size() == 4);
    // What the solver's shares take in the lane of duties is promised, and the submission pays for them.
    CHECK(chain.task(id).lane == task_weight(params, chain.task(id)));
    CHECK(imposed_gas(SubmitTask{secret}, params) > imposed_gas(SubmitTask{plain}, params));
}
