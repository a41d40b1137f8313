// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/state_sync.hpp>

#include <chrono>
#include <utility>

#include <core/crypto/hash.hpp>

namespace assay::node {
namespace {

using consensus::ApplyAnswer;
using consensus::OfferAnswer;

/// The slots of the next chunk (CMT-12).
std::vector<snapshot::Slot> next_slots(const storage::Snapshot& snapshot, std::optional<Hash256> after) {
    constexpr std::size_t kStep = 256;
    std::vector<snapshot::Slot> out;
    std::size_t bytes = 0;
    while (true) {
        auto slots = scan_slots(snapshot, after, kStep);
        const bool is_last = slots.size() < kStep;
        for (snapshot::Slot& slot : slots) {
            bytes += slot.key.size() + slot.value.size();
            out.push_back(std::move(slot));
            if (bytes >= snapshot::kChunkBytes) {
                return out;
            }
        }
        if (is_last) {
            return out;
        }
        after = crypto::sha256(out.back().key);
    }
}

const char* to_text(merkle::RangeError error) {
    switch (error) {
        case merkle::RangeError::kEmpty:
            return "it has no slots";
        case merkle::RangeError::kNotAscending:
            return "its slots do not follow those before it in order";
        case merkle::RangeError::kTooMany:
        case merkle::RangeError::kNotCanonical:
            return "its proof is not well formed";
        case merkle::RangeError::kWrongRoot:
            return "its proof does not lead to the app hash";
        case merkle::RangeError::kComplete:
            return "the state was whole before it";
    }
    return "it is not sound";
}

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

bool make_snapshot(const CommittedState& state, snapshot::Archive& archive, const std::atomic<bool>& stop) {
    const auto writer = archive.begin(state.height());
    const TreeReader reader(state.snapshot());
    std::optional<Hash256> after;
    while (!stop) {
        snapshot::Chunk chunk{.slots = next_slots(state.snapshot(), after), .left = {}, .right = {}};
        if (chunk.slots.empty() || writer->chunks() == snapshot::kChunksMax) {
            throw storage::StorageError("snapshots: the state is empty, or too large for its format");
        }
        merkle::Range range = merkle::prove_range(reader, state.height().value, after, chunk.slots.size());
        if (range.leaves != snapshot::to_range(chunk).leaves) {
            throw storage::StorageError("database: the slots of the state are not those of its tree");
        }
        after = range.leaves.back().key_hash;
        const bool is_last = range.right.empty();
        chunk.left = std::move(range.left);
        chunk.right = std::move(range.right);
        writer->add(chunk);
        if (is_last) {
            writer->finish();
            return true;
        }
    }
    return false;
}

StateSync::StateSync(Application& application, StateSyncOptions options)
    : application_(application),
      options_(std::move(options)),
      archive_(options_.directory, options_.keep),
      maker_([this] { make(); }) {}

StateSync::~StateSync() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    maker_.join();
}

void StateSync::note(const std::string& text) const {
    if (options_.on_note) {
        options_.on_note(text);
    }
}

void StateSync::note_commit() {
    const auto state = application_.committed();
    if (options_.interval_blocks == 0 || state->height().value % options_.interval_blocks != 0) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (due_) {
        note("no snapshot of height " + number(due_->height().value) + ": the one before it took too long");
    }
    due_ = state;
    changed_.notify_all();
}

void StateSync::make() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stop_ || due_; });
        if (stop_) {
            return;
        }
        const auto state = std::exchange(due_, nullptr);
        lock.unlock();
        const std::string height = number(state->height().value);
        try {
            const auto start = std::chrono::steady_clock::now();
            if (make_snapshot(*state, archive_, stop_)) {
                const auto taken = std::chrono::steady_clock::now() - start;
                note(
                    "snapshot of height " + height + ": " + number(archive_.list().front().chunks) + " chunks in " +
                    std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(taken).count()) + " ms"
                );
            }
        } catch (const std::exception& error) {
            // The chain does not need it: the disk may be full.
            note("no snapshot of height " + height + ": " + error.what());
        }
        lock.lock();
    }
}

std::optional<Bytes> StateSync::load_chunk(Height height, std::uint32_t format, std::uint32_t index) const {
    return format == snapshot::kFormat ? archive_.load(height, index) : std::nullopt;
}

OfferAnswer StateSync::offer(const consensus::SnapshotInfo& offered, const Hash256& app_hash) {
    const std::string name = "state sync: snapshot of height " + number(offered.height.value);
    if (!application_.can_restore()) {
        note(name + " refused: this node has executed blocks of its own");
        return OfferAnswer::kAbort;
    }
    if (offered.format != snapshot::kFormat) {
        note(name + " refused: its format is " + number(offered.format) + ", known is " + number(snapshot::kFormat));
        return OfferAnswer::kRejectFormat;
    }
    auto metadata = snapshot::decode_metadata(offered.metadata);
    if (!metadata || metadata->height != offered.height || metadata->chunks.size() != offered.chunks ||
        crypto::sha256(offered.metadata) != offered.hash || offered.height.value == 0) {
        note(name + " refused: its metadata contradict it");
        return OfferAnswer::kReject;
    }
    application_.begin_restore();
    restoring_.emplace(Restoring{
        .app_hash = app_hash,
        .metadata = *std::move(metadata),
        .builder = merkle::TreeBuilder(app_hash, offered.height.value)});
    note(name + ": restoring " + number(offered.chunks) + " chunks");
    return OfferAnswer::kAccept;
}

ApplyAnswer StateSync::reject(const std::string& why) {
    note("state sync: snapshot refused: " + why);
    restoring_.reset();
    return ApplyAnswer::kRejectSnapshot;
}

ApplyAnswer StateSync::apply_chunk(std::uint32_t index, const Bytes& bytes, const std::string& sender) {
    if (!restoring_ || index != restoring_->next) {
        note("state sync: chunk " + number(index) + " was not asked for");
        return ApplyAnswer::kAbort;
    }
    Restoring& now = *restoring_;
    const std::size_t count = now.metadata.chunks.size();
    const std::string name = "chunk " + number(index + 1) + " of " + number(count);
    if (crypto::sha256(bytes) != now.metadata.chunks[index]) {
        note("state sync: " + name + " from " + sender + " is not the one announced; asking others");
        return ApplyAnswer::kRetry;
    }
    // From here on the snapshot itself is to blame, for this is what everybody has who offers it.
    const auto chunk = snapshot::decode_chunk(bytes);
    if (!chunk) {
        return reject(name + " is no chunk");
    }
    if (const auto restored = application_.restore(now.builder, now.metadata.height, *chunk); !restored) {
        return reject(name + ": " + to_text(restored.error()));
    }
    ++now.next;
    if (now.builder.is_complete() != (now.next == count)) {
        return reject(name + ": the state is " + (now.next == count ? "not whole after it" : "whole after it already"));
    }
    if (now.next == count || 20 * std::uint64_t{now.next} / count != 20 * std::uint64_t{index} / count) {
        note("state sync: restored " + name + ", " + number(now.builder.leaves()) + " slots");
    }
    if (now.next == count) {
        const Height height = now.metadata.height;
        application_.finish_restore(height, now.app_hash);
        restoring_.reset();
        note("state sync: the state is that of height " + number(height.value));
        if (options_.on_restored) {
            options_.on_restored();
        }
    }
    return ApplyAnswer::kAccept;
}

}  // namespace assay::node
