// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/files/byte_source.hpp>
#include <core/sealed/files/seal.hpp>
#include <core/sealed/task_key.hpp>

namespace assay::sealed {

/// Why a file is not opened although no chunk of it is shown to be wrong. The names of those that put the fault on
/// whoever published the state root, not on the seal, are kTypes and kPadding.
enum class [[nodiscard]] OpenError : std::uint8_t{
    kFormat = 1,    ///< not a sealed file (SEA-13)
    kRoot = 2,      ///< the file has another sealed root: whoever served it sent another file
    kTypes = 3,     ///< the state root commits to tensors of other types than expected
    kPadding = 4,   ///< the state root commits to a tile with padding that is not zero (NUM-4)
    kContents = 5,  ///< of other files: a chunk does not decrypt, or the bytes have another SHA-256 than the name
};

/// What a reader of a state is asked for, and who reads. The last two are for evidence alone.
struct StateReader {
    const TaskSecret& secret;
    Artifact artifact;  ///< the name is the state root
    Hash256 sealed_root;
    std::span<const canonical::TensorType> types;  ///< of the program's state, at least one
    AccountId reporter;
    std::array<std::uint8_t, 32> aux{};  ///< fresh random bytes
};
using OpenFailure = std::variant<OpenError, WrongChunk>;
/// Takes the tensors of a state in order. May throw.
using TensorSink = std::function<void(std::uint32_t, canonical::Tensor)>;

/// Opens a sealed state, and passes each tensor to `out` once all of it is checked against the state root. Fails with
/// the first chunk, from the top down and group by group, that is not what the state root commits to, as evidence that
/// judge() finds a fault in. Memory: one tensor, and a hash for each chunk.
Result<void, OpenFailure> open_state(
    const ByteSource& file, const StateReader& reader, const TensorSink& out, const Effort& effort = {}
);
Result<std::vector<canonical::Tensor>, OpenFailure> open_state(
    const ByteSource& file, const StateReader& reader, const Effort& effort = {}
);

/// SEA-14: opens a sealed file of other bytes, and writes them to `out`. What was written before a failure is to be
/// thrown away: whether it is the artifact is known at the end.
Result<void, OpenError> open_blob(
    const ByteSource& file, const TaskSecret& secret, const Artifact& artifact, const Hash256& sealed_root,
    const ByteSink& out, const Effort& effort = {}
);
Result<Bytes, OpenError> open_blob(
    ByteView file, const TaskSecret& secret, const Artifact& artifact, const Hash256& sealed_root,
    const Effort& effort = {}
);

}  // namespace assay::sealed
