// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_directory.hpp>

#include <algorithm>
#include <thread>

#include <contracts/tasks/tasks.hpp>
#include <core/base/assert.hpp>
#include <core/dispute/commitment.hpp>
#include <contracts/params/spec.hpp>
#include <verifier/artifacts/chunks.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/artifacts/task_secrets.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::taskdir {

namespace {

/// PRV-1: stores the sealed artifacts of a private task and nothing else, and completes its spec.
void pack_sealed(
    const BuiltTask& built, const artifacts::ContentStore& store, const Sealing& sealing, contracts::TaskSpec& spec
) {
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    contracts::Privacy& privacy = spec.privacy.value();
    const auto secret = artifacts::artifacts_secret(sealing.key, sealing.chain_id, spec);
    privacy.key = secret.key();
    const auto seal = [&](ByteView bytes, const contracts::ArtifactRef& artifact) {
        return artifacts::seal_file(bytes, secret, artifacts::artifact_of(privacy, artifact.sha256), store, threads);
    };
    privacy.program = seal(built.program_artifact, spec.program_artifact);
    privacy.dataset = seal(built.data.dataset->stored(), spec.dataset_artifact);
    if (spec.initial_artifact) {
        privacy.initial = seal(built.initial_artifact, *spec.initial_artifact);
    }
    if (spec.evaluation) {
        privacy.holdout = seal(built.evaluation->artifact, spec.evaluation->data);
    }
}

void pack_plain(const BuiltTask& built, const artifacts::ContentStore& store, const contracts::TaskSpec& spec) {
    const auto put = [&](ByteView bytes, const contracts::ArtifactRef& artifact) {
        const Hash256 hash = store.put(bytes);
        ASSERT(hash == artifact.sha256);
    };
    put(built.program_artifact, spec.program_artifact);
    put(built.data.dataset->stored(), spec.dataset_artifact);
    // ART-17: so that who replays a segment fetches only what it reads.
    store.put_leaves(
        spec.dataset_artifact.sha256, artifacts::encode_chunk_leaves(dispute::dataset_tree(*built.data.dataset))
    );
    if (spec.initial_artifact) {
        put(built.initial_artifact, *spec.initial_artifact);
    }
    if (spec.evaluation) {
        put(built.evaluation->artifact, spec.evaluation->data);
    }
}

}  // namespace

contracts::TaskSpec pack_task(
    const std::filesystem::path& directory, artifacts::ContentStore& store, const std::string& location,
    const std::optional<Sealing>& sealing
) {
    if (!contracts::is_location(location)) {
        throw TaskDirectoryError("the location must be printable ASCII of at most 256 characters");
    }
    Findings findings(task_file_name(directory));
    const auto built = build_task(directory, findings);
    findings.throw_if_wrong();
    ASSERT(built.has_value());
    contracts::TaskSpec spec = built->spec;
    if (spec.privacy && !sealing) {
        throw TaskDirectoryError(
            "a private task is sealed under the key of the account that submits it: `assay task submit` does both"
        );
    }
    if (spec.privacy) {
        pack_sealed(*built, store, *sealing, spec);
    } else {
        pack_plain(*built, store, spec);
    }
    spec.program_artifact.location = location;
    spec.dataset_artifact.location = location;
    if (spec.initial_artifact) {
        spec.initial_artifact->location = location;
    }
    if (spec.evaluation) {
        spec.evaluation->data.location = location;
    }
    return spec;
}

}  // namespace assay::taskdir
