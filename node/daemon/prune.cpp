// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/prune.hpp>

#include <algorithm>
#include <atomic>
#include <string>

#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/log_base.hpp>
#include <node/daemon/state_sync.hpp>
#include <node/state/archive.hpp>
#include <node/state/store.hpp>

namespace assay::node {
namespace {

namespace fs = std::filesystem;

std::string number(Height height) { return std::to_string(height.value); }

/// Appends to the archive what it lacks of the log.
void extend_archive(const solo::BlockLog& log, const fs::path& file, PruneReport& report) {
    solo::BlockLog archive(file);
    const bool is_new = archive.height().value == 0;
    if (!is_new && archive.height().value + 1 < log.first_height().value) {
        throw PruneError(
            file.string() + " ends with block " + number(archive.height()) + " and the log begins with block " +
            number(log.first_height()) + ": name the archive of the last pruning, or a new file"
        );
    }
    const Height common = std::min(archive.height(), log.height());
    if (const auto ours = log.read(common)) {
        const auto theirs = archive.read(common);
        if (!theirs || solo::block_hash(theirs->block.header) != solo::block_hash(ours->block.header)) {
            throw PruneError(
                file.string() + " has another block " + number(common) +
                " than the log: it is an archive of another chain"
            );
        }
    }
    const Height next = is_new ? log.first_height() : Height{archive.height().value + 1};
    if (next <= log.height()) {
        archive.append_from(log, next);
    }
    report.archive_first = archive.first_height();
    report.archive_height = archive.height();
}

/// Stores the state at the end of the log, with which a log is executed that lacks its beginning.
void store_base(const CommittedState& state, const fs::path& directory) {
    snapshot::Archive base(directory, 1);
    if (!base.has(state.height())) {
        const std::atomic<bool> never_stop{false};
        make_snapshot(state, base, never_stop);
    }
}

std::uint64_t bytes_in(const fs::path& directory) {
    std::uint64_t out = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
        out += entry.is_regular_file() ? entry.file_size() : 0;
    }
    return out;
}

}  // namespace

PruneReport prune_log(const PruneOptions& options) {
    const Home& home = options.home;
    if (options.keep_blocks < kKeepBlocksMin) {
        throw PruneError(
            "--keep-blocks must be at least " + std::to_string(kKeepBlocksMin) +
            ": a crash may take the last blocks from the database, and they are executed again from the log"
        );
    }
    const auto genesis = read_genesis(home.genesis());
    const HomeLock lock(home);
    storage::Store store(home.db(), {.in_memory = false, .fault = {}});
    Application application(store, [] { return std::uint64_t{0}; });
    application.init(genesis);
    const solo::BlockLog log(home.block_log());
    begin_at_base(application, log, home.log_base());
    solo::replay(application, log, genesis.chain_id, {});

    PruneReport report;
    report.first = log.first_height();
    report.height = log.height();
    report.bytes_before = log.size_bytes();
    if (options.archive) {
        extend_archive(log, *options.archive, report);
    }
    if (log.height().value >= log.first_height().value + options.keep_blocks) {
        report.first = Height{log.height().value - options.keep_blocks + 1};
        report.removed_blocks = report.first.value - log.first_height().value;
        store_base(*application.committed(), home.log_base());
        solo::cut_log(log, home.block_log(), report.first);
        application.forget_blocks(report.first);
    }
    report.bytes_after = fs::file_size(home.block_log());
    report.base_bytes = fs::exists(home.log_base()) ? bytes_in(home.log_base()) : 0;
    return report;
}

}  // namespace assay::node
