// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <contracts/state/slots.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>
#include <core/sealed/chunk_key.hpp>
#include <core/sealed/ladder.hpp>
#include <core/sealed/share.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/gas_scenes.hpp>
#include <tools/bench/gas_tasks.hpp>

/// Private tasks: keys for as many readers as one transaction can have, and reports that convict a solver whose task
/// has all its verdicts.
namespace assay::bench {
namespace {

using namespace contracts;

constexpr std::uint64_t kReaders = 32;
constexpr std::uint64_t kFirstReader = 6'000'000;

sealed::TaskSecret secret_numbered(std::uint64_t number) {
    Hash256 bytes = hash_numbered("secret", number);
    bytes.data[0] = 0;  // below the order of the curve
    return sealed::TaskSecret::from_bytes(bytes.view()).value();
}

Bytes make_share(const Task& task, const sealed::TaskSecret& secret, const AccountId& reader, bool is_of_checkpoints) {
    const sealed::ShareName name{kChainId, retag<Hash256>(task.id), reader, is_of_checkpoints};
    crypto::EciesEntropy entropy;
    entropy.ephemeral = hash_numbered("ephemeral", 0).data;
    entropy.ephemeral[0] = 0;
    return sealed::make_share(secret, reader, name, entropy).value();
}

std::vector<Hash256> hashes(const std::string& what, std::size_t count) {
    std::vector<Hash256> out;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(hash_numbered(what, i));
    }
    return out;
}

void make_private(Task& task) {
    const SealedFile file{hash_numbered("file", 0), 1};
    task.spec.privacy = Privacy{
        .key = secret_numbered(0).key(),
        .program = file,
        .dataset = file,
        .initial = {},
        .holdout = task.spec.evaluation ? std::optional(file) : std::nullopt};
    task.secrecy = Secrecy{.key = secret_numbered(1).key(), .shared = {}, .awaited = {}};
}

std::optional<Action> share_keys(Stage& stage, const Player& player) {
    Task task = assigned_task(stage, player, TaskState::kVerifying, VerdictStatus::kCommitted, VerdictStatus::kDue);
    task.solver = player.id;
    make_private(task);
    ShareKeys out{.task = task.id, .key = {}, .shares = {}};
    for (std::uint64_t i = 0; i < kReaders; ++i) {
        const AccountId reader = make_player(kFirstReader + i).id;
        task.secrecy->awaited.push_back({reader, reader});
    }
    auto& awaited = task.secrecy->awaited;
    std::sort(awaited.begin(), awaited.end(), [](const Reader& a, const Reader& b) { return a.account < b.account; });
    for (const Reader& reader : awaited) {
        out.shares.push_back(
            {reader.account, make_share(task, secret_numbered(0), reader.account, false),
             make_share(task, secret_numbered(1), reader.account, true)}
        );
    }
    end_at(stage, task, Height{stage.height.value + 10});
    put(stage, task);
    return out;
}

/// A task of a stranger that `player` was drawn for, with verdicts on all its segments.
Task judged_task(Stage& stage, const Player& player) {
    Task task = assigned_task(stage, player, TaskState::kChallenge, VerdictStatus::kAccepted, VerdictStatus::kAccepted);
    make_private(task);
    end_at(stage, task, Height{stage.height.value + 10});
    return task;
}

std::optional<Action> report_wrong_keys(Stage& stage, const Player& player) {
    Task task = judged_task(stage, player);
    const Bytes share = make_share(task, secret_numbered(2), player.id, true);
    task.secrecy->shared.push_back({{player.id, player.id}, crypto::sha256(share), crypto::sha256(share)});
    put(stage, task);
    return ReportWrongKeys{task.id, true, share, sealed::make_wrong_share(player.key, share, {}).value()};
}

/// A chunk of tiles, with the longest paths, that decrypts to something else.
std::optional<Action> report_wrong_chunk(Stage& stage, const Player& player) {
    constexpr std::uint32_t kSide = 1U << 21U;
    Task task = judged_task(stage, player);
    task.spec.program.state_tensors = canonical::kMaxStateTensors;
    const canonical::TensorType type{.dtype = canonical::DType::kI64, .shape = {kSide, kSide}};
    const sealed::Ladder ladder = sealed::Ladder::of_tensor(type);
    const auto chunks = static_cast<std::uint32_t>(ladder.chunk_count());
    const std::uint32_t chunk = chunks - 1;
    const sealed::ChunkPlace place = ladder.place(chunk);
    const std::uint32_t above = ladder.root_height() - place.node_height;
    sealed::WrongChunk evidence;
    evidence.expected = hash_numbered("node", 0);
    evidence.expected_path = hashes("above", above);
    const Hash256 tile_root =
        merkle::root_from_path(evidence.expected, place.node_index, std::uint64_t{1} << above, evidence.expected_path)
            .value();
    const std::uint32_t tensors = canonical::kMaxStateTensors;
    evidence.tensor = sealed::TensorEntry{
        .type = type, .tile_root = tile_root, .path = hashes("tensor", merkle::tree_depth(tensors))};
    const Hash256 root =
        merkle::root_from_path(dispute::tensor_commitment(type, tile_root), 0, tensors, evidence.tensor->path).value();
    const sealed::ChunkName name{
        .task = retag<Hash256>(task.id),
        .artifact = dispute::state_root_from(tensors, root),
        .group = 1,
        .chunk = chunk};
    evidence.opening = {
        .groups = tensors + 1,
        .group = 1,
        .chunks = chunks,
        .chunk = chunk,
        .bytes = sealed::seal_chunk(secret_numbered(1), name, Bytes(ladder.plaintext_bytes(place))),
        .chunk_path = hashes("chunk", merkle::tree_depth(chunks)),
        .group_path = hashes("group", merkle::tree_depth(tensors + 1))};
    evidence.point = sealed::chunk_point(secret_numbered(1), name);
    evidence.proof = sealed::prove_chunk_point(secret_numbered(1), name, player.id, {});
    const SealedFile file{sealed::sealed_root_of(evidence.opening), 1};
    set_checkpoint(stage.state, task.id, 1, {name.artifact, make_location(), Height{1}, file});
    put(stage, task);
    return ReportWrongChunk{task.id, 1, evidence};
}

}  // namespace

std::vector<Scene> privacy_scenes() {
    return {
        {"share_keys", share_keys},
        {"report_wrong_keys", report_wrong_keys},
        {"report_wrong_chunk", report_wrong_chunk},
    };
}

}  // namespace assay::bench
