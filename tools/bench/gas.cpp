// SPDX-License-Identifier: Apache-2.0
// What each kind of transaction costs a validator, beside its gas (GAS rules).
#include <algorithm>
#include <iterator>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/params/gas.hpp>
#include <contracts/state/slots.hpp>
#include <node/daemon/application.hpp>
#include <node/state/state_store.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/commands.hpp>
#include <tools/bench/gas_scenes.hpp>
#include <tools/bench/measure.hpp>
#include <tools/bench/scratch.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

constexpr Amount kGasFee{10'000'000};
constexpr std::uint64_t kFirstAccount = 2'000'000;

struct GasOptions {
    std::uint64_t copies = 16;        ///< of a scene in one block
    std::uint64_t accounts = 10'000;  ///< in the state besides
    int rounds = 5;
    std::string only;
    std::filesystem::path scratch;
};

struct Nothing final : contracts::StateView {
    std::optional<Bytes> get(const Bytes& /*key*/) const override { return std::nullopt; }
};

Bytes sign(const Player& player, const contracts::Action& action, const std::optional<AccountId>& owner) {
    contracts::TxBody body{
        .chain_id = kChainId, .sender = player.id, .nonce = 0, .fee = kGasFee, .action = action, .owner = owner};
    return codec::encode(contracts::sign_tx(std::move(body), player.key));
}

/// A database in which each of `copies` players can do what the scene says, and the transactions that do it.
struct Set {
    std::unique_ptr<storage::Store> store;
    std::vector<Bytes> txs;
};

contracts::Params make_params() {
    contracts::Params params;
    params.verifiers_per_segment_max = 1;
    params.task_value_max = {~std::uint64_t{0}};  // its tasks are so dear that as many segments are checked as can be
    return params;
}

Set build(const Scene* scene, const GasOptions& options, const std::filesystem::path& directory) {
    const Nothing nothing;
    contracts::Overlay state = contracts::Overlay::over(nothing);
    const contracts::Genesis genesis{.chain_id = kChainId, .params = make_params(), .balances = {}, .validators = {}};
    state.absorb(contracts::make_genesis(genesis).value());
    for (std::uint64_t i = 0; i < options.accounts; ++i) {
        contracts::set_account(state, account_numbered(kFirstAccount + i), {.balance = Amount{1}});
    }
    Stage stage{.state = state, .params = genesis.params, .height = Height{1}};
    add_stakers(stage);
    Set set{.store = std::make_unique<storage::Store>(directory), .txs = {}};
    for (std::uint64_t i = 0; scene != nullptr && i < options.copies; ++i) {
        const Player player = make_player(i);
        add_player(stage, player);
        std::optional<AccountId> owner;
        if (scene->is_for_owner) {
            owner = account_numbered(kFirstAccount + i);
            contracts::set_operator(state, *owner, player.id);
        }
        if (const auto action = scene->play(stage, player)) {
            set.txs.push_back(sign(player, *action, owner));
        }
    }
    storage::Batch batch;
    node::Meta meta;
    meta.format = node::kMetaFormat;
    meta.chain_id = kChainId;
    meta.first_block = Height{1};
    meta.first_history = Height{1};
    meta.app_hash = node::write_state(batch, *set.store->snapshot(), std::nullopt, Height{0}, state.changes());
    node::write_meta(batch, meta);
    set.store->write(batch, true);
    return set;
}

/// What checking, proposing, accepting, executing and writing one block takes, in microseconds of CPU.
double run_block(const Set& set) {
    const auto clock = [] { return static_cast<std::uint64_t>(thread_cpu_seconds() * 1e9); };
    node::Application app(*set.store, clock, true);
    const double start = own_cpu_seconds();
    for (const Bytes& tx : set.txs) {
        if (const auto checked = app.check(tx, contracts::tx_hash(tx), consensus::CheckKind::kNew); checked.code != 0) {
            throw std::runtime_error("refused with code " + std::to_string(checked.code));
        }
    }
    const consensus::FinalizeRequest block{
        .height = Height{1},
        .time_ms = 1,
        .block_hash = hash_numbered("block", 1),
        .proposer = {},
        .txs = app.prepare(set.txs, ~std::uint64_t{0})};
    if (block.txs.size() != set.txs.size() || !app.process(block)) {
        throw std::runtime_error("does not fit a block");
    }
    const auto result = app.finalize(block);
    app.commit();
    const double used = own_cpu_seconds() - start;
    for (const contracts::Receipt& receipt : result.receipts) {
        if (receipt.code != 0) {
            throw std::runtime_error("failed with code " + std::to_string(receipt.code));
        }
    }
    return used * 1e6;
}

json measure(const Scene& scene, const GasOptions& options) {
    std::vector<double> costs;
    json out{{"scene", scene.name}};
    for (int i = 0; i < options.rounds; ++i) {
        const Scratch scratch(options.scratch);
        const double empty = run_block(build(nullptr, options, scratch.path() / "empty"));
        const Set set = build(&scene, options, scratch.path() / "scene");
        costs.push_back((run_block(set) - empty) / static_cast<double>(options.copies));
        out["bytes"] = set.txs.empty() ? 0 : set.txs.front().size();
        out["gas"] = set.txs.empty() ? 0 : contracts::gas_of_bytes(set.txs.front(), make_params());
    }
    out["cpu_us"] = spread(costs);
    out["paid_by"] = scene.paid_by;
    return out;
}

/// A transaction's gas is for what it does itself and for what it leaves to be done by deadlines.
void add_ratios(json& scenes) {
    for (json& scene : scenes) {
        if (scene["gas"] == 0) {
            continue;
        }
        double later = 0;
        for (const json& other : scenes) {
            const auto& payers = other["paid_by"];
            const bool is_payer = std::find(payers.begin(), payers.end(), scene["scene"]) != payers.end();
            later += is_payer ? other["cpu_us"]["median"].get<double>() : 0;
        }
        scene["later_us"] = later;
        scene["us_per_gas"] = (scene["cpu_us"]["median"].get<double>() + later) / scene["gas"].get<double>();
    }
}

json run_gas_bench(const GasOptions& options) {
    std::vector<Scene> scenes = ordinary_scenes();
    for (std::vector<Scene> more : {beacon_scenes(), dispute_scenes(), statement_scenes(), privacy_scenes()}) {
        std::move(more.begin(), more.end(), std::back_inserter(scenes));
    }
    json measured = json::array();
    for (const Scene& scene : scenes) {
        if (scene.name.starts_with(options.only)) {
            try {
                measured.push_back(measure(scene, options));
            } catch (const std::runtime_error& error) {
                throw std::runtime_error(scene.name + ": " + error.what());
            }
        }
    }
    add_ratios(measured);
    const contracts::Params params = make_params();
    return {
        {"bench", "gas"},
        {"copies", options.copies},
        {"rounds", options.rounds},
        {"accounts", options.accounts},
        {"stakers_of_a_role", kStakers},
        {"verdicts_of_a_task", params.segments_checked_max},
        {"gas_max", contracts::gas_max(params)},
        {"block_gas_max", params.block_gas_max},
        {"scenes", measured}};
}

}  // namespace

void add_gas_command(Commands& commands) {
    const auto held = std::make_shared<GasOptions>();
    GasOptions& options = *held;
    CLI::App* const gas =
        commands.add("gas", "CPU of a validator for the dearest transaction of each kind, beside its gas", [held] {
            return run_gas_bench(*held).dump(2);
        });
    gas->add_option("--copies", options.copies, "Transactions in a block")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    gas->add_option("--rounds", options.rounds, "Blocks of each kind")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    gas->add_option("--accounts", options.accounts, "Accounts in the state besides")->capture_default_str();
    gas->add_option("--only", options.only, "Scenes whose names begin so");
    gas->add_option("--scratch", options.scratch, "Where databases are made; empty: the temporary directory");
}

}  // namespace assay::bench
