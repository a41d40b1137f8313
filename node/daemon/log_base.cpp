// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/log_base.hpp>

#include <string>

#include <consensus/solo/engine.hpp>
#include <core/merkle/range.hpp>
#include <node/state/archive.hpp>

namespace assay::node {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const solo::BlockLog& log, const std::string& what) {
    throw solo::HandshakeError(
        "the block log was pruned and begins with block " + std::to_string(log.first_height().value) + ", and " + what +
        ": restore a backup, or replay an archive that begins with block 1"
    );
}

/// Returns the height of the restored state.
Height restore(Application& application, const solo::BlockLog& log, const fs::path& base) {
    // Opening an archive makes its directory.
    if (base.empty() || !fs::is_directory(base)) {
        fail(log, "the state to begin with" + (base.empty() ? "" : ", " + base.string() + ",") + " is missing");
    }
    const snapshot::Archive archive(base, 1);
    const auto snapshots = archive.list();
    if (snapshots.empty()) {
        fail(log, base.string() + " holds no state to begin with");
    }
    const consensus::SnapshotInfo& info = snapshots.front();
    const auto record = info.height < log.first_height() ? std::nullopt : log.read(info.height);
    if (!record) {
        fail(
            log, base.string() + " is of height " + std::to_string(info.height.value) + ", which the log does not have"
        );
    }
    application.begin_restore();
    merkle::TreeBuilder builder(record->app_hash, info.height.value);
    for (std::uint32_t i = 0; i < info.chunks; ++i) {
        const auto bytes = archive.load(info.height, i);
        const auto chunk = bytes ? snapshot::decode_chunk(*bytes) : std::nullopt;
        if (!chunk || !application.restore(builder, info.height, *chunk)) {
            fail(log, "file " + std::to_string(i) + " of " + base.string() + " is damaged");
        }
    }
    if (!builder.is_complete()) {
        fail(log, base.string() + " is not whole");
    }
    application.finish_restore(info.height, record->app_hash);
    return info.height;
}

}  // namespace

std::optional<Height> begin_at_base(Application& application, const solo::BlockLog& log, const fs::path& base) {
    const Height first = log.first_height();
    std::optional<Height> out;
    if (first.value > 1 && application.info().height < first && application.can_restore()) {
        out = restore(application, log, base);
    }
    application.forget_blocks(first);
    return out;
}

}  // namespace assay::node
