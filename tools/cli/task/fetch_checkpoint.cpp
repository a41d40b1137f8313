// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/fetch_checkpoint.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/session.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::cli {
namespace {

/// A store beside the file to write, which is removed unless its downloads can be resumed.
class PartsStore {
  public:
    explicit PartsStore(const std::filesystem::path& out) : directory_(out.string() + ".parts"), store_(directory_) {}
    ~PartsStore() {
        if (!is_kept_) {
            std::error_code ignored;
            std::filesystem::remove_all(directory_, ignored);
        }
    }
    PartsStore(const PartsStore&) = delete;
    PartsStore& operator=(const PartsStore&) = delete;
    const artifacts::ContentStore& operator*() const { return store_; }
    bool has_part() const {
        const auto partials = store_.partials();
        return std::any_of(partials.begin(), partials.end(), [](const auto& partial) {
            return partial.size_bytes > 0;
        });
    }
    void keep() { is_kept_ = true; }

  private:
    std::filesystem::path directory_;
    artifacts::ContentStore store_;
    bool is_kept_ = false;
};

artifacts::StoredFile download(
    const contracts::ArtifactRef& artifact, std::uint64_t size_max, PartsStore& store, const std::string& name,
    const artifacts::ExpectedState* state = nullptr
) {
    auto file = artifacts::fetch(artifact, size_max, *store, {}, state);
    if (file) {
        return *std::move(file);
    }
    const std::string what = name + " at " + artifact.location + ": " + artifacts::to_string(file.error());
    switch (file.error()) {
        case artifacts::FetchError::kUnreachable:
            if (store.has_part()) {
                store.keep();
                throw Failure(
                    kExitUnreachable, "unreachable", what + "; the same command goes on with what has arrived"
                );
            }
            throw Failure(kExitUnreachable, "unreachable", what);
        case artifacts::FetchError::kMissing:
            throw Failure(kExitNotFound, "not_found", what);
        case artifacts::FetchError::kMismatch:
        case artifacts::FetchError::kTooLarge:
        case artifacts::FetchError::kPending:
        case artifacts::FetchError::kForbidden:
        case artifacts::FetchError::kNoRoom:
            break;
    }
    throw Failure(kExitInvalidArtifact, "invalid_artifact", what);
}

program::Program decode_as_promised(ByteView bytes, const dispute::ProgramCommitment& promised) {
    auto program = program::decode_program(bytes);
    if (!program) {
        throw Failure(kExitInvalidArtifact, "invalid_artifact", "the task's program artifact is not a program");
    }
    if (artifacts::commit_program(*program, promised.initial_root) != promised) {
        throw Failure(kExitInvalidArtifact, "invalid_artifact", "the task's program artifact is another program");
    }
    return *std::move(program);
}

// ART-10: the task's initial tensors if the checkpoint's file lacks those that are frozen; else nothing.
std::vector<canonical::Tensor> initial_tensors(
    const contracts::TaskSpec& spec, const program::Program& program, const artifacts::StoredFile& checkpoint,
    PartsStore& store
) {
    if (!spec.initial_artifact || spec.parent || artifacts::root_of_state(program, checkpoint)) {
        return {};
    }
    const std::uint64_t size_max = artifacts::tensor_file_bytes_max(program.initial);
    const auto file = download(*spec.initial_artifact, size_max, store, "the initial tensors");
    auto initial = artifacts::decode_initial(program, file);
    if (!initial || artifacts::state_root_of(*initial) != spec.program.initial_root) {
        throw Failure(
            kExitInvalidArtifact, "invalid_artifact", "the task's initial tensors are not those that it commits to"
        );
    }
    return *std::move(initial);
}

}  // namespace

FetchedCheckpoint fetch_checkpoint(
    client::RpcClient& rpc, const contracts::TaskId& id, std::optional<std::uint32_t> index,
    const std::filesystem::path& out, const Trust& trust
) {
    const ProvenSlot task_slot = prove_slot(rpc, contracts::keys::task(id));
    const auto task = decode_proven<contracts::Task>(task_slot, "task " + to_hex(id.view()));
    if (task.checkpoints == 0) {
        throw Failure(
            kExitNotFound, "not_found",
            "no checkpoint of this task is posted yet: `assay task status` shows how far it is"
        );
    }
    FetchedCheckpoint fetched;
    fetched.index = index.value_or(task.checkpoints - 1);
    const std::string name = "checkpoint " + std::to_string(fetched.index);
    const ProvenSlot slot = prove_slot(rpc, contracts::keys::checkpoint(id, fetched.index), task_slot.height);
    if (slot.app_hash != task_slot.app_hash) {
        throw Mismatch("the node proved two records of one height against two app hashes");
    }
    check_signed(rpc, task_slot, trust);
    fetched.checkpoint = decode_proven<contracts::Checkpoint>(slot, name);

    PartsStore store(out);
    const auto program_file = download(task.spec.program_artifact, artifacts::kMaxProgramBytes, store, "the program");
    const program::Program program = decode_as_promised(program_file.view(), task.spec.program);
    const std::uint64_t size_max = artifacts::tensor_file_bytes_max(program.state);
    const artifacts::ExpectedState expected = artifacts::expected_state(program, fetched.checkpoint.state_root);
    const auto file = download(fetched.checkpoint.artifact, size_max, store, name, &expected);
    const std::vector<canonical::Tensor> initial = initial_tensors(task.spec, program, file, store);
    const auto root = artifacts::root_of_state(program, file, initial);
    if (!root) {
        throw Failure(
            kExitInvalidArtifact, "invalid_artifact",
            name + " is no state of the program: " + artifacts::to_string(root.error())
        );
    }
    if (*root != fetched.checkpoint.state_root) {
        throw Failure(
            kExitInvalidArtifact, "invalid_artifact",
            name + " has the state root " + to_hex(root->view()) + ", the chain says " +
                to_hex(fetched.checkpoint.state_root.view())
        );
    }
    Hash256 result = fetched.checkpoint.artifact.sha256;
    fetched.size_bytes = file.size_bytes();
    if (!initial.empty()) {
        const auto state = artifacts::decode_state(program, file, initial).value();
        const auto whole = artifacts::store_state(program, state, artifacts::leaves_of(state), *store);
        result = whole.hash;
        fetched.size_bytes = whole.size_bytes;
    }
    std::filesystem::rename((*store).path(result), out);
    return fetched;
}

}  // namespace assay::cli
