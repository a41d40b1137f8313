// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/chain.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include <consensus/solo/engine.hpp>
#include <core/crypto/hash.hpp>
#include <node/daemon/application.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/scratch.hpp>
#include <tools/bench/measure.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

constexpr std::uint64_t kChainSoloSenders = 2'000;
constexpr std::uint64_t kChainSoloAccounts = 50'000;
constexpr std::uint64_t kMempoolTxs = 100'000;

struct Spent {
    double wall_s = 0;
    double cpu_s = 0;
};

/// `work` for every lane, each on a thread of its own.
Spent time_lanes(
    std::size_t lanes, const std::function<void(std::size_t)>& work, const std::function<void()>& after = {}
) {
    const double cpu = own_cpu_seconds();
    const Stopwatch watch;
    std::vector<std::thread> threads;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        threads.emplace_back([&work, lane] { work(lane); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (after) {
        after();
    }
    return {.wall_s = watch.seconds(), .cpu_s = own_cpu_seconds() - cpu};
}

/// A node's engine and state on a disk, without RPC.
class Chain {
  public:
    Chain(const std::filesystem::path& home, const contracts::Genesis& genesis, std::chrono::milliseconds interval)
        : interval_(interval),
          store_(home / "db"),
          application_(store_, [] { return std::uint64_t{0}; }),
          log_(home / "blocks.log") {
        application_.init(genesis);
        solo::EngineOptions options{
            .chain_id = kChainId,
            .proposer = crypto::SecretKey::generate(),
            .block_interval = interval_,
            .block_bytes_max = genesis.params.block_size_max,
            .mempool = {.txs_max = kMempoolTxs, .bytes_max = 1U << 30U, .sender_txs_max = kMempoolTxs},
            .now_ms =
                [] {
                    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                          std::chrono::system_clock::now().time_since_epoch()
                    )
                                                          .count());
                },
            .signing_randomness = [] { return std::array<std::uint8_t, 32>{}; },
            .after_stage = {},
            .on_failure = [this](const std::string&) { failed_ = true; }};
        engine_ = std::make_unique<solo::SoloEngine>(application_, log_, std::move(options));
        engine_->start();
    }

    void submit(const std::vector<Bytes>& txs) {
        for (const Bytes& tx : txs) {
            while (!try_submit(tx)) {
                engine_->wait_for_block(engine_->tip().height, interval_);
            }
        }
    }

    void await_all() {
        while (engine_->mempool().size().txs > 0 && !failed_) {
            engine_->wait_for_block(engine_->tip().height, interval_);
        }
        if (failed_) {
            throw std::runtime_error("the engine failed");
        }
    }

    Height height() const { return engine_->tip().height; }

  private:
    bool try_submit(const Bytes& tx) {
        const auto taken = engine_->submit(tx);
        if (!taken && taken.error().reason != consensus::RefusalReason::kFull) {
            throw std::runtime_error("a transfer was refused with code " + std::to_string(taken.error().code));
        }
        return taken.has_value();
    }

    const std::chrono::milliseconds interval_;
    storage::Store store_;
    node::Application application_;
    solo::BlockLog log_;
    std::atomic<bool> failed_{false};
    std::unique_ptr<solo::SoloEngine> engine_;
};

struct Claim {
    AccountId signer;
    Hash256 message;
    Signature signature;
};

std::vector<std::vector<Claim>> claims_of(const std::vector<std::vector<Bytes>>& lanes) {
    std::vector<std::vector<Claim>> out(lanes.size());
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        for (const Bytes& bytes : lanes[lane]) {
            const auto tx = codec::decode<contracts::Tx>(bytes).value();
            out[lane].push_back({tx.body.sender, contracts::signing_hash(tx.body), tx.signature});
        }
    }
    return out;
}

Spent verify(const std::vector<std::vector<Claim>>& lanes) {
    std::atomic<bool> all{true};
    const Spent spent = time_lanes(lanes.size(), [&](std::size_t lane) {
        for (const Claim& claim : lanes[lane]) {
            if (!crypto::verify_signature(claim.signer, claim.message.view(), claim.signature)) {
                all = false;
            }
        }
    });
    if (!all) {
        throw std::runtime_error("a signature does not verify");
    }
    return spent;
}

json run_at(std::chrono::milliseconds interval, const ChainOptions& options) {
    const auto lanes = static_cast<unsigned>(options.threads);
    const auto count = static_cast<double>(options.transfers);
    std::vector<double> solo_tps;
    std::vector<double> bound_tps;
    std::vector<double> ratio;
    std::vector<double> solo_cpu;
    std::vector<double> bound_cpu;
    std::vector<double> cpu_ratio;
    std::vector<double> blocks;
    Load load(kChainSoloSenders, kChainSoloAccounts, lanes);
    const Scratch scratch(options.scratch);
    Chain chain(scratch.path(), load.genesis(), interval);
    std::size_t tx_bytes = 0;
    const auto run = [&] {
        const auto txs = load.next(options.transfers);
        tx_bytes = txs.front().front().size();
        const auto claims = claims_of(txs);
        const Height before = chain.height();
        const Spent solo = time_lanes(
            lanes, [&](std::size_t lane) { chain.submit(txs[lane]); }, [&] { chain.await_all(); }
        );
        blocks.push_back(static_cast<double>(chain.height().value - before.value));
        const Spent bound = verify(claims);
        solo_tps.push_back(count / solo.wall_s);
        bound_tps.push_back(count / bound.wall_s);
        ratio.push_back(bound.wall_s / solo.wall_s);
        solo_cpu.push_back(solo.cpu_s * 1e6 / count);
        bound_cpu.push_back(bound.cpu_s * 1e6 / count);
        cpu_ratio.push_back(bound.cpu_s / solo.cpu_s);
    };
    for (int pair = 0; pair < options.pairs; ++pair) {
        run();
    }
    return {
        {"transfers_per_pair", options.transfers},
        {"pairs", options.pairs},
        {"threads", lanes},
        {"tx_bytes", tx_bytes},
        {"senders", kChainSoloSenders},
        {"accounts", kChainSoloSenders + kChainSoloAccounts},
        {"block_interval_ms", interval.count()},
        {"blocks_per_pair", spread(blocks)},
        {"ratios", {{"solo_over_bound", spread(ratio)}, {"bound_cpu_over_solo_cpu", spread(cpu_ratio)}}},
        {"transfers_per_s", {{"solo", spread(solo_tps)}, {"bound", spread(bound_tps)}}},
        {"cpu_us_per_transfer", {{"solo", spread(solo_cpu)}, {"bound", spread(bound_cpu)}}},
    };
}

}  // namespace

json run_solo_bench(const ChainOptions& options) {
    json out = json::array();
    for (const std::uint32_t interval_ms : options.intervals_ms) {
        out.push_back(run_at(std::chrono::milliseconds(interval_ms), options));
    }
    return out;
}

}  // namespace assay::bench
