// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/chunk_server.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/artifacts/chunks.hpp>
#include <verifier/worker/task_artifacts.hpp>

namespace assay::test {

/// A small task's artifacts as a verifier of one segment fetches them, from a server of its own.
class PartOfTask {
  public:
    explicit PartOfTask(SmallTask& task)
        : spec_(task.spec),
          server_(
              to_bytes(task.artifacts->dataset->stored()), artifacts::encode_chunk_leaves(task.artifacts->dataset_tree)
          ) {
        for (contracts::ArtifactRef* each : {&spec_.program_artifact, &spec_.dataset_artifact}) {
            each->location = server_.url();
        }
        store_.put(task.store.get(spec_.program_artifact.sha256)->view());
    }

    Result<std::shared_ptr<const worker::TaskArtifacts>, worker::Unavailable> try_load(std::uint32_t segment) const {
        return worker::load_task_artifacts(
            contracts::TaskId{{7}}, spec_, worker::waiting_source(store_),
            worker::SegmentPart{segment, worker::waiting_dataset_source(store_)}
        );
    }
    std::shared_ptr<const worker::TaskArtifacts> load(std::uint32_t segment) const {
        const auto loaded = try_load(segment);
        REQUIRE(loaded.has_value());
        return *loaded;
    }
    ChunkServer& server() { return server_; }
    const artifacts::ContentStore& store() const { return store_; }

  private:
    static Bytes to_bytes(ByteView view) { return {view.begin(), view.end()}; }

    TemporaryDirectory home_;
    artifacts::ContentStore store_{home_.path() / "store"};
    contracts::TaskSpec spec_;
    ChunkServer server_;
};

}  // namespace assay::test
