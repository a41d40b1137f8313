// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/report.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <variant>

#include <tools/demo/network.hpp>
#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/jmt.hpp>
#include <client/audit.hpp>
#include <tools/demo/attack.hpp>
#include <tools/demo/cast.hpp>
#include <tools/demo/endings.hpp>
#include <tools/demo/hunt.hpp>

namespace assay::demo {
namespace {

using namespace contracts;
using nlohmann::json;

/// A slot's value at a height, proven against the app hash that the node names.
template <class T>
std::optional<T> proven_slot(Network& network, const Bytes& key, Height height) {
    const json answer = network.rpc().call("chain_proof", {{"key", to_hex(key)}, {"height", height.value}});
    const auto app_hash = fixed_from_hex<Hash256>(answer.at("app_hash").get<std::string>());
    const auto proof_bytes = from_hex(answer.at("proof").get<std::string>());
    std::optional<Bytes> value;
    if (!answer.at("value").is_null()) {
        value = from_hex(answer.at("value").get<std::string>());
    }
    if (!app_hash || !proof_bytes) {
        throw std::runtime_error("the node's proof is not hex");
    }
    const auto proof = codec::decode<merkle::JmtProof>(*proof_bytes);
    if (!proof || !merkle::verify_proof(*app_hash, key, value, *proof)) {
        throw std::runtime_error("the node's proof of slot " + to_hex(key) + " does not verify");
    }
    if (!value) {
        return std::nullopt;
    }
    auto decoded = codec::decode<T>(*value);
    if (!decoded) {
        throw std::runtime_error("the proven slot " + to_hex(key) + " does not decode");
    }
    return *std::move(decoded);
}

std::uint64_t stake_total(const Stake& stake) {
    std::uint64_t total = stake.free.grains + stake.locked.grains;
    for (const Unbonding& unbonding : stake.unbonding) {
        total += unbonding.amount.grains;
    }
    return total;
}

/// What a task holds of its submitter's money.
std::uint64_t held_by(const Task& task) { return task.escrow.grains + task.room.grains; }

json dispute_entry(Network& network, const Act& act, const DisputeId& id) {
    const json d = network.rpc().call("dispute_get", {{"dispute", to_hex(id.view())}});
    return {
        {"id", d.at("id")},
        {"kind", to_string(act.fraud)},
        {"task", d.at("task")},
        {"segment", d.at("segment")},
        {"challenger", d.at("challenger")},
        {"rounds", d.at("rounds")},
        {"onchain_bytes", d.at("onchain_bytes")},
        {"referee_us", d.at("referee_us")},
        {"pinpoint", d.at("pinpoint")},
        {"verdict", d.at("state")},
        {"reason", d.at("reason")},
        {"slashed", grains(d.at("slashed"))},
        {"paid", grains(d.at("paid"))},
        {"burned", grains(d.at("burned"))},
    };
}

bool has_paid(const Act& act, Reason reason) {
    const auto& records = act.story->records();
    return std::any_of(records.begin(), records.end(), [reason](const HistoryRecord& record) {
        const auto* paid = std::get_if<history::Paid>(&record.event);
        return paid != nullptr && paid->reason == reason;
    });
}

bool has_slashed(const Act& act, Reason reason) {
    const auto& records = act.story->records();
    return std::any_of(records.begin(), records.end(), [reason](const HistoryRecord& record) {
        const auto* slashed = std::get_if<history::Slashed>(&record.event);
        return slashed != nullptr && slashed->reason == reason;
    });
}

json task_entry(Network& network, const Act& act) {
    const json t = network.rpc().call("task_get", {{"task", to_hex(act.story->task().view())}});
    return {
        {"id", t.at("id")},
        {"title", t.at("title")},
        {"state", t.at("state")},
        {"fraud", to_string(act.fraud)},
        {"solver", t.at("solver")},
        {"reward", grains(t.at("reward"))},
        {"checkpoints", t.at("checkpoints")},
        {"score", t.at("score")},
        {"history", act.story->records_json()},
    };
}

}  // namespace

Supply count_supply(Network& network, const std::vector<Act>& acts, const Outsider* outsider) {
    Supply supply;
    const Height height = network.rpc().height();  // of everything, for the chain goes on
    const auto record = proven_slot<contracts::Supply>(network, keys::supply(), height);
    if (!record) {
        throw std::runtime_error("the chain has no supply record");
    }
    supply.genesis = record->genesis.grains;
    supply.burned = record->burned.grains;
    supply.treasury = record->treasury.grains;
    supply.total = supply.treasury;
    for (const auto& [name, unused] : network.actors()) {
        const AccountId account = network.key(name).account();
        std::uint64_t& owned = supply.accounts[name];
        if (const auto a = proven_slot<Account>(network, keys::account(account), height)) {
            owned += a->balance.grains;
        }
        for (const Role role : {Role::kSolver, Role::kVerifier, Role::kWhistleblower, Role::kValidator}) {
            if (const auto stake = proven_slot<Stake>(network, keys::stake(role, account), height)) {
                owned += stake_total(*stake);
            }
        }
        supply.total += owned;
    }
    for (const Act& act : acts) {
        if (const auto task = proven_slot<Task>(network, keys::task(act.story->task()), height)) {
            supply.total += held_by(*task);
        }
    }
    for (const TaskId& id : outsider != nullptr ? outsider->tasks() : std::vector<TaskId>{}) {
        if (const auto task = proven_slot<Task>(network, keys::task(id), height)) {
            supply.total += held_by(*task);
            supply.accounts.at(network.name_of(task->submitter)) += held_by(*task);
        }
    }
    return supply;
}

json make_report(Network& network, const std::vector<Act>& acts, Outsider* outsider, const Supply& before) {
    json report;
    report["tasks"] = json::array();
    report["disputes"] = json::array();
    for (const Act& act : acts) {
        report["tasks"].push_back(task_entry(network, act));
        for (const DisputeId& id : network.rpc().disputes(act.story->task())) {
            report["disputes"].push_back(dispute_entry(network, act, id));
        }
    }
    const Supply after = count_supply(network, acts, outsider);
    report["supply"] = {
        {"before", before.total},
        {"after", after.total},
        {"burned", after.burned - before.burned},
        {"treasury", after.treasury},
        {"genesis", after.genesis}};
    report["attack"] = make_attack(network, acts, outsider, before, after);
    if (cast_of(acts.front().fraud).hunts_jackpots) {
        report["hunt"] = make_hunt(network, acts.front(), before, after);
    }
    const TaskId audited = acts.front().story->task();
    const client::AuditResult audit = client::audit_task(network.rpc(), audited);
    report["audit"] = {
        {"task", to_hex(audited.view())},
        {"proof_verified", audit.verified},
        {"records", audit.records},
        {"height", audit.height},
        {"app_hash", to_hex(audit.app_hash.view())}};
    if (!audit.verified) {
        report["audit"]["problem"] = audit.problem;
    }
    return report;
}

namespace {

/// In tolerance mode too: what is not trained is not measured.
bool is_judged_by_equality(Fraud fraud) { return fraud == Fraud::kInit || fraud == Fraud::kScore; }

class ReportJudge {
  public:
    explicit ReportJudge(const json& report) : report_(report) {}
    void expect(bool condition, const std::string& complaint) {
        if (!condition) {
            complaints_.push_back(complaint);
        }
    }
    void expect_none(const std::string& label, const std::vector<std::string>& complaints) {
        for (const std::string& complaint : complaints) {
            expect(false, std::string(label).append(": ").append(complaint));
        }
    }
    void judge_act(std::size_t index, const Act& act);
    void judge_limits();
    std::vector<std::string> complaints() && { return std::move(complaints_); }

  private:
    /// How many of an act's disputes ended so.
    struct Verdicts {
        std::size_t refuted = 0;
        std::size_t upheld = 0;
        std::size_t forced = 0;
    };
    void judge_disputes(const Act& act, const json& task, const Verdicts& found);
    void judge_pinpoint(const Act& act, const json& dispute);

    const json& report_;
    std::vector<std::string> complaints_;
};

void ReportJudge::judge_act(std::size_t index, const Act& act) {
    if (!act.culprits.empty()) {
        return;
    }
    const json& task = report_.at("tasks").at(index);
    const std::string state = task.at("state");
    const std::string label = act.story->label();
    const bool convicts = cast_of(act.fraud).convicts;
    const std::string wanted = convicts ? "convicted" : "settled";
    expect(state == wanted, label + ": the task ended " + state + ", not " + wanted);
    std::size_t refuted = 0;
    std::size_t upheld = 0;
    std::size_t forced = 0;
    for (const json& dispute : report_.at("disputes")) {
        if (dispute.at("task") != task.at("id")) {
            continue;
        }
        const std::string verdict = dispute.at("verdict");
        refuted += verdict == "refuted" ? 1U : 0U;
        upheld += verdict == "upheld" ? 1U : 0U;
        forced += verdict == "forced" ? 1U : 0U;
        if (verdict == "refuted" && convicts && !act.tolerance) {
            judge_pinpoint(act, dispute);
        }
    }
    if (act.fraud == Fraud::kWithhold || act.fraud == Fraud::kWithholdAll) {
        expect_none(label, judge_withheld(act));
        return;
    }
    if (is_of_private(act.fraud)) {
        expect_none(label, convicts ? judge_keys(act) : judge_refused(act));
        return;
    }
    if (act.tolerance && convicts && !is_judged_by_equality(act.fraud)) {
        expect(has_slashed(act, Reason::kBeyondTolerance), label + ": the solver was not convicted by the distance");
        return;
    }
    judge_disputes(act, task, {.refuted = refuted, .upheld = upheld, .forced = forced});
}

void ReportJudge::judge_disputes(const Act& act, const json& task, const Verdicts& found) {
    const std::string label = act.story->label();
    const auto& [refuted, upheld, forced] = found;
    switch (act.fraud) {
        case Fraud::kNone:
            expect(task.at("score").is_number() || !act.is_scored, label + ": the task settled without a score");
            [[fallthrough]];
        case Fraud::kBait:
        case Fraud::kWaiting:
        case Fraud::kDraft:
        case Fraud::kTarpit:
        case Fraud::kDoubleProposal:
        case Fraud::kFarm:
            expect(refuted + upheld == 0, label + ": an honest task was disputed");
            break;
        case Fraud::kFalseAccuser:
        case Fraud::kFlood:
        case Fraud::kReject:
            expect(upheld >= 1, label + ": the accuser was not refuted");
            expect(refuted == 0, label + ": an honest solver was convicted");
            break;
        case Fraud::kDivergence:
            expect_none(label, judge_invented(act));
            break;
        case Fraud::kLazy:
        case Fraud::kCopycat:
        case Fraud::kInflate:
        case Fraud::kMisprofile:
            expect(refuted >= 1, label + ": what was claimed without a replay, or overstated, was not refuted");
            expect(upheld == 0, label + ": somebody challenged what was right");
            break;
        case Fraud::kForced:
            expect(forced >= 1 && refuted + upheld == 0, label + ": no forced verdict was challenged");
            expect(has_paid(act, Reason::kJackpot), label + ": nobody won a jackpot");
            break;
        case Fraud::kFreeRider:
        case Fraud::kInsider:
            expect(refuted + upheld == 0, label + ": somebody challenged what was right, or published what was wrong");
            expect_none(label, judge_hunt(report_.at("hunt")));
            break;
        default:
            expect(refuted >= 1, label + ": the fraud was not convicted by a dispute");
            break;
    }
}

void ReportJudge::judge_pinpoint(const Act& act, const json& dispute) {
    const json& at = dispute.at("pinpoint");
    const std::string where = at.dump();
    const std::string label = act.story->label();
    expect(dispute.at("reason") == "lost_dispute", label + ": convicted by a clock, not by the one-step verifier");
    expect(at.contains("op") && !at.at("op").is_null(), label + ": the dispute was not bisected down to a node");
    expect(
        dispute.at("referee_us").is_number() && dispute.at("referee_us").get<double>() < 1000.0,
        label + ": the one-step verifier took a millisecond or more"
    );
    if (!act.confession || at.at("op").is_null()) {
        expect(act.confession.has_value(), label + ": the dishonest worker did not say what it did");
        return;
    }
    const json& did = *act.confession;
    for (const char* field : {"step", "node"}) {
        if (did.contains(field) && !did.at(field).is_null()) {
            expect(
                at.at(field) == did.at(field), std::string(label)
                                                       .append(": pinpointed ")
                                                       .append(where)
                                                       .append(", but the fraud was at ")
                                                       .append(field) +
                                                   " " + did.at(field).dump()
            );
        }
    }
    if (did.contains("tile") && !did.at("tile").is_null()) {
        expect(
            at.at("tile") == did.at("tile"),
            label + ": pinpointed " + where + ", but tile " + did.at("tile").dump() + " was altered"
        );
    }
}

void ReportJudge::judge_limits() {
    for (const json& dispute : report_.at("disputes")) {
        expect(dispute.at("rounds") <= 8, "a dispute took more than 8 rounds");
        expect(dispute.at("onchain_bytes") <= 65'536, "a dispute took more than 64 KB");
    }
    const json& supply = report_.at("supply");
    expect(
        supply.at("before").get<std::uint64_t>() ==
            supply.at("after").get<std::uint64_t>() + supply.at("burned").get<std::uint64_t>(),
        "money was not conserved: before is not after and burned"
    );
    expect(report_.at("audit").at("proof_verified") == true, "the audit did not verify");
}

}  // namespace

std::vector<std::string> judge_report(const json& report, const std::vector<Act>& acts) {
    ReportJudge judge(report);
    for (std::size_t i = 0; i < acts.size(); ++i) {
        judge.judge_act(i, acts[i]);
    }
    judge.judge_limits();
    for (const std::string& complaint : judge_attack(report.at("attack"))) {
        judge.expect(false, complaint);
    }
    return std::move(judge).complaints();
}

void print_table(Network& network, Narrator& narrator, const std::vector<Act>& acts) {
    struct Row {
        std::uint64_t paid = 0;
        std::uint64_t slashed = 0;
        std::string why;
    };
    std::map<std::string, Row> rows;
    const auto note = [](Row& row, const std::string& text) {
        if (row.why.find(text) == std::string::npos) {
            row.why += (row.why.empty() ? "" : ", ") + text;
        }
    };
    for (const Act& act : acts) {
        for (const HistoryRecord& record : act.story->records()) {
            if (const auto* paid = std::get_if<history::Paid>(&record.event)) {
                const char* nobody = paid->reason == Reason::kRoom ? "burned" : "treasury";
                Row& row = rows[paid->to.is_zero() ? nobody : network.name_of(paid->to)];
                row.paid += paid->amount.grains;
                note(row, to_string(paid->reason));
            } else if (const auto* slashed = std::get_if<history::Slashed>(&record.event)) {
                Row& row = rows[network.name_of(slashed->from)];
                row.slashed += slashed->amount.grains;
                note(row, to_string(slashed->reason));
            }
        }
    }
    narrator.heading("who was paid and who was slashed");
    std::array<char, 256> text{};
    std::snprintf(text.data(), text.size(), "  %-16s %16s %16s   %s", "account", "paid", "slashed", "why");
    narrator.plain(text.data());
    for (const auto& [name, row] : rows) {
        std::snprintf(
            text.data(), text.size(), "  %-16s %16s %16s   %s", name.c_str(),
            row.paid == 0 ? "-" : format_amount(Amount{row.paid}).c_str(),
            row.slashed == 0 ? "-" : format_amount(Amount{row.slashed}).c_str(), row.why.c_str()
        );
        narrator.plain(text.data());
    }
}

}  // namespace assay::demo
