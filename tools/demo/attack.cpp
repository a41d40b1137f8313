// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/attack.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <variant>

#include <tools/demo/cast.hpp>

namespace assay::demo {
namespace {

using namespace contracts;

std::set<std::string> dishonest_of(const std::vector<Act>& acts, const Outsider* outsider) {
    std::set<std::string> names;
    if (outsider != nullptr) {
        for (const auto& [name, unused] : outsider->funds()) {
            names.insert(name);
        }
    }
    for (const Act& act : acts) {
        if (cast_of(act.fraud).solver != nullptr) {
            names.insert(act.solver);
        }
        names.insert(act.culprits.begin(), act.culprits.end());
        for (const Player& player : judges_of(act.fraud, act.tolerance)) {
            if (player.is_dishonest) {
                names.insert(player.name);
            }
        }
    }
    return names;
}

/// Of one task: slashes of the honest, and rewards that went to the wrong or to nobody.
std::uint64_t harm_of_history(Network& network, const Act& act, const std::set<std::string>& dishonest) {
    std::uint64_t harm = 0;
    std::uint64_t rewarded = 0;
    bool completed = false;
    for (const HistoryRecord& record : act.story->records()) {
        completed = completed || std::holds_alternative<history::Completed>(record.event);
        if (const auto* slashed = std::get_if<history::Slashed>(&record.event)) {
            // Who demands has chosen to pay (GRP-14).
            const bool is_chosen = slashed->reason == Reason::kDemand && slashed->from == record.actor;
            const bool is_harm = !is_chosen && !dishonest.contains(network.name_of(slashed->from));
            harm += is_harm ? slashed->amount.grains : 0;
        } else if (const auto* paid = std::get_if<history::Paid>(&record.event)) {
            rewarded += paid->reason == Reason::kReward ? paid->amount.grains : 0;
        }
    }
    const bool is_honest = !dishonest.contains(act.solver);
    if (is_honest && completed && rewarded == 0) {
        const auto task = network.rpc().task(act.story->task());
        harm += task ? task->spec.reward.grains : 0;
    }
    return harm + (is_honest ? 0 : rewarded);
}

/// What the moves of its disputes cost the honest, beyond what they were paid for them.
std::uint64_t harm_of_moves(Network& network, const Act& act, const std::set<std::string>& dishonest) {
    std::uint64_t fees = 0;
    for (const DisputeId& id : network.rpc().disputes(act.story->task())) {
        const auto dispute = network.rpc().dispute(id);
        const auto is_dishonest = [&](const AccountId& party) { return dishonest.contains(network.name_of(party)); };
        if (!dispute || is_dishonest(dispute->responder) == is_dishonest(dispute->challenger)) {
            continue;  // of honest parties alone, as where a verdict was forced, or of dishonest ones
        }
        for (const Tx& move : network.rpc().dispute_moves(id)) {
            const auto& action = move.body.action;
            const bool is_of_game = std::holds_alternative<RevealMove>(action) ||
                                    std::holds_alternative<SelectMove>(action) ||
                                    std::holds_alternative<ProveMove>(action);
            fees += is_of_game && !is_dishonest(move.body.sender) ? move.body.fee.grains : 0;
        }
    }
    std::uint64_t won = 0;
    for (const HistoryRecord& record : act.story->records()) {
        const auto* paid = std::get_if<history::Paid>(&record.event);
        if (paid != nullptr && paid->reason == Reason::kWonDispute && !dishonest.contains(network.name_of(paid->to))) {
            won += paid->amount.grains;
        }
    }
    return fees - std::min(fees, won);
}

/// Of a task of an outsider: what the honest lost, and paid to send what was asked of them, beyond what it paid them.
std::uint64_t harm_of_bait(Network& network, const TaskId& task, const std::set<std::string>& dishonest) {
    const auto is_dishonest = [&](const AccountId& account) { return dishonest.contains(network.name_of(account)); };
    std::uint64_t slashed = 0;
    std::uint64_t paid = 0;
    std::set<Hash256> sent;
    for (const HistoryRecord& record : history_of(network, task)) {
        if (const auto* penalty = std::get_if<history::Slashed>(&record.event)) {
            slashed += is_dishonest(penalty->from) ? 0 : penalty->amount.grains;
        } else if (const auto* payment = std::get_if<history::Paid>(&record.event)) {
            paid += payment->to.is_zero() || is_dishonest(payment->to) ? 0 : payment->amount.grains;
        }
        if (!record.tx.is_zero() && !is_dishonest(record.actor)) {
            sent.insert(record.tx);
        }
    }
    std::uint64_t fees = 0;
    for (const Hash256& tx : sent) {
        fees += std::stoull(network.rpc().call("tx_get", {{"hash", to_hex(tx.view())}}).at("fee").get<std::string>());
    }
    return slashed + fees - std::min(fees, paid);
}

}  // namespace

nlohmann::json make_attack(
    Network& network, const std::vector<Act>& acts, Outsider* outsider, const Supply& before, const Supply& after
) {
    const std::set<std::string> dishonest = dishonest_of(acts, outsider);
    const auto spent = [&](const std::string& name) {
        return static_cast<std::int64_t>(before.accounts.at(name)) - static_cast<std::int64_t>(after.accounts.at(name));
    };
    std::int64_t paid = 0;
    for (const std::string& name : dishonest) {
        paid += spent(name);
    }
    std::uint64_t harm = 0;
    for (const Act& act : acts) {
        harm += harm_of_history(network, act, dishonest) + harm_of_moves(network, act, dishonest);
    }
    if (outsider == nullptr) {
        return {{"paid", paid}, {"harm", harm}};
    }
    std::int64_t paid_outside = 0;
    for (const auto& [name, unused] : outsider->funds()) {
        paid_outside += spent(name);
    }
    std::uint64_t harm_outside = outsider->harm();
    for (const TaskId& task : outsider->tasks()) {
        harm_outside += harm_of_bait(network, task, dishonest);
    }
    if (outsider->is_accomplice()) {
        return {{"paid", paid}, {"harm", harm + harm_outside}};  // what one of them pays the other wins
    }
    return {
        {"paid", paid}, {"harm", harm + harm_outside}, {"outsider", {{"paid", paid_outside}, {"harm", harm_outside}}}};
}

std::vector<std::string> judge_attack(const nlohmann::json& attack) {
    std::vector<std::string> complaints;
    const auto judge = [&](const nlohmann::json& sums) {
        const auto paid = sums.at("paid").get<std::int64_t>();
        const auto harm = sums.at("harm").get<std::int64_t>();
        if (harm > std::max<std::int64_t>(paid, 0)) {
            std::string complaint = "honest accounts lost " + std::to_string(harm) +
                                    " grains to an attack that cost its author " + std::to_string(paid);
            if (complaints.empty() || complaints.back() != complaint) {
                complaints.push_back(std::move(complaint));
            }
        }
    };
    judge(attack);
    if (attack.contains("outsider")) {
        judge(attack.at("outsider"));  // a cheat that is convicted beside it would hide what it does
    }
    return complaints;
}

}  // namespace assay::demo
