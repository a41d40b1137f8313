// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/replay.hpp>

#include <chrono>
#include <string>

#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <core/system/temporary_directory.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/home.hpp>
#include <node/daemon/log_base.hpp>
#include <node/state/store.hpp>

namespace assay::node {

ReplayReport replay_log(
    const contracts::Genesis& genesis, const std::filesystem::path& file, const std::filesystem::path& base,
    const std::function<void(Height done, Height of)>& progress
) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds kBetween{2};
    const solo::BlockLog log(file, solo::BlockLog::Mode::kReadOnly);
    const system::TemporaryDirectory scratch("assayd-replay");
    storage::Store store(scratch.path(), {.in_memory = false, .fault = {}});
    Application application(store, [] { return std::uint64_t{0}; });
    application.init(genesis);
    const auto started_at = Clock::now();
    auto report_at = started_at + kBetween;
    begin_at_base(application, log, base);
    ReplayReport out;
    out.from = application.info().height;
    out.blocks = solo::replay(application, log, genesis.chain_id, [&](Height height) {
        if (progress && Clock::now() >= report_at) {
            progress(height, log.height());
            report_at += kBetween;
        }
    });
    out.seconds = std::chrono::duration<double>(Clock::now() - started_at).count();
    const auto info = application.info();
    out.height = info.height;
    out.app_hash = info.app_hash;
    return out;
}

}  // namespace assay::node
