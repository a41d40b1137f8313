// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/fetch_checkpoint.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <contracts/state/members.hpp>
#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <core/sealed/files/open.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/session.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/artifacts/task_secrets.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::cli {
namespace {

/// A store beside the file to write, which is removed unless its downloads can be resumed; and one that is asked before
/// anything is fetched.
class PartsStore {
  public:
    PartsStore(const std::filesystem::path& out, const std::filesystem::path& local)
        : directory_(out.string() + ".parts"), store_(directory_) {
        if (!local.empty()) {
            local_.emplace(local);
        }
    }
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
    std::optional<artifacts::StoredFile> find_local(const artifacts::Reference& artifact) const {
        return local_ ? artifacts::find_stored(artifact, *local_) : std::nullopt;
    }
    /// Makes `out` of a file of one of the two.
    void place(const artifacts::StoredFile& file, const std::filesystem::path& out) const {
        if (file.path().parent_path() == store_.directory()) {
            std::filesystem::rename(file.path(), out);
        } else {
            std::filesystem::copy_file(file.path(), out, std::filesystem::copy_options::overwrite_existing);
        }
    }

  private:
    std::filesystem::path directory_;
    artifacts::ContentStore store_;
    std::optional<artifacts::ContentStore> local_;
    bool is_kept_ = false;
};

artifacts::StoredFile download(
    const artifacts::Reference& artifact, std::uint64_t size_max, PartsStore& store, const std::string& name
) {
    if (auto found = store.find_local(artifact)) {
        return *std::move(found);
    }
    auto file = artifacts::fetch(artifact, size_max, *store);
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
        case artifacts::FetchError::kSealed:
        case artifacts::FetchError::kUnopened:
            break;
    }
    throw Failure(kExitInvalidArtifact, "invalid_artifact", what);
}

/// A stranger's file whose parser was stopped: it may be valid, and cannot be used here.
[[noreturn]] void fail_stopped(const std::string& what, const sandbox::Refusal& refusal) {
    const bool is_ours = refusal.kind == sandbox::RefusalKind::kNotStarted;
    throw Failure(
        is_ours ? kExitFailure : kExitInvalidArtifact, is_ours ? "no_sandbox" : "parser_stopped",
        what + " cannot be read: " + refusal.message
    );
}

program::Program decode_as_promised(const artifacts::StoredFile& file, const dispute::ProgramCommitment& promised) {
    auto program = artifacts::decode_foreign_program(file);
    if (!program) {
        if (const auto* refusal = std::get_if<sandbox::Refusal>(&program.error())) {
            fail_stopped("the task's program artifact", *refusal);
        }
        throw Failure(kExitInvalidArtifact, "invalid_artifact", "the task's program artifact is not a program");
    }
    if (artifacts::commit_program(*program, promised.initial_root) != promised) {
        throw Failure(kExitInvalidArtifact, "invalid_artifact", "the task's program artifact is another program");
    }
    return *std::move(program);
}

/// Tensors that the task gives to all of its checkpoints, and what of them a file lacks (ART-10).
struct Given {
    std::vector<std::optional<std::uint32_t>> places{};
    std::vector<canonical::Tensor> tensors{};
    std::vector<Hash256> commitments{};
    artifacts::Frozen frozen() const { return {places, tensors, commitments}; }
};

Given given_tensors(
    std::vector<std::optional<std::uint32_t>> places,
    Result<std::vector<canonical::Tensor>, artifacts::StateError> read, const Hash256& root, const std::string& what
) {
    Given out{.places = std::move(places)};
    bool is_right = read.has_value();
    if (is_right) {
        out.tensors = *std::move(read);
        for (const canonical::Tensor& tensor : out.tensors) {
            out.commitments.push_back(artifacts::commit_tensor(tensor));
        }
        is_right = dispute::state_root(out.commitments) == root;
    }
    if (!is_right) {
        throw Failure(kExitInvalidArtifact, "invalid_artifact", what + " are not those that the task commits to");
    }
    return out;
}

/// What the file of the task's checkpoint lacks; the first checkpoint tells, where the task has a parent.
Given given_to(
    const contracts::TaskSpec& spec, const program::Program& program, std::uint32_t index,
    const std::function<contracts::Checkpoint()>& first, PartsStore& store
) {
    auto places = artifacts::frozen_places(spec, program, index);
    if (!artifacts::Frozen{.places = places}.is_any()) {
        return {};
    }
    if (spec.parent) {
        const contracts::Checkpoint start = first();
        const auto wanted =
            artifacts::reference_to(artifacts::expected_state(program, start.state_root), start.location);
        const auto file = download(wanted, wanted.size_bytes, store, "checkpoint 0");
        return given_tensors(
            std::move(places), artifacts::decode_state(program, file), start.state_root, "checkpoint 0's tensors"
        );
    }
    const auto wanted = artifacts::reference_to(spec.initial_artifact.value());
    const auto file = download(wanted, artifacts::tensor_file_bytes_max(program.initial), store, "the initial tensors");
    auto initial = artifacts::decode_initial(program, file);
    if (!initial) {
        if (const auto* refusal = std::get_if<sandbox::Refusal>(&initial.error())) {
            fail_stopped("the file of the initial tensors", *refusal);
        }
    }
    using Read = Result<std::vector<canonical::Tensor>, artifacts::StateError>;
    return given_tensors(
        std::move(places),
        initial ? Read(*std::move(initial)) : Unexpected{std::get<artifacts::StateError>(initial.error())},
        spec.program.initial_root, "the initial tensors"
    );
}

/// A directory for plaintext, which is removed at the end whatever happens.
class OpenedStore {
  public:
    explicit OpenedStore(const std::filesystem::path& out) : directory_(out.string() + ".opened"), store_(directory_) {
        std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
    }
    ~OpenedStore() {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    OpenedStore(const OpenedStore&) = delete;
    OpenedStore& operator=(const OpenedStore&) = delete;
    const artifacts::ContentStore& operator*() const { return store_; }

  private:
    std::filesystem::path directory_;
    artifacts::ContentStore store_;
};

[[noreturn]] void fail_unopened(const std::string& what) {
    throw Failure(
        kExitInvalidArtifact, "invalid_artifact", what + " is not what the chain names, or was damaged on this disk"
    );
}

/// Writes a checkpoint of a private task to `out`; returns its size.
std::uint64_t open_checkpoint(
    const contracts::Task& task, const FetchedCheckpoint& fetched, const artifacts::TaskSecrets& secrets,
    PartsStore& store, const std::filesystem::path& out
) {
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    const contracts::Privacy& privacy = *task.spec.privacy;
    const OpenedStore opened(out);
    const auto sealed_program = download(
        artifacts::reference_to(privacy.program, task.spec.program_artifact.location), privacy.program.size, store,
        "the program"
    );
    const auto program_file = artifacts::open_file(
        sealed_program, secrets.of_task, artifacts::artifact_of(privacy, task.spec.program_artifact.sha256),
        privacy.program.root, *opened, threads
    );
    if (!program_file) {
        fail_unopened("the program");
    }
    const program::Program program = decode_as_promised(*program_file, task.spec.program);
    const contracts::SealedFile& sealed_state = fetched.checkpoint.sealed.value();
    const std::string name = "checkpoint " + std::to_string(fetched.index);
    const auto file =
        download(artifacts::reference_to(sealed_state, fetched.checkpoint.location), sealed_state.size, store, name);
    const auto types = program::types_of(program.state);
    const auto state = sealed::open_state(
        artifacts::StoredSource(file),
        {.secret = secrets.of_checkpoints.value(),  // whoever posted the checkpoint was drawn
         .artifact = artifacts::artifact_of(task.id, fetched.checkpoint.state_root),
         .sealed_root = sealed_state.root,
         .types = types,
         .reporter = task.submitter},
        {.threads = threads}
    );
    if (!state) {
        fail_unopened(name);
    }
    const auto whole = artifacts::store_state(program, *state, artifacts::leaves_of(*state), *opened);
    std::filesystem::rename((*opened).path(whole.hash), out);
    return whole.size_bytes;
}

}  // namespace

FetchedCheckpoint fetch_checkpoint(
    client::RpcClient& rpc, const contracts::TaskId& id, std::optional<std::uint32_t> index,
    const std::filesystem::path& out, const Trust& trust, const std::function<crypto::SecretKey()>& unlock,
    const std::filesystem::path& local
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
    const auto checkpoint = [&](std::uint32_t number) {
        const ProvenSlot slot = prove_slot(rpc, contracts::keys::checkpoint(id, number), task_slot.height);
        if (slot.app_hash != task_slot.app_hash) {
            throw Mismatch("the node proved two records of one height against two app hashes");
        }
        return decode_proven<contracts::Checkpoint>(slot, "checkpoint " + std::to_string(number));
    };
    fetched.checkpoint = checkpoint(fetched.index);
    check_signed(rpc, task_slot, trust);

    PartsStore store(out, local);
    if (task.spec.privacy) {
        const auto secrets = unlock ? artifacts::secrets_of(unlock(), rpc.chain_id(), task) : std::nullopt;
        if (!secrets) {
            throw Failure(
                kExitUsage, "usage",
                "the task is private, and this key has not sealed it: --from names the key that submitted it"
            );
        }
        fetched.size_bytes = open_checkpoint(task, fetched, *secrets, store, out);
        return fetched;
    }
    const auto program_file = download(
        artifacts::reference_to(task.spec.program_artifact), artifacts::kMaxProgramBytes, store, "the program"
    );
    const program::Program program = decode_as_promised(program_file, task.spec.program);
    const Hash256& posted = fetched.checkpoint.state_root;
    const Given given = given_to(
        task.spec, program, fetched.index, [&] { return checkpoint(0); }, store
    );
    const artifacts::Reference wanted = artifacts::reference_to(
        artifacts::expected_state(program, posted, given.frozen()), fetched.checkpoint.location
    );
    auto file = download(wanted, wanted.size_bytes, store, name);
    if (given.frozen().is_any()) {
        const auto state = artifacts::decode_state(program, file, given.frozen()).value();
        const auto whole = artifacts::store_state(program, state, artifacts::leaves_of(state), *store);
        file = (*store).open(whole.hash).value();
    }
    const auto root = artifacts::root_of_state(program, file);
    if (!root || *root != posted) {
        throw Failure(
            kExitInvalidArtifact, "invalid_artifact",
            name + " was damaged on this disk: the same command fetches it again"
        );
    }
    fetched.size_bytes = file.size_bytes();
    store.place(file, out);
    return fetched;
}

}  // namespace assay::cli
