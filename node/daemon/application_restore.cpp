// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <core/base/assert.hpp>
#include <node/daemon/application.hpp>
#include <node/state/state_store.hpp>

/// The application's state comes from a snapshot.
namespace assay::node {

bool Application::can_restore() const {
    const auto state = committed();
    return before_restore_ || state->height() < state->first_block();
}

void Application::begin_restore() {
    ASSERT(can_restore());
    if (!before_restore_) {
        before_restore_ = committed()->meta();
    }
    pending_.reset();
    storage::Batch batch;
    mark_restoring(batch);
    store_.write(batch, true);
    erase_all(store_);
}

Result<void, merkle::RangeError> Application::restore(
    merkle::TreeBuilder& builder, Height height, const snapshot::Chunk& chunk
) {
    ASSERT(before_restore_.has_value());
    const auto snapshot = store_.snapshot();
    auto nodes = builder.add(TreeReader(*snapshot), snapshot::to_range(chunk));
    if (!nodes) {
        return Unexpected{nodes.error()};
    }
    storage::Batch batch;
    write_restored(batch, height, chunk.slots, *nodes);
    store_.write(batch, false);
    return {};
}

void Application::finish_restore(Height height, const Hash256& app_hash) {
    ASSERT(before_restore_.has_value());
    Meta meta = *std::move(before_restore_);
    before_restore_.reset();
    meta.height = height;
    meta.app_hash = app_hash;
    meta.first_state = height;
    meta.first_block = Height{height.value + 1};
    meta.first_history = meta.first_block;
    storage::Batch batch;
    write_meta(batch, meta);
    unmark_restoring(batch);
    store_.write(batch, true);
    publish(meta);
}

}  // namespace assay::node
