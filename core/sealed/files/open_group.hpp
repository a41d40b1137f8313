// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/workers.hpp>

/// Parts of open.cpp.
namespace assay::sealed {

/// A file that is being opened.
struct OpenFile {
    const ByteSource& file;
    const CheckedFile& checked;
    const StateReader& reader;
    Meter& meter;
};

/// A group of a sealed state, and what it should fold to.
struct OpenGroup {
    std::uint32_t index = 0;
    Ladder ladder;
    std::optional<TensorEntry> tensor;  ///< none of group 0, whose root the state root alone says
};
/// Takes the plaintext of a chunk of level 0; called by several threads.
using ChunkSink = std::function<void(const ChunkPlace&, ByteView)>;

/// Evidence about a chunk of which it is known where it lies and what it should fold to.
WrongChunk evidence_of(
    const OpenFile& open, std::uint32_t group, std::uint32_t chunk, const std::optional<TensorEntry>& tensor,
    const Hash256& expected, std::vector<Hash256> expected_path
);
/// Opens the chunks of a group, level by level from the top, and returns evidence about the first that is wrong.
std::optional<WrongChunk> open_group(const OpenFile& open, const OpenGroup& group, const ChunkSink& out);

}  // namespace assay::sealed
