// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/fetch_checkpoint.hpp>

#include <filesystem>
#include <string>

#include <unistd.h>

#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/session.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::cli {
namespace {

/// A store for one download; gone afterwards.
class TemporaryStore {
  public:
    TemporaryStore() : directory_(make_directory()), store_(directory_) {}
    ~TemporaryStore() {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    TemporaryStore(const TemporaryStore&) = delete;
    TemporaryStore& operator=(const TemporaryStore&) = delete;
    const artifacts::ContentStore& operator*() const { return store_; }

  private:
    static std::filesystem::path make_directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "assay-fetch-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("cannot make a temporary directory " + pattern);
        }
        return pattern;
    }
    std::filesystem::path directory_;
    artifacts::ContentStore store_;
};

Bytes download(const contracts::ArtifactRef& artifact, const artifacts::ContentStore& store, const std::string& name) {
    auto bytes = artifacts::fetch(artifact, store);
    if (bytes) {
        return *std::move(bytes);
    }
    const std::string what = name + " at " + artifact.location + ": " + artifacts::to_string(bytes.error());
    switch (bytes.error()) {
        case artifacts::FetchError::kUnreachable:
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

}  // namespace

FetchedCheckpoint fetch_checkpoint(
    client::RpcClient& rpc, const contracts::TaskId& id, std::optional<std::uint32_t> index, const Trust& trust
) {
    const ProvenSlot task_slot = prove_slot(rpc, contracts::keys::task(id));
    const auto task = decode_proven<contracts::Task>(task_slot, "task " + to_hex(id.view()));
    if (task.checkpoints == 0) {
        throw Failure(
            kExitNotFound, "not_found",
            "no checkpoint of this task is posted yet: `assay task status` shows how far it is"
        );
    }
    FetchedCheckpoint out;
    out.index = index.value_or(task.checkpoints - 1);
    const std::string name = "checkpoint " + std::to_string(out.index);
    const ProvenSlot slot = prove_slot(rpc, contracts::keys::checkpoint(id, out.index), task_slot.height);
    if (slot.app_hash != task_slot.app_hash) {
        throw Mismatch("the node proved two records of one height against two app hashes");
    }
    check_signed(rpc, task_slot, trust);
    out.checkpoint = decode_proven<contracts::Checkpoint>(slot, name);

    const TemporaryStore store;
    const program::Program program =
        decode_as_promised(download(task.spec.program_artifact, *store, "the program"), task.spec.program);
    out.bytes = download(out.checkpoint.artifact, *store, name);
    const auto state = artifacts::decode_state(program, out.bytes);
    if (!state) {
        throw Failure(
            kExitInvalidArtifact, "invalid_artifact",
            name + " is no state of the program: " + artifacts::to_string(state.error())
        );
    }
    const Hash256 root = artifacts::state_root_of(*state);
    if (root != out.checkpoint.state_root) {
        throw Failure(
            kExitInvalidArtifact, "invalid_artifact",
            name + " has the state root " + to_hex(root.view()) + ", the chain says " +
                to_hex(out.checkpoint.state_root.view())
        );
    }
    return out;
}

}  // namespace assay::cli
