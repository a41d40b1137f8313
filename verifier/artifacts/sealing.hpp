// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <contracts/state/spec.hpp>
#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>
#include <core/sealed/files/byte_source.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/seal.hpp>
#include <core/sealed/piece.hpp>
#include <core/sealed/task_key.hpp>
#include <verifier/artifacts/file.hpp>
#include <verifier/artifacts/store.hpp>

/// Artifacts of private tasks: sealed files in stores that are served, and what is opened of them (SEA and PRV rules).
namespace assay::artifacts {

/// The first `size_bytes` bytes of a file. Reading throws StoreError.
class FileSource final : public sealed::ByteSource {
  public:
    FileSource(const File& file, std::uint64_t size_bytes) : file_(file), size_bytes_(size_bytes) {}
    std::uint64_t size() const override { return size_bytes_; }
    void read(std::uint64_t offset, std::span<std::uint8_t> out) const override { file_.read_at(offset, out); }

  private:
    const File& file_;
    std::uint64_t size_bytes_;
};

/// The bytes of a file of a store. Reading throws StoreError.
class StoredSource final : public sealed::ByteSource {
  public:
    explicit StoredSource(const StoredFile& file) : file_(file) {}
    std::uint64_t size() const override { return file_.size_bytes(); }
    void read(std::uint64_t offset, std::span<std::uint8_t> out) const override { file_.read(offset, out); }

  private:
    const StoredFile& file_;
};

/// The bytes of the sealed file of so many bytes of plaintext (SEA-14).
std::uint64_t sealed_bytes_of(std::uint64_t plain_bytes);

/// What stores have of an artifact that the spec names; nullptr if the task is not private or names no such artifact.
const contracts::SealedFile* sealed_of(const contracts::TaskSpec& spec, const Hash256& sha256);
/// How the artifact is bound to the task when it is sealed (PRV-2): by the task's public key, since the task has no id
/// before it is submitted.
sealed::Artifact artifact_of(const contracts::Privacy& privacy, const Hash256& sha256);
/// The same of a checkpoint, by the task's id.
sealed::Artifact artifact_of(const contracts::TaskId& task, const Hash256& state_root);

/// Seals a file, and stores what it gives under its sealed root. The artifact's name is the SHA-256 of `plain`. Throws
/// StoreError.
contracts::SealedFile seal_file(
    ByteView plain, const sealed::TaskSecret& secret, const sealed::Artifact& artifact, const ContentStore& store,
    unsigned threads = 1
);
/// The same of a state, whose root is the artifact's name. No plaintext is written.
contracts::SealedFile seal_checkpoint(
    std::span<const canonical::Tensor> state, const sealed::TaskSecret& secret, const sealed::Artifact& artifact,
    const ContentStore& store, unsigned threads = 1
);
/// Opens a sealed file into a store that nobody serves, under the SHA-256 of its plaintext. Fails as
/// sealed::open_blob() does; throws StoreError.
Result<StoredFile, sealed::OpenError> open_file(
    const StoredFile& file, const sealed::TaskSecret& secret, const sealed::Artifact& artifact,
    const Hash256& sealed_root, const ContentStore& store, unsigned threads = 1
);

/// PRV-8: the piece of a sealed file that `group` and `number` draw, with its paths. Needs no key. nullopt if the file
/// has another root, or no such group. Throws StoreError.
std::optional<sealed::PieceOpening> open_drawn_piece(
    const StoredFile& file, const Hash256& sealed_root, std::uint32_t group, std::uint64_t number, unsigned threads = 1
);

}  // namespace assay::artifacts
