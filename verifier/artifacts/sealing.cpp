// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/sealing.hpp>

#include <contracts/state/slots.hpp>
#include <core/base/assert.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/sealed_tree.hpp>

namespace assay::artifacts {
namespace {

/// Stores what `seal` writes. It cannot fail: the caller names what it seals rightly.
template <class Seal>
contracts::SealedFile store_sealed(const ContentStore& store, const Seal& seal) {
    ContentStore::Writer writer(store, ContentStore::Writer::Sealed{});
    const Result<sealed::SealedLeaves, sealed::SealError> leaves =
        seal([&writer](ByteView bytes) { writer.write(bytes); });
    ASSERT(leaves.has_value());
    const ContentStore::Entry entry = writer.finish(sealed::sealed_root(*leaves));
    return {.root = entry.hash, .size = entry.size_bytes};
}

}  // namespace

std::uint64_t sealed_bytes_of(std::uint64_t plain_bytes) {
    const auto layout = sealed::layout_of_blob(plain_bytes);
    return layout ? layout->file_bytes() : 0;
}

const contracts::SealedFile* sealed_of(const contracts::TaskSpec& spec, const Hash256& sha256) {
    if (!spec.privacy) {
        return nullptr;
    }
    const contracts::Privacy& privacy = *spec.privacy;
    if (sha256 == spec.program_artifact.sha256) {
        return &privacy.program;
    }
    if (sha256 == spec.dataset_artifact.sha256) {
        return &privacy.dataset;
    }
    if (spec.initial_artifact && privacy.initial && sha256 == spec.initial_artifact->sha256) {
        return &*privacy.initial;
    }
    const bool is_holdout = spec.evaluation && privacy.holdout && sha256 == spec.evaluation->data.sha256;
    return is_holdout ? &*privacy.holdout : nullptr;
}

sealed::Artifact artifact_of(const contracts::Privacy& privacy, const Hash256& sha256) {
    return {.task = contracts::retag<Hash256>(privacy.key), .name = sha256};
}

sealed::Artifact artifact_of(const contracts::TaskId& task, const Hash256& state_root) {
    return {.task = contracts::retag<Hash256>(task), .name = state_root};
}

contracts::SealedFile seal_file(
    ByteView plain, const sealed::TaskSecret& secret, const sealed::Artifact& artifact, const ContentStore& store,
    unsigned threads
) {
    return store_sealed(store, [&](const sealed::ByteSink& out) {
        return sealed::seal_blob(sealed::MemorySource(plain), secret, artifact, out, {.threads = threads});
    });
}

contracts::SealedFile seal_checkpoint(
    std::span<const canonical::Tensor> state, const sealed::TaskSecret& secret, const sealed::Artifact& artifact,
    const ContentStore& store, unsigned threads
) {
    return store_sealed(store, [&](const sealed::ByteSink& out) {
        sealed::StateInMemory source(state);
        return sealed::seal_state(source, secret, artifact, out, {.threads = threads});
    });
}

Result<StoredFile, sealed::OpenError> open_file(
    const StoredFile& file, const sealed::TaskSecret& secret, const sealed::Artifact& artifact,
    const Hash256& sealed_root, const ContentStore& store, unsigned threads
) {
    ContentStore::Writer writer(store, artifact.name);
    TRY(sealed::open_blob(
        StoredSource(file), secret, artifact, sealed_root, [&writer](ByteView bytes) { writer.write(bytes); },
        {.threads = threads}
    ));
    writer.finish();
    return store.open(artifact.name).value();
}

std::optional<sealed::PieceOpening> open_drawn_piece(
    const StoredFile& file, const Hash256& sealed_root, std::uint32_t group, std::uint64_t number, unsigned threads
) {
    const StoredSource source(file);
    const auto checked = sealed::check_file(source, {.threads = threads});
    if (!checked || checked->root != sealed_root || group >= checked->layout.group_count()) {
        return std::nullopt;
    }
    const std::uint64_t chunks = checked->layout.chunk_count(group);
    const auto chunk = static_cast<std::uint32_t>(number % chunks);
    const std::uint32_t pieces = sealed::piece_count(checked->layout.sealed_bytes(group, chunk));
    return sealed::open_piece(
        sealed::open_sealed(source, *checked, group, chunk), static_cast<std::uint32_t>(number / chunks % pieces)
    );
}

}  // namespace assay::artifacts
