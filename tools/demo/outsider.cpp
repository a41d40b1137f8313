// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/outsider.hpp>

#include <variant>

#include <core/codec/borsh.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/params/work.hpp>
#include <tools/demo/baiter.hpp>
#include <tools/demo/doubler.hpp>
#include <tools/demo/drafter.hpp>
#include <tools/demo/farmer.hpp>
#include <tools/demo/idler.hpp>
#include <tools/demo/liar.hpp>
#include <tools/demo/loiterer.hpp>
#include <tools/demo/sniper.hpp>
#include <tools/demo/spammer.hpp>
#include <tools/demo/squatter.hpp>
#include <tools/demo/staller.hpp>
#include <tools/demo/starver.hpp>
#include <tools/demo/story.hpp>

namespace assay::demo {

void Outsider::add_actors() {
    for (const auto& [name, balance] : funds_) {
        network_.add_actor(name, balance);
    }
}

void Outsider::prepare(const Packer& /*pack*/) {}

bool Outsider::is_over() { return true; }

std::uint64_t Outsider::harm() { return 0; }

bool Outsider::is_accomplice() const { return false; }

bool Outsider::is_judged(const contracts::Task& own) {
    const bool is_completed =
        own.state > contracts::TaskState::kTraining && own.state != contracts::TaskState::kProfiling;
    return is_completed || own.open_disputes != 0;
}

nlohmann::json Outsider::account(const std::string& name) {
    return network_.rpc().call("account_get", {{"account", to_hex(network_.key(name).account().view())}});
}

std::uint64_t Outsider::gas_of(const contracts::Action& action) {
    const contracts::Tx tx{{network_.rpc().chain_id(), {}, 0, {}, action}, {}};
    return contracts::gas_of(tx, codec::encode(tx).size(), network_.rpc().params());
}

Amount Outsider::fee_of(const contracts::Action& action, std::uint64_t percent) {
    const contracts::Params params = network_.rpc().params();
    const Amount least = contracts::least_fee(action, gas_of(action), network_.rpc().base_fee(), params);
    return Amount{least.grains * percent / 100};
}

Amount Outsider::least_fee(const contracts::TaskSpec& spec) {
    const contracts::Params params = network_.rpc().params();
    return contracts::fee_at(params, spec, params.work_price);
}

Outsider::Answer Outsider::submit(
    const std::string& name, std::uint64_t nonce, Amount fee, const contracts::Action& action
) {
    const crypto::SecretKey key = network_.key(name);
    const Bytes bytes =
        codec::encode(contracts::sign_tx({network_.rpc().chain_id(), key.account(), nonce, fee, action}, key));
    try {
        network_.rpc().call("tx_submit", {{"tx", to_hex(bytes)}});
        return {.tx = contracts::tx_hash(bytes), .refusal = {}};
    } catch (const client::RpcError& error) {
        return {.tx = std::nullopt, .refusal = error.data.value("reason", error.name)};
    }
}

bool Outsider::submit_task(const std::string& name, const contracts::TaskSpec& spec) {
    const contracts::SubmitTask action{.spec = spec};
    const auto nonce = account(name).at("next_nonce").get<std::uint64_t>();
    if (!submit(name, nonce, fee_of(action), action).tx) {
        return false;
    }
    tasks_.push_back(contracts::task_id(network_.key(name).account(), nonce));
    return true;
}

void Outsider::cancel_tasks(const std::string& name) {
    for (const contracts::TaskId& task : tasks_) {
        const contracts::Action action = contracts::CancelTask{.task = task};
        const auto nonce = account(name).at("next_nonce").get<std::uint64_t>();
        static_cast<void>(submit(name, nonce, fee_of(action), action));  // a task that is over refuses it
    }
}

nlohmann::json Outsider::tally() {
    using namespace contracts::history;
    std::uint64_t drawn = 0;
    std::uint64_t accepted = 0;
    std::uint64_t slashed = 0;
    nlohmann::json states = nlohmann::json::object();
    for (const contracts::TaskId& id : tasks_) {
        for (const contracts::HistoryRecord& record : history_of(network_, id)) {
            const bool is_draw = std::holds_alternative<SolverDrawn>(record.event) ||
                                 std::holds_alternative<ProfilerDrawn>(record.event);
            drawn += is_draw ? 1U : 0U;
            accepted += std::holds_alternative<Accepted>(record.event) ? 1U : 0U;
            const auto* penalty = std::get_if<Slashed>(&record.event);
            const bool is_lost = penalty != nullptr && penalty->reason != contracts::Reason::kRoom;  // TASK-15
            slashed += is_lost ? penalty->amount.grains : 0;
        }
        if (const auto task = network_.rpc().task(id)) {
            const std::string state = to_string(task->state);
            states[state] = states.value(state, 0U) + 1U;
        }
    }
    return {
        {"submitted", tasks_.size()},
        {"drawn", drawn},
        {"accepted", accepted},
        {"slashed", slashed},
        {"states", states}};
}

std::unique_ptr<Outsider> make_outsider(Fraud fraud, Network& network, Narrator& narrator) {
    switch (fraud) {
        case Fraud::kSpam:
            return std::make_unique<Spammer>(network);
        case Fraud::kSquat:
            return std::make_unique<Squatter>(network);
        case Fraud::kBait:
            return std::make_unique<Baiter>(network);
        case Fraud::kWaiting:
            return std::make_unique<Loiterer>(network);
        case Fraud::kDraft:
            return std::make_unique<Drafter>(network);
        case Fraud::kStarve:
            return std::make_unique<Starver>(network);
        case Fraud::kIdleSockets:
            return std::make_unique<Idler>(network);
        case Fraud::kTarpit:
            return std::make_unique<Staller>(network);
        case Fraud::kLyingNode:
            return std::make_unique<Liar>(network, narrator);
        case Fraud::kDoubleProposal:
            return std::make_unique<Doubler>(network, narrator);
        case Fraud::kFarm:
            return std::make_unique<Farmer>(network, narrator);
        case Fraud::kSnipe:
            return std::make_unique<Sniper>(network, narrator);
        default:
            return nullptr;
    }
}

}  // namespace assay::demo
