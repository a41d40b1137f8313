// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>
#include <core/sealed/files/byte_source.hpp>
#include <core/sealed/sealed_tree.hpp>
#include <core/sealed/task_key.hpp>

namespace assay::sealed {

/// A state whose tensors are asked for one at a time, each twice.
class TensorSource {
  public:
    virtual ~TensorSource() = default;
    virtual std::vector<canonical::TensorType> types() const = 0;
    /// Valid until the next call. May throw.
    virtual const canonical::Tensor& tensor(std::uint32_t index) = 0;
};

/// A state in memory, which the caller keeps.
class StateInMemory final : public TensorSource {
  public:
    explicit StateInMemory(std::span<const canonical::Tensor> tensors) : tensors_(tensors) {}
    std::vector<canonical::TensorType> types() const override;
    const canonical::Tensor& tensor(std::uint32_t index) override { return tensors_[index]; }

  private:
    std::span<const canonical::Tensor> tensors_;
};

enum class [[nodiscard]] SealError : std::uint8_t{
    kTensors = 1,   ///< SEA-7: no tensors, too many, or one without elements or with too many
    kArtifact = 2,  ///< the name is not the plaintext's: another state root, or another SHA-256
    kTooLarge = 3,  ///< more chunks than a u32 counts
};

/// Which artifact of which task is sealed.
struct Artifact {
    Hash256 task;
    Hash256 name;  ///< the state root, or the SHA-256 of a file
};

/// SEA-7: writes the sealed file of a state to `out`, and returns its root and leaves. Memory: a hash for each tile,
/// and 16 MiB. Fails before anything is written.
Result<SealedLeaves, SealError> seal_state(
    TensorSource& state, const TaskSecret& secret, const Artifact& artifact, const ByteSink& out,
    const Effort& effort = {}
);
/// SEA-14: writes the sealed file of other bytes, likewise. Reads them twice.
Result<SealedLeaves, SealError> seal_blob(
    const ByteSource& blob, const TaskSecret& secret, const Artifact& artifact, const ByteSink& out,
    const Effort& effort = {}
);

/// A sealed file in memory.
struct SealedFile {
    Bytes bytes;
    Hash256 root;
};
Result<SealedFile, SealError> seal_state(
    std::span<const canonical::Tensor> state, const TaskSecret& secret, const Artifact& artifact,
    const Effort& effort = {}
);
Result<SealedFile, SealError> seal_blob(
    ByteView blob, const TaskSecret& secret, const Artifact& artifact, const Effort& effort = {}
);

}  // namespace assay::sealed
