// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/history.hpp>

#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/context.hpp>

namespace assay::contracts {

Hash256 extend_history(const Hash256& previous, ByteView encoded_record) {
    static const crypto::TaggedHash kTag("assay/history");  // HIS-2
    return kTag(previous.view(), encoded_record);
}

Hash256 extend_history(const Hash256& previous, const HistoryRecord& record) {
    return extend_history(previous, codec::encode(record));
}

void record(Context& context, Task& task, HistoryEvent event) {
    HistoryRecord entry{
        .task = task.id,
        .index = task.history_count,
        .height = context.height(),
        .tx = context.tx,
        .actor = context.actor,
        .event = std::move(event)};
    task.history_root = extend_history(task.history_root, entry);
    ++task.history_count;
    context.history.push_back(std::move(entry));
}

}  // namespace assay::contracts
