// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/chunks.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/partial_dataset.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

/// Chunks of a dataset that somebody wants, ascending.
struct ChunkRequest {
    ExpectedDataset dataset;
    std::vector<std::uint64_t> chunks;
};
/// Bytes that a fetch of the request takes on the disk, the hashes of all chunks included.
std::uint64_t size_bytes_of(const ChunkRequest& request) noexcept;

/// ART-17, ART-18: fetches the hashes of the dataset's chunks, and the wanted chunks that are not in the store. Each of
/// them is checked before it is written; a source that sends a wrong one is not asked again. Sources are used at the
/// same time. Fails with the error of the artifact's location: kMissing if nobody has the hashes, kMismatch if what
/// came is wrong. Throws StoreError, and std::system_error if no thread can be started.
Result<PartialDataset, FetchError> fetch_chunks(
    const Reference& artifact, const ChunkRequest& request, const ContentStore& store, const FetchLimits& limits = {}
);

}  // namespace assay::artifacts
