// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_directory.hpp>

#include <contracts/tasks/tasks.hpp>
#include <core/base/assert.hpp>
#include <core/dispute/commitment.hpp>
#include <contracts/params/spec.hpp>
#include <verifier/artifacts/chunks.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::taskdir {

contracts::TaskSpec pack_task(
    const std::filesystem::path& directory, artifacts::ContentStore& store, const std::string& location
) {
    if (!contracts::is_location(location)) {
        throw TaskDirectoryError("the location must be printable ASCII of at most 256 characters");
    }
    Findings findings(task_file_name(directory));
    const auto built = build_task(directory, findings);
    findings.throw_if_wrong();
    ASSERT(built.has_value());
    contracts::TaskSpec spec = built->spec;
    const auto put = [&](ByteView bytes, contracts::ArtifactRef& artifact) {
        const Hash256 hash = store.put(bytes);
        ASSERT(hash == artifact.sha256);
        artifact.location = location;
    };
    put(built->program_artifact, spec.program_artifact);
    put(built->data.dataset->stored(), spec.dataset_artifact);
    // ART-17: so that who replays a segment fetches only what it reads.
    store.put_leaves(
        spec.dataset_artifact.sha256, artifacts::encode_chunk_leaves(dispute::dataset_tree(*built->data.dataset))
    );
    if (spec.initial_artifact) {
        put(built->initial_artifact, *spec.initial_artifact);
    }
    if (spec.evaluation) {
        put(built->evaluation->artifact, spec.evaluation->data);
    }
    return spec;
}

}  // namespace assay::taskdir
