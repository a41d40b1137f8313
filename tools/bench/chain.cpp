// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/chain.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <unistd.h>

#include <tools/bench/commands.hpp>

namespace assay::bench {

using nlohmann::json;

namespace {

/// What the parts in this process allocate with; the node has jemalloc (ADR 22), and training is measured without.
std::string allocator() { return ::dlsym(RTLD_DEFAULT, "mallctl") != nullptr ? "jemalloc" : "libc"; }

}  // namespace

json run_chain_bench(ChainOptions options) {
    if (options.threads == 0) {
        options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    }
    if (options.assayd.empty()) {
        options.assayd = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "assayd").string();
    }
    if (options.quick) {
        options.pairs = 1;
        options.transfers = 2'000;
        options.accounts = {1'000, 4'000};
        options.block_transfers = 50;
    }
    const auto wanted = [&](const char* part) {
        return std::find(options.parts.begin(), options.parts.end(), part) != options.parts.end();
    };
    json out{
        {"bench", "chain"},
        {"cores", std::thread::hardware_concurrency()},
        {"allocator", allocator()},
        {"quick", options.quick}};
    if (wanted("solo")) {
        out["solo"] = run_solo_bench(options);
    }
    if (wanted("growth")) {
        out["growth"] = run_growth_bench(options);
    }
    if (wanted("cometbft")) {
        out["cometbft"] = run_comet_bench(options);
    }
    return out;
}

void add_chain_command(Commands& commands) {
    const auto held = std::make_shared<ChainOptions>();
    ChainOptions& options = *held;
    CLI::App* const chain = commands.add(
        "chain",
        "Transactions per second over CometBFT's kvstore and over signature verification, and growth of the state",
        [held] { return run_chain_bench(*held).dump(2); }
    );
    chain->add_option("--parts", options.parts, "Which of solo, growth, cometbft")
        ->check(CLI::IsMember({"solo", "growth", "cometbft"}))
        ->capture_default_str();
    chain->add_option("--pairs", options.pairs, "Interleaved pairs")->capture_default_str()->check(CLI::PositiveNumber);
    chain->add_option("--threads", options.threads, "That submit and that verify; 0: one for each core")
        ->capture_default_str();
    chain->add_option("--transfers", options.transfers, "Of each side of a pair")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    chain->add_option("--intervals-ms", options.intervals_ms, "Between blocks of the solo part")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    chain->add_option("--accounts", options.accounts, "Sizes of the state, ascending")->capture_default_str();
    chain->add_option("--block-transfers", options.block_transfers, "In a block of the growth part")
        ->capture_default_str();
    chain->add_option("--assayd", options.assayd, "Empty: the one beside this program");
    chain->add_option("--cometbft", options.cometbft, "Empty: found on the PATH and in ~/go/bin");
    chain->add_option("--scratch", options.scratch, "Where databases are made, and deleted again");
    chain->add_flag("--quick", options.quick, "Everything small: whether it runs, not what it costs");
}

}  // namespace assay::bench
