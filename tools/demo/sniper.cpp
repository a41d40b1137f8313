// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/sniper.hpp>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include <tools/demo/story.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;
using namespace contracts;

constexpr const char* kSniperName = "sniper";
constexpr Amount kSniperFunds{60'000'000'000};
constexpr Amount kSniperStake{20'000'000'000};
constexpr std::chrono::seconds kSniperStartPatience{60};
// It may hold its move as long as its clock leaves it so many blocks to go on.
constexpr std::uint64_t kSafeBlocks = 100;

/// Where the solver of `tile` cheats: the segment of the step in the middle (verifier/worker/fraud.cpp).
std::uint32_t cheated_segment(const TaskSpec& spec) {
    return static_cast<std::uint32_t>(spec.steps / 2 / spec.checkpoint_interval) + 1;
}

bool is_of_segment(const Dispute& dispute) { return !dispute.verdict() && !dispute.profile(); }

}  // namespace

Sniper::Sniper(Network& network, Narrator& narrator)
    : Outsider(network, {{kSniperName, kSniperFunds}}), narrator_(narrator) {}

void Sniper::prepare(const Packer& /*pack*/) {
    const Bond bond{.role = Role::kWhistleblower, .amount = kSniperStake};
    if (network_.rpc().send(network_.key(kSniperName), bond).code != 0) {
        throw std::runtime_error("the accomplice could not bond");
    }
    network_.start_worker(kSniperName, {"whistleblow", "--threads", "1"});
    network_.await_workers(kSniperStartPatience);
    narrator_.plain(
        "  the solver's accomplice, sniper, bonds 20 ASY as whistleblower; it knows where the solver will cheat"
    );
}

void Sniper::open(const Task& own) {
    segment_ = cheated_segment(own.spec);
    own_ = own.id;
    const Action action = OpenDispute{.task = own.id, .segment = segment_, .role = Role::kWhistleblower};
    const auto nonce = account(kSniperName).at("next_nonce").get<std::uint64_t>();
    if (submit(kSniperName, nonce, fee_of(action, 300), action).tx) {
        phase_ = Phase::kPlaying;
        narrator_.plain("  sniper disputes segment " + std::to_string(segment_) + " at once, without a replay");
    }
}

/// Stops near the end of its own game, and goes on when somebody honest has disputed, or when its clock demands it.
void Sniper::hold(const Task& own) {
    const AccountId self = network_.key(kSniperName).account();
    std::optional<Dispute> mine;
    std::string honest;
    for (const DisputeId& id : network_.rpc().disputes(own.id)) {
        const auto dispute = network_.rpc().dispute(id);
        if (dispute && dispute->challenger == self) {
            mine = dispute;
        } else if (dispute && is_of_segment(*dispute) && dispute->segment == segment_) {
            honest = network_.name_of(dispute->challenger);
        }
    }
    if (!mine || !is_open(mine->state())) {
        return;
    }
    if (phase_ == Phase::kPlaying && mine->position.node() != nullptr) {
        network_.pause_worker(kSniperName);
        phase_ = Phase::kHolding;
        narrator_.plain("  sniper stops shortly before the end of its game, and waits for somebody honest to accuse");
    }
    const bool is_late = network_.rpc().height().value + kSafeBlocks > mine->deadline().value;
    if (phase_ == Phase::kHolding && (!honest.empty() || is_late)) {
        network_.resume_worker(kSniperName);
        phase_ = Phase::kEnding;
        narrator_.plain(
            honest.empty() ? "  nobody else accuses; sniper ends its game"
                           : "  " + honest + " accuses and pays for its moves; sniper ends its own game first"
        );
    }
}

void Sniper::act(const Task& own) {
    if (phase_ == Phase::kWaiting && is_judged(own)) {
        open(own);
    } else if (phase_ == Phase::kPlaying || phase_ == Phase::kHolding) {
        hold(own);
    }
}

std::map<std::string, Sniper::Accuser> Sniper::accusers() {
    std::map<std::string, Accuser> out;
    if (!own_) {
        return out;
    }
    for (const DisputeId& id : network_.rpc().disputes(*own_)) {
        const auto dispute = network_.rpc().dispute(id);
        if (!dispute || !is_of_segment(*dispute) || dispute->segment != segment_) {
            continue;
        }
        Accuser& accuser = out[network_.name_of(dispute->challenger)];
        ++accuser.disputes;
        accuser.has_won = accuser.has_won || dispute->state() == DisputeState::kRefuted;
        for (const Tx& tx : network_.rpc().dispute_moves(id)) {
            if (tx.body.sender != dispute->challenger || std::holds_alternative<PublishVerdict>(tx.body.action)) {
                continue;  // a verifier is paid for its verdict
            }
            accuser.spent += tx.body.fee.grains;
            accuser.opening += std::holds_alternative<OpenDispute>(tx.body.action) ? tx.body.fee.grains : 0;
        }
    }
    for (const HistoryRecord& record : history_of(network_, *own_)) {
        const auto* paid = std::get_if<history::Paid>(&record.event);
        if (paid != nullptr && paid->reason == Reason::kWonDispute) {
            out[network_.name_of(paid->to)].earned += paid->amount.grains;
        }
    }
    return out;
}

std::uint64_t Sniper::harm() {
    std::uint64_t lost = 0;
    for (const auto& [name, accuser] : accusers()) {
        lost += name == kSniperName || accuser.earned > accuser.spent ? 0 : accuser.opening;
    }
    return lost;
}

json Sniper::report() {
    json honest = json::array();
    json sniper = nullptr;
    json won_by = nullptr;
    std::uint64_t prize = 0;
    for (const auto& [name, accuser] : accusers()) {
        const json entry{
            {"account", name}, {"disputes", accuser.disputes}, {"spent", accuser.spent}, {"earned", accuser.earned}};
        if (accuser.has_won) {
            won_by = name;
            prize = accuser.earned;
        }
        if (name == kSniperName) {
            sniper = entry;
        } else {
            honest.push_back(entry);
        }
    }
    return {{"segment", segment_}, {"won_by", won_by}, {"prize", prize}, {"sniper", sniper}, {"honest", honest}};
}

std::vector<std::string> Sniper::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("sniper").is_null()) {
        complaints.emplace_back("the accomplice disputed nothing, so nothing was tried");
    }
    if (report.at("won_by").is_null()) {
        complaints.emplace_back("nobody won the prize for the conviction");
    }
    for (const json& accuser : report.at("honest")) {
        if (accuser.at("earned").get<std::uint64_t>() <= accuser.at("spent").get<std::uint64_t>()) {
            complaints.push_back(accuser.at("account").get<std::string>() + " was right and is out of pocket");
        }
    }
    return complaints;
}

}  // namespace assay::demo
