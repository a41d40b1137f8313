// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <core/crypto/hash.hpp>
#include <core/sealed/chunk_key.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/seal.hpp>
#include <core/sealed/share.hpp>
#include <tests/model/crowd.hpp>

/// What actors do about private tasks: they share keys, withhold them, share others, seal what is not the checkpoint,
/// and report what they were given, rightly and wrongly.
namespace assay::model {

using contracts::TaskState;

namespace {

/// What a strategy decides, so that two decisions of one actor are independent.
enum KeyPurpose : std::uint32_t { kSharesKeys = 300, kSharesOthers, kSeals, kKeys };

constexpr std::array<std::uint8_t, 32> kAux{};

std::vector<canonical::TensorType> types_of(const State& state) {
    std::vector<canonical::TensorType> out;
    for (const canonical::Tensor& tensor : state) {
        out.push_back({tensor.dtype, tensor.shape});
    }
    return out;
}

}  // namespace

std::optional<contracts::Privacy> Crowd::make_privacy(const contracts::TaskSpec& spec) {
    const contracts::SealedFile file{crypto::sha256(as_bytes("file")), 1 + below(1'000)};
    contracts::Privacy out{.key = secrets_[0].key(), .program = file, .dataset = file, .initial = {}, .holdout = {}};
    if (spec.evaluation) {
        out.holdout = file;
    }
    if (chance(4)) {
        out.dataset.size = 0;
    } else if (chance(3)) {
        out.key = {};
    } else if (chance(2)) {
        out.initial = file;
    }
    return out;
}

// --- files ---------------------------------------------------------------------------------------------------

std::optional<contracts::SealedFile> Crowd::seal(
    const Actor& actor, const TaskId& id, const Task& task, std::uint32_t index, const Hash256& root
) {
    const contracts::SealedFile invented{crypto::sha256(root.view()), 1};
    if (!task.secret) {
        return chance(2) ? std::optional(invented) : std::nullopt;
    }
    const auto secret = std::find_if(secrets_.begin(), secrets_.end(), [&](const sealed::TaskSecret& each) {
        return each.key() == task.secret->key;
    });
    if (chance(3)) {
        return std::nullopt;
    }
    if (!shop_.knows(root) || secret == secrets_.end()) {
        return invented;
    }
    const auto key = std::tuple{id, root, secret->key()};
    if (const auto found = seals_.find(key); found != seals_.end()) {
        return found->second;
    }
    const bool damages = fixed(Hash256{id.data}, actor.id, kSeals, 12) == index;
    const bool mistakes = fixed(Hash256{id.data}, actor.id, kSeals, 12) == 10;
    sealed::SealedFile file =
        sealed::seal_state(shop_.state(root), mistakes ? secrets_[0] : *secret, {Hash256{id.data}, root}).value();
    if (damages) {
        file.bytes.back() ^= 1U;
        file.root = sealed::check_sealed(file.bytes).value();
    }
    const contracts::SealedFile out{file.root, file.bytes.size()};
    sealed_files_[file.root] = std::move(file.bytes);
    seals_[key] = out;
    return out;
}

std::optional<contracts::DrawnOpening> Crowd::show(const Task& task, const Asked& asked) const {
    const Hash256 root = task.checkpoints.at(asked.checkpoint);
    if (!task.secret) {
        // A specification that is only nearly right may name more tensors than its program makes.
        const bool is_known = shop_.knows(root) && asked.tensor < shop_.state(root).size();
        return is_known ? std::optional<contracts::DrawnOpening>(shop_.opening(root, asked.tensor, asked.number))
                        : std::nullopt;
    }
    const auto file = sealed_files_.find(task.sealed.at(asked.checkpoint).value().root);
    if (file == sealed_files_.end()) {
        return std::nullopt;
    }
    const sealed::MemorySource source(file->second);
    const sealed::CheckedFile checked = sealed::check_file(source).value();
    if (asked.tensor >= checked.layout.group_count()) {
        return std::nullopt;
    }
    const std::uint32_t chunks = checked.layout.chunk_count(asked.tensor);
    const auto chunk = static_cast<std::uint32_t>(asked.number % chunks);
    const sealed::SealedOpening whole = sealed::open_sealed(source, checked, asked.tensor, chunk);
    const std::uint32_t pieces = sealed::piece_count(static_cast<std::uint32_t>(whole.bytes.size()));
    return sealed::open_piece(whole, static_cast<std::uint32_t>(asked.number / chunks % pieces));
}

// --- keys ----------------------------------------------------------------------------------------------------

bool Crowd::can_read(const Task& task, const AccountId& account) const {
    return !task.secret || !task.secret->awaited.contains(account);
}

Bytes Crowd::make_share(const sealed::TaskSecret& secret, const AccountId& reader, const sealed::ShareName& name) {
    crypto::EciesEntropy entropy;
    entropy.ephemeral = mix({}, reader, random_()).data;
    entropy.ephemeral[0] = 0;
    Bytes share = sealed::make_share(secret, reader, name, entropy).value();
    shares_[crypto::sha256(share)] = share;
    return share;
}

void Crowd::add_sharing(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    const bool is_profiled = task.state == TaskState::kProfiling;
    const bool is_drawn = task.state == TaskState::kDrawn;
    if (!owes_keys(task) || (!is_profiled && !is_drawn && task.state != TaskState::kVerifying)) {
        return;
    }
    const bool is_its_own = actor.id == (is_profiled || is_drawn ? task.submitter : task.solver);
    const AccountId drawn = is_profiled ? task.profiling->profilers.front().account : *task.solver;
    const Hash256 name = mix(Hash256{id.data}, drawn, task.lottery.is_zero() ? 0 : 1);
    // Watchers get theirs late from some.
    const bool is_late = !task.lottery.is_zero() && fixed(name, actor.id, kKeys, 3) == 0 && !chance(25);
    if (is_its_own ? fixed(name, actor.id, kSharesKeys, 100) < 10 || is_late : !chance(1)) {
        return;
    }
    contracts::ShareKeys action{id, std::nullopt, {}};
    const std::uint64_t lie = fixed(name, actor.id, kSharesOthers, is_profiled ? 4 : 12);
    sealed::TaskSecret secret = secrets_[1 + fixed(name, actor.id, kKeys, 3)];
    if (is_drawn) {
        action.key = secret.key();
    } else if (!is_profiled) {
        for (const sealed::TaskSecret& each : secrets_) {
            secret = each.key() == task.secret->key ? each : secret;
        }
    }
    for (const auto& [account, key] : task.secret->awaited) {
        const AccountId reader = chance(2) ? account : key;
        sealed::ShareName name_of_share{.chain_id = kChainId, .task = Hash256{id.data}, .to = account};
        if (chance(2)) {
            name_of_share.task.data[0] ^= 1U;
        }
        Bytes of_task = make_share(lie == 0 ? secrets_[1] : secrets_[0], reader, name_of_share);
        name_of_share.is_of_checkpoints = true;
        Bytes of_checkpoints;
        if (is_profiled == chance(2)) {  // nearly always rightly
            of_checkpoints = make_share(lie == 1 ? secrets_[0] : secret, reader, name_of_share);
        }
        action.shares.push_back({account, std::move(of_task), std::move(of_checkpoints)});
    }
    if (action.shares.size() > 1 && chance(20)) {
        action.shares.pop_back();
    } else if (chance(2)) {
        action.key = action.key ? std::nullopt : std::optional(secret.key());
    } else if (chance(2)) {
        action.shares.push_back(action.shares.front());
    } else if (chance(2)) {
        action.shares[0].of_task[0] = 9;
    }
    out.push_back(action);
}

void Crowd::add_key_reports(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    const auto& shared = task.secret ? task.secret->shared : std::vector<contracts::SharedKeys>{};
    for (const contracts::SharedKeys& each : shared) {
        if (each.reader.account != actor.id && !chance(1)) {
            continue;
        }
        const auto reads = std::find_if(actors_.begin(), actors_.end(), [&](const Actor& other) {
            return other.id == each.reader.key;
        });
        const bool is_of_checkpoints = task.secret->key && chance(50);
        const auto share = shares_.find(is_of_checkpoints ? each.of_checkpoints : each.of_task);
        if (reads == actors_.end() || share == shares_.end()) {
            continue;
        }
        const auto key = is_of_checkpoints ? task.secret->key.value() : task.spec.privacy->key;
        const bool is_right = sealed::open_share(reads->key, key, share->second).has_value();
        const auto evidence = sealed::make_wrong_share(chance(3) ? actor.key : reads->key, share->second, kAux);
        if (evidence && chance(is_right ? 1 : 60)) {
            out.push_back(contracts::ReportWrongKeys{id, is_of_checkpoints != chance(3), share->second, *evidence});
        }
    }
}

contracts::ReportWrongChunk Crowd::report_chunk(
    const Actor& actor, const TaskId& id, const Task& task, std::uint32_t checkpoint
) {
    const Hash256 root = task.checkpoints[checkpoint];
    const Hash256 sealed_root = task.sealed[checkpoint].value().root;
    const auto secret = std::find_if(secrets_.begin(), secrets_.end(), [&](const sealed::TaskSecret& each) {
        return each.key() == task.secret->key;
    });
    contracts::ReportWrongChunk out{id, checkpoint, {}};
    const auto file = sealed_files_.find(sealed_root);
    if (secret == secrets_.end() || file == sealed_files_.end()) {
        return out;
    }
    const sealed::Artifact artifact{Hash256{id.data}, root};
    const sealed::MemorySource source(file->second);
    if (shop_.knows(root)) {
        const auto types = types_of(shop_.state(root));
        const sealed::StateReader reader{
            .secret = *secret,
            .artifact = artifact,
            .sealed_root = sealed_root,
            .types = types,
            .reporter = actor.id,
            .aux = kAux};
        const auto opened = sealed::open_state(source, reader);
        if (!opened && std::holds_alternative<sealed::WrongChunk>(opened.error())) {
            out.evidence = std::get<sealed::WrongChunk>(opened.error());
            return out;
        }
    }
    // The list of the tensors, as it should be.
    const sealed::ChunkName chunk{artifact.task, artifact.name, 0, 0};
    out.evidence.opening = sealed::open_sealed(source, sealed::check_file(source).value(), 0, 0);
    out.evidence.point = sealed::chunk_point(*secret, chunk);
    out.evidence.proof = sealed::prove_chunk_point(*secret, chunk, actor.id, kAux);
    return out;
}

void Crowd::add_chunk_reports(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    const bool is_judged = task.state < TaskState::kTraining || task.state > TaskState::kDisclosure;
    if (!task.secret || is_judged || task.checkpoints.empty() || !chance(4)) {
        return;
    }
    const auto checkpoint = static_cast<std::uint32_t>(below(task.checkpoints.size()));
    contracts::ReportWrongChunk action = report_chunk(actor, id, task, checkpoint);
    const bool is_damaged = !action.evidence.expected_path.empty() || action.evidence.tensor;
    if (is_damaged || chance(20)) {
        action.checkpoint += chance(3) ? 20U : 0U;
        out.push_back(std::move(action));
    }
}

}  // namespace assay::model
