// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tests/unit/worker/chain_node.hpp>
#include <verifier/artifacts/cache.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/journal.hpp>
#include <verifier/worker/private_tasks.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker_test {

/// The parts of a worker that need no role, at a node of a test's chain. Another one with the same home is that worker
/// after a restart.
class ChainWorker {
  public:
    ChainWorker(const ChainNode& node, const contracts::test::Actor& who, const std::filesystem::path& home)
        : options(options_at(node, home)),
          reporter_(
              true, [this](const auto& event) { events.push_back(event); }, printed_
          ),
          journal_(home / worker::kJournalName),
          store_(home / "store"),
          cache_(home / "fetched"),
          fetcher_(store_, cache_),
          chain_(options.node, home, {}, who.key, std::nullopt, reporter_),
          privates_(home / worker::kPrivateName) {}
    ChainWorker(const ChainWorker&) = delete;
    ChainWorker& operator=(const ChainWorker&) = delete;

    worker::WorkerOptions options;  ///< those of the context; a test may change them
    std::vector<nlohmann::ordered_json> events{};

    /// How often an event with this name was reported.
    std::size_t count(const std::string& name) const {
        return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const auto& event) {
            return event.at("event") == name;
        }));
    }

  private:
    static worker::WorkerOptions options_at(const ChainNode& node, const std::filesystem::path& home) {
        worker::WorkerOptions out;
        out.node.url = node.url();
        out.home = home;
        return out;
    }

    std::ostringstream printed_;
    worker::Reporter reporter_;
    worker::Journal journal_;
    artifacts::ContentStore store_;
    artifacts::Cache cache_;
    artifacts::Fetcher fetcher_;
    worker::Chain chain_;
    worker::Behaviour honest_;
    std::atomic<bool> stop_{false};
    worker::PrivateTasks privates_;

  public:
    worker::WorkerContext context{
        .options = options,
        .reporter = reporter_,
        .journal = journal_,
        .store = store_,
        .fetcher = fetcher_,
        .chain = chain_,
        .behaviour = honest_,
        .stop = stop_,
        .artifacts_url = "http://127.0.0.1:1",
        .privates = &privates_};
};

}  // namespace assay::worker_test
