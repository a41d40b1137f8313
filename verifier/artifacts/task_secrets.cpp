// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/task_secrets.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/crypto/ecies.hpp>
#include <core/crypto/hash.hpp>
#include <core/sealed/share.hpp>

namespace assay::artifacts {
namespace {

/// What the secret of a task's artifacts is derived for.
struct TaskLabel {
    std::string chain_id;
    contracts::TaskSpec spec;
    static constexpr auto fields() { return Fields<&TaskLabel::chain_id, &TaskLabel::spec>{}; }
};

struct CheckpointsLabel {
    std::string chain_id;
    contracts::TaskId task;
    AccountId solver;
    static constexpr auto fields() {
        return Fields<&CheckpointsLabel::chain_id, &CheckpointsLabel::task, &CheckpointsLabel::solver>{};
    }
};

sealed::TaskSecret derive(const crypto::TaggedHash& tag, const crypto::SecretKey& key, const Bytes& label) {
    for (std::uint32_t counter = 0;; ++counter) {
        Bytes joined = codec::encode(counter);
        append(joined, label);
        const Hash256 hash = tag(ByteView(key.bytes()), joined);
        if (const auto secret = crypto::SecretKey::from_bytes(hash.view())) {
            return sealed::TaskSecret(*secret);
        }
    }
}

Bytes share_for(const sealed::TaskSecret& secret, const AccountId& reader, const sealed::ShareName& name) {
    for (;;) {
        const auto entropy = crypto::draw_ecies_entropy();
        if (auto share = sealed::make_share(secret, reader, name, entropy)) {
            return *std::move(share);
        }
        // PRV-3: one that has the form of a share, for a key that is thrown away.
        if (auto share = sealed::make_share(secret, crypto::SecretKey::generate().account(), name, entropy)) {
            return *std::move(share);
        }
    }
}

}  // namespace

sealed::TaskSecret artifacts_secret(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::TaskSpec& spec
) {
    static const crypto::TaggedHash kTag("assay/task-secret");
    TaskLabel label{.chain_id = chain_id, .spec = spec};
    label.spec.privacy.reset();
    label.spec.program_artifact.location.clear();
    label.spec.dataset_artifact.location.clear();
    if (label.spec.initial_artifact) {
        label.spec.initial_artifact->location.clear();
    }
    if (label.spec.evaluation) {
        label.spec.evaluation->data.location.clear();
    }
    return derive(kTag, key, codec::encode(label));
}

sealed::TaskSecret checkpoints_secret(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::TaskId& task, const AccountId& solver
) {
    static const crypto::TaggedHash kTag("assay/checkpoint-secret");
    return derive(kTag, key, codec::encode(CheckpointsLabel{chain_id, task, solver}));
}

std::optional<TaskSecrets> secrets_of(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::Task& task
) {
    if (!task.spec.privacy) {
        return std::nullopt;
    }
    TaskSecrets out{.of_task = artifacts_secret(key, chain_id, task.spec), .of_checkpoints = {}};
    if (task.solver) {
        out.of_checkpoints = checkpoints_secret(key, chain_id, task.id, *task.solver);
    }
    return out.of_task.key() == task.spec.privacy->key ? std::optional(std::move(out)) : std::nullopt;
}

std::vector<contracts::KeyShare> make_shares(
    const TaskSecrets& secrets, const std::string& chain_id, const contracts::TaskId& task,
    std::span<const contracts::Reader> readers
) {
    std::vector<contracts::KeyShare> out;
    for (const contracts::Reader& reader : readers) {
        sealed::ShareName name{.chain_id = chain_id, .task = retag<Hash256>(task), .to = reader.account};
        contracts::KeyShare share{
            .to = reader.account, .of_task = share_for(secrets.of_task, reader.key, name), .of_checkpoints = {}};
        if (secrets.of_checkpoints) {
            name.is_of_checkpoints = true;
            share.of_checkpoints = share_for(*secrets.of_checkpoints, reader.key, name);
        }
        out.push_back(std::move(share));
    }
    std::sort(out.begin(), out.end(), [](const auto& one, const auto& other) { return one.to < other.to; });
    return out;
}

}  // namespace assay::artifacts
