// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/lifecycle/keys.hpp>
#include <contracts/privacy/actions/privacy_actions.hpp>
#include <contracts/state/slots.hpp>
#include <core/crypto/hash.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/seal.hpp>
#include <core/sealed/share.hpp>
#include <tests/simulation/worker.hpp>

/// Honest parties of private tasks (PRV rules): they share the right keys, read before they accept or judge, and report
/// what is wrong.
namespace assay::simulation {

using contracts::Task;
using contracts::TaskState;

namespace {

constexpr std::array<std::uint8_t, 32> kAux{};

/// A secret that its owner finds again by what it is for.
sealed::TaskSecret secret_of(const Hash256& name, const AccountId& owner, std::uint64_t number) {
    Hash256 bytes = model::mix(name, owner, number);
    bytes.data[0] = 0;  // below the order of the curve
    return sealed::TaskSecret::from_bytes(bytes.view()).value();
}

const contracts::SharedKeys* find_shared(const Task& task, const AccountId& account) {
    const auto& shared = task.secrecy->shared;
    const auto found = std::find_if(shared.begin(), shared.end(), [&](const contracts::SharedKeys& each) {
        return each.reader.account == account;
    });
    return found == shared.end() ? nullptr : &*found;
}

}  // namespace

contracts::Privacy Worker::make_privacy(const contracts::TaskSpec& spec) const {
    const contracts::SealedFile file{crypto::sha256(id_.view()), 1};
    return {
        .key = secret_of({}, id_, 1).key(),
        .program = file,
        .dataset = file,
        .initial = {},
        .holdout = spec.evaluation ? std::optional(file) : std::nullopt};
}

contracts::KeyShare Worker::make_shares(
    const Task& task, const contracts::Reader& reader, const sealed::TaskSecret& of_task,
    const std::optional<sealed::TaskSecret>& of_checkpoints
) {
    const auto make = [&](const sealed::TaskSecret& secret, bool is_of_checkpoints) {
        const sealed::ShareName name{chain_id_, Hash256{task.id.data}, reader.account, is_of_checkpoints};
        crypto::EciesEntropy entropy;
        entropy.ephemeral = model::mix(Hash256{secret.key().data}, reader.account, is_of_checkpoints ? 2 : 3).data;
        entropy.ephemeral[0] = 0;
        // Nobody can seal for a key that is no point; any well-formed share will do (PRV-3).
        const auto share = sealed::make_share(secret, reader.key, name, entropy);
        const Bytes out = share ? *share : sealed::make_share(secret, id_, name, entropy).value();
        bulletin_.shares[crypto::sha256(out)] = out;
        return out;
    };
    return {reader.account, make(of_task, false), of_checkpoints ? make(*of_checkpoints, true) : Bytes{}};
}

void Worker::add_sharing(const Task& task, Actions& out) {
    const bool is_drawn = task.state == TaskState::kDrawn;
    const bool is_by_submitter = is_drawn || task.state == TaskState::kProfiling;
    const bool is_its_turn =
        is_by_submitter ? task.submitter == id_ : task.state == TaskState::kVerifying && task.solver == id_;
    if (!is_its_turn || !contracts::owes_keys(task) || (!is_by_submitter && !keys_.contains(task.id))) {
        return;
    }
    Keys keys = is_by_submitter ? Keys{secret_of({}, id_, 1), std::nullopt} : keys_.at(task.id);
    contracts::ShareKeys action{task.id, std::nullopt, {}};
    if (is_drawn) {
        keys.of_checkpoints = secret_of(Hash256{task.id.data}, *task.solver, 3);
        action.key = keys.of_checkpoints->key();
    }
    for (const contracts::Reader& reader : task.secrecy->awaited) {
        action.shares.push_back(make_shares(task, reader, keys.of_task, keys.of_checkpoints));
    }
    out.push_back(action);
}

bool Worker::open_keys(const Task& task, Actions& out) {
    const contracts::SharedKeys* const mine = find_shared(task, id_);
    if (mine == nullptr) {
        keys_.erase(task.id);
        return false;
    }
    const bool is_half = !task.secrecy->key;  // PRV-10
    const Bytes of_task = bulletin_.shares[mine->of_task];
    const Bytes of_checkpoints = is_half ? Bytes{} : bulletin_.shares[mine->of_checkpoints];
    const auto first = sealed::open_share(key_, task.spec.privacy->key, of_task);
    const auto second = is_half ? std::nullopt : sealed::open_share(key_, *task.secrecy->key, of_checkpoints);
    if (first && (is_half || second)) {
        keys_.insert_or_assign(task.id, Keys{*first, second});
        return true;
    }
    const Bytes& wrong = first ? of_checkpoints : of_task;
    const auto evidence = sealed::make_wrong_share(key_, wrong, kAux);
    const bool is_open = task.state <= TaskState::kDisclosure || task.state == TaskState::kProfiling;
    if (is_honest(kind_) && evidence && is_open) {
        out.push_back(contracts::ReportWrongKeys{task.id, first.has_value(), wrong, *evidence});
    }
    return false;
}

bool Worker::are_files_right(const View& view, const Task& task, Actions& out) {
    for (std::uint32_t index = 0; index < task.checkpoints; ++index) {
        const auto checkpoint = contracts::find_checkpoint(*view.state, task.id, index).value();
        const auto file = bulletin_.sealed_files.find(checkpoint.sealed.value().root);
        if (file == bulletin_.sealed_files.end() || !shop_.knows(checkpoint.state_root)) {
            continue;
        }
        const auto name = std::tuple{task.id, index};
        if (!opened_.contains(name)) {
            std::vector<canonical::TensorType> types;
            for (const canonical::Tensor& tensor : shop_.state(checkpoint.state_root)) {
                types.push_back({tensor.dtype, tensor.shape});
            }
            const sealed::StateReader reader{
                .secret = keys_.at(task.id).of_checkpoints.value(),
                .artifact = {Hash256{task.id.data}, checkpoint.state_root},
                .sealed_root = checkpoint.sealed->root,
                .types = types,
                .reporter = id_,
                .aux = kAux};
            const auto state = sealed::open_state(sealed::MemorySource(file->second), reader);
            const bool is_wrong = !state && std::holds_alternative<sealed::WrongChunk>(state.error());
            opened_[name] = is_wrong ? std::optional(std::get<sealed::WrongChunk>(state.error())) : std::nullopt;
        }
        if (opened_[name]) {
            if (task.state <= TaskState::kDisclosure) {
                out.push_back(contracts::ReportWrongChunk{task.id, index, *opened_[name]});
            }
            return false;
        }
    }
    return true;
}

bool Worker::add_reading(const View& view, const Task& task, Actions& out) {
    if (!task.secrecy) {
        return true;
    }
    const bool has_keys = open_keys(task, out);
    add_sharing(task, out);
    return has_keys && (task.solver == id_ || !is_honest(kind_) || are_files_right(view, task, out));
}

void Worker::seal_posted(const Task& task, Actions& out, std::size_t from) {
    for (std::size_t i = from; task.secrecy && i < out.size(); ++i) {
        auto* post = std::get_if<contracts::PostCheckpoint>(&out[i]);
        if (post == nullptr || !shop_.knows(post->state_root)) {
            continue;
        }
        sealed::SealedFile file = sealed::seal_state(
                                      shop_.state(post->state_root), keys_.at(task.id).of_checkpoints.value(),
                                      {Hash256{task.id.data}, post->state_root}
        )
                                      .value();
        post->sealed = contracts::SealedFile{file.root, file.bytes.size()};
        bulletin_.sealed_files[file.root] = std::move(file.bytes);
    }
}

void Worker::show_piece(const View& view, const Task& task, const contracts::DrawnTile& asked, Actions& out) {
    const auto checkpoint = contracts::find_checkpoint(*view.state, task.id, asked.checkpoint).value();
    const auto file = bulletin_.sealed_files.find(checkpoint.sealed.value().root);
    if (file == bulletin_.sealed_files.end()) {
        return;
    }
    const sealed::MemorySource source(file->second);
    const sealed::CheckedFile checked = sealed::check_file(source).value();
    if (asked.tensor >= checked.layout.group_count()) {
        return;
    }
    const std::uint32_t chunks = checked.layout.chunk_count(asked.tensor);
    const sealed::SealedOpening chunk =
        sealed::open_sealed(source, checked, asked.tensor, static_cast<std::uint32_t>(asked.number % chunks));
    const std::uint32_t pieces = sealed::piece_count(static_cast<std::uint32_t>(chunk.bytes.size()));
    out.push_back(contracts::AttestAvailability{
        task.id, sealed::open_piece(chunk, static_cast<std::uint32_t>(asked.number / chunks % pieces))});
}

}  // namespace assay::simulation
