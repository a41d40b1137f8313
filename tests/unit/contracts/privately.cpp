// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/privately.hpp>

#include <doctest/doctest.h>

#include <core/sealed/share.hpp>

namespace assay::contracts::test {

sealed::TaskSecret secret_named(std::string_view name) {
    return sealed::TaskSecret::from_bytes(hash_of(name).view()).value();
}

const sealed::TaskSecret& task_secret() {
    static const sealed::TaskSecret kSecret = secret_named("of the task");
    return kSecret;
}

const sealed::TaskSecret& checkpoint_secret() {
    static const sealed::TaskSecret kSecret = secret_named("of the checkpoints");
    return kSecret;
}

TaskSpec private_spec() {
    TaskSpec spec = honest().spec();
    spec.privacy = Privacy{
        .key = task_secret().key(),
        .program = {hash_of("program"), 9},
        .dataset = {hash_of("dataset"), 9},
        .initial = {},
        .holdout = {}};
    return spec;
}

KeyShare share_for(
    const TaskId& id, const AccountId& to, const AccountId& key, const sealed::TaskSecret& of_task,
    const sealed::TaskSecret& of_checkpoints
) {
    crypto::EciesEntropy entropy;
    entropy.ephemeral = hash_of("ephemeral").data;
    sealed::ShareName name{.chain_id = kChainId, .task = retag<Hash256>(id), .to = to};
    KeyShare out{.to = to, .of_task = sealed::make_share(of_task, key, name, entropy).value(), .of_checkpoints = {}};
    name.is_of_checkpoints = true;
    entropy.ephemeral = hash_of("another").data;
    out.of_checkpoints = sealed::make_share(of_checkpoints, key, name, entropy).value();
    return out;
}

ShareKeys share_all(const Chain& chain, const TaskId& id) {
    const Task task = chain.task(id);
    ShareKeys out{.task = id, .key = {}, .shares = {}};
    if (task.state == TaskState::kDrawn) {
        out.key = checkpoint_secret().key();
    }
    for (const Reader& reader : task.secrecy.value().awaited) {
        out.shares.push_back(share_for(id, reader.account, reader.key));
        if (task.state == TaskState::kProfiling) {
            out.shares.back().of_checkpoints.clear();  // PRV-10
        }
    }
    return out;
}

TaskId drawn_privately(Chain& chain, const TaskSpec& spec) {
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    chain.skip(1);
    REQUIRE(chain.task(id).state == TaskState::kDrawn);
    return id;
}

TaskId start_privately(Chain& chain, const TaskSpec& spec) {
    const TaskId id = drawn_privately(chain, spec);
    REQUIRE(chain.run(chain.submitter, share_all(chain, id)) == 0);
    REQUIRE(chain.run(chain.solver, AcceptTask{id}) == 0);
    return id;
}

sealed::SealedFile seal_checkpoint(const TaskId& id, std::uint32_t index, const sealed::TaskSecret& secret) {
    const std::uint64_t step = std::min<std::uint64_t>(std::uint64_t{index} * ToyRun::kInterval, ToyRun::kSteps);
    const sealed::Artifact artifact{retag<Hash256>(id), honest().checkpoint_root(index)};
    return sealed::seal_state(honest().state(step), secret, artifact).value();
}

TaskId complete_privately(Chain& chain, const TaskSpec& spec) {
    const TaskId id = start_privately(chain, spec);
    for (std::uint32_t index = 0; index <= segment_count(spec); ++index) {
        const sealed::SealedFile file = seal_checkpoint(id, index);
        PostCheckpoint action{id, index, honest().checkpoint_root(index), {}};
        action.sealed = SealedFile{file.root, file.bytes.size()};
        REQUIRE(chain.run(chain.solver, action) == 0);
    }
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    return id;
}

Params private_params() {
    Params params = quick_params();
    params.share_blocks = 9;
    return params;
}

TaskId verifying_privately(Chain& chain) {
    chain.bond_all();
    const TaskId id = complete_privately(chain);
    chain.skip(1);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    return id;
}

}  // namespace assay::contracts::test
