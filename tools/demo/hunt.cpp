// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/hunt.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/params/by_value.hpp>
#include <tools/demo/cast.hpp>

namespace assay::demo {
namespace {

using namespace contracts;
using nlohmann::json;

using Place = std::pair<std::uint32_t, AccountId>;  ///< a segment and who judged it

bool contains(const json& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Reads the task's history into one entry for each verdict that watchers were drawn for.
class Ledger {
  public:
    Ledger(Network& network, const TaskSpec& spec) : network_(network), params_(network.rpc().params()), spec_(spec) {}

    void read(const HistoryRecord& record) {
        if (const auto* drawn = std::get_if<history::WatcherDrawn>(&record.event)) {
            entry(drawn->segment, drawn->verifier)["watchers"].push_back(network_.name_of(drawn->watcher));
        } else if (const auto* challenged = std::get_if<history::VerdictChallenged>(&record.event)) {
            json& verdict = entry(challenged->segment, challenged->verifier);
            if (verdict.at("forced").is_null()) {
                verdict["challengers"].push_back(network_.name_of(record.actor));
                challenges_[{challenged->segment, challenged->verifier}].push_back(challenged->dispute);
            }  // else it is the true result that is challenged (VER-15)
        } else if (const auto* disclosed = std::get_if<history::VerdictDisclosed>(&record.event)) {
            last_ = {disclosed->segment, disclosed->verifier};
            if (verdicts_.contains(last_)) {
                verdicts_.at(last_)["forced"] = disclosed->forced;
                verdicts_.at(last_)["sealed"] = sealed(disclosed->verdict);
            }
        } else if (const auto* paid = std::get_if<history::Paid>(&record.event)) {
            note_payment(*paid);
        }
    }

    json verdicts() const {
        json out = json::array();
        for (const auto& [place, verdict] : verdicts_) {
            out.push_back(verdict);
        }
        return out;
    }
    std::uint64_t paid(Reason reason) const {
        const auto found = paid_.find(reason);
        return found == paid_.end() ? 0 : found->second;
    }
    /// Of the verification fee.
    std::uint64_t earned_by(const std::string& verifier) const {
        const auto found = earned_.find(verifier);
        return found == earned_.end() ? 0 : found->second;
    }

  private:
    json& entry(std::uint32_t segment, const AccountId& verifier) {
        json& verdict = verdicts_[{segment, verifier}];
        if (verdict.is_null()) {
            verdict = {{"segment", segment},        {"verifier", network_.name_of(verifier)}, {"forced", nullptr},
                       {"watchers", json::array()}, {"challengers", json::array()},           {"sealed", json::array()},
                       {"won", json::array()}};
        }
        return verdict;
    }

    /// VER-16: of the verdict that was disclosed last, the watchers whose seal is of its probe root.
    json sealed(const Verdict& verdict) {
        json out = json::array();
        std::optional<Dispute> first;
        for (const DisputeId& id : challenges_[last_]) {
            const auto dispute = network_.rpc().dispute(id);
            first = first ? first : dispute;
            const std::string challenger = dispute ? network_.name_of(dispute->challenger) : "";
            const bool is_sealed = dispute &&
                                   dispute->challenged()->seal == challenge_seal(id, verdict.probe_root.value()) &&
                                   dispute->opened_at < disclosed_from(params_, spec_, *first);
            if (is_sealed && contains(verdicts_.at(last_).at("watchers"), challenger)) {
                out.push_back(challenger);
            }
        }
        return out;
    }

    void note_payment(const history::Paid& paid) {
        paid_[paid.reason] += paid.amount.grains;
        if (paid.reason == Reason::kVerificationFee) {
            earned_[network_.name_of(paid.to)] += paid.amount.grains;
        } else if (paid.reason == Reason::kJackpot) {  // by the disclosure that was recorded last
            entry(last_.first, last_.second)["won"].push_back(
                {{"account", network_.name_of(paid.to)}, {"amount", paid.amount.grains}}
            );
        }
    }

    Network& network_;
    Params params_;
    TaskSpec spec_;
    std::map<Place, json> verdicts_;
    std::map<Place, std::vector<DisputeId>> challenges_;
    Place last_;
    std::map<Reason, std::uint64_t> paid_;
    std::map<std::string, std::uint64_t> earned_;
};

std::size_t count_common(const json& names, const json& others) {
    return static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [&](const json& name) {
        return contains(others, name);
    }));
}

/// VER-16: of each of so many winners.
std::uint64_t share_of(std::uint64_t jackpot, std::size_t winners) {
    return winners == 0 ? 0 : jackpot >> (winners - 1);
}

/// What the hunters would win of the same verdicts if they replayed: where all that were drawn challenge.
std::uint64_t honest_win(const json& hunt) {
    std::uint64_t sum = 0;
    for (const json& verdict : hunt.at("verdicts")) {
        const bool is_prey = hunt.at("informant").is_null() || verdict.at("verifier") == hunt.at("informant");
        if (verdict.at("forced") == true && is_prey) {
            const json& watchers = verdict.at("watchers");
            const std::uint64_t each = share_of(hunt.at("jackpot").get<std::uint64_t>(), watchers.size());
            sum += each * count_common(watchers, hunt.at("hunters"));
        }
    }
    return sum;
}

json due_of(const Task& task, const Params& params) {
    const auto taxed = [&params](Amount amount) { return amount.grains * params.tax_bps / kBasisPoints; };
    const std::uint64_t reward_tax = taxed(task.spec.reward);
    const std::uint64_t fee_tax = taxed(task.spec.verification_fee);
    const std::uint64_t count = task.assignments.size();
    return {
        {"reward", task.spec.reward.grains - reward_tax},
        {"verification_fee", (task.spec.verification_fee.grains - fee_tax) / count * count},
        {"tax", reward_tax + fee_tax}};
}

std::int64_t gain_of(const json& hunt) {
    std::int64_t sum = 0;
    for (const json& name : hunt.at("hunters")) {
        sum += hunt.at("gains").at(name.get<std::string>()).get<std::int64_t>();
    }
    if (!hunt.at("informant").is_null()) {
        sum += hunt.at("gains").at(hunt.at("informant").get<std::string>()).get<std::int64_t>();
    }
    return sum;
}

std::string asy(std::int64_t grains) {
    const std::string text = format_amount(Amount{static_cast<std::uint64_t>(grains < 0 ? -grains : grains)});
    return grains < 0 ? "-" + text : text;
}

class HuntJudge {
  public:
    explicit HuntJudge(const json& hunt) : hunt_(hunt) {}

    std::vector<std::string> judge() && {
        bool is_played = false;
        for (const json& verdict : hunt_.at("verdicts")) {
            judge_jackpot(verdict);
            judge_challenges(verdict);
            is_played = is_played || count_common(verdict.at("challengers"), hunt_.at("hunters")) != 0;
        }
        expect(is_played, "nobody challenged without a replay");
        expect(hunt_.at("paid") == hunt_.at("due"), "the settlement paid " + hunt_.at("paid").dump());
        expect(hunt_.at("slashed") == 0, "somebody lost a bond");
        expect(
            hunt_.at("gain").get<std::int64_t>() <= hunt_.at("honest").get<std::int64_t>(),
            "who did not replay gained more than replays would have"
        );
        return std::move(complaints_);
    }

  private:
    void expect(bool condition, const std::string& complaint) {
        if (!condition) {
            complaints_.push_back(complaint);
        }
    }

    void judge_jackpot(const json& verdict) {
        // VER-16
        const json winners = verdict.at("forced") == true ? verdict.at("sealed") : json::array();
        json due = json::array();
        for (const json& name : winners) {
            due.push_back({{"account", name}, {"amount", share_of(hunt_.at("jackpot"), winners.size())}});
        }
        json won = verdict.at("won");
        std::sort(won.begin(), won.end());
        std::sort(due.begin(), due.end());
        expect(won == due, where(verdict) + " was paid for as " + verdict.at("won").dump());
    }

    void judge_challenges(const json& verdict) {
        const json& hunters = hunt_.at("hunters");
        const json& challengers = verdict.at("challengers");
        if (!hunt_.at("informant").is_null()) {
            const bool is_known = verdict.at("verifier") == hunt_.at("informant") && verdict.at("forced") == true;
            const bool is_hunted = count_common(challengers, hunters) != 0;
            expect(!is_hunted || is_known, where(verdict) + " was challenged without knowing that it was forced");
            return;
        }
        expect(
            challengers.empty() || !contains(hunters, challengers.front()),
            where(verdict) + " was challenged by a free rider first"
        );
        for (const json& watcher : verdict.at("watchers")) {
            const bool is_owed = verdict.at("forced") == true && !contains(hunters, watcher);
            expect(
                !is_owed || contains(challengers, watcher), where(verdict) + " was not challenged by its honest watcher"
            );
        }
    }

    static std::string where(const json& verdict) {
        return verdict.at("verifier").get<std::string>() + "'s verdict on segment " + verdict.at("segment").dump();
    }

    const json& hunt_;
    std::vector<std::string> complaints_;
};

}  // namespace

json make_hunt(Network& network, const Act& act, const Supply& before, const Supply& after) {
    const auto task = network.rpc().task(act.story->task());
    if (!task || task->assignments.empty()) {
        throw std::runtime_error("the task has no verdicts to hunt jackpots by");
    }
    Ledger ledger(network, task->spec);
    std::size_t slashed = 0;
    for (const HistoryRecord& record : act.story->records()) {
        ledger.read(record);
        slashed += std::holds_alternative<history::Slashed>(record.event) ? 1U : 0U;
    }
    const Params params = network.rpc().params();
    const std::uint64_t share = task->spec.verification_fee.grains / task->assignments.size();
    const std::uint64_t most = tenth_of(params.contributor_bond).grains / task->assignments.size();
    json hunt = {
        {"jackpot", std::min(share * kBasisPoints / params.forced_error_bps, most)},
        {"hunters", json::array()},
        {"informant", nullptr},
        {"verdicts", ledger.verdicts()},
        {"gains", json::object()},
        {"due", due_of(*task, params)},
        {"slashed", slashed}};
    for (const Reason reason : {Reason::kReward, Reason::kVerificationFee, Reason::kTax}) {
        hunt["paid"][to_string(reason)] = ledger.paid(reason);
    }
    for (const auto& [name, owned] : after.accounts) {
        hunt["gains"][name] = static_cast<std::int64_t>(owned - before.accounts.at(name));
    }
    for (const Player& player : judges_of(act.fraud, act.tolerance)) {
        if (player.is_dishonest) {
            hunt["hunters"].push_back(player.name);
        }
        if (!player.informant.empty()) {
            hunt["informant"] = player.informant;
        }
    }
    const std::uint64_t fees = hunt.at("informant").is_null() ? 0 : ledger.earned_by(hunt.at("informant"));
    hunt["gain"] = gain_of(hunt);
    hunt["honest"] = static_cast<std::int64_t>(honest_win(hunt) + fees);
    return hunt;
}

std::vector<std::string> judge_hunt(const json& hunt) { return HuntJudge(hunt).judge(); }

std::string describe_hunt(const json& hunt) {
    std::string who;
    for (const json& name : hunt.at("hunters")) {
        who += (who.empty() ? "" : ", ") + name.get<std::string>();
    }
    if (!hunt.at("informant").is_null()) {
        who += " and " + hunt.at("informant").get<std::string>();
    }
    return who + ": " + asy(hunt.at("gain")) + " gained, after fees of transactions; with replays " +
           asy(hunt.at("honest")) + " of the same verdicts, before them";
}

}  // namespace assay::demo
