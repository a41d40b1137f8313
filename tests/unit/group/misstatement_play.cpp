// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/group/misstatement_play.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <contracts/tasks/actions/seat_actions.hpp>
#include <verifier/group/equivocation.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>

namespace assay::group::testing {

using adversary::Misstated;
using adversary::Misstatement;
using contracts::DisputeId;
using contracts::DisputeState;
using contracts::Reason;
using contracts::Role;
using contracts::TaskState;

namespace {

constexpr std::uint32_t kSteps = 3;
constexpr Misstatement kKinds[] = {Misstatement::kShard,   Misstatement::kZeros, Misstatement::kStale,
                                   Misstatement::kReduce,  Misstatement::kStage, Misstatement::kEquivocate,
                                   Misstatement::kWithhold};

std::uint32_t below(std::mt19937_64& random, std::size_t end) { return static_cast<std::uint32_t>(random() % end); }

/// Whether the plot is one of more than two members: who has one other member tells nobody two things.
bool needs_three(const Plot& plot) { return !plot || *plot == Misstatement::kEquivocate; }

}  // namespace

std::vector<Plot> all_plots() {
    std::vector<Plot> out(std::begin(kKinds), std::end(kKinds));
    out.emplace_back(std::nullopt);
    return out;
}

std::string to_string(const Plot& plot) { return plot ? adversary::to_string(*plot) : "collude"; }

Trained::Trained(Model of)
    : model(std::move(of)),
      truth(model.world, false, kSeed),
      segment(dispute::testing::make_claim(model.world, truth, false, 0, kSteps, kSeed)) {
    const std::vector<std::pair<const char*, std::uint32_t>> all{
        {"dp", 2},     {"tp", 2},        {"pp", 2},        {"zero1", 2},        {"zero2", 2},     {"zero3", 2},
        {"dp2tp2", 4}, {"dp2pp2", 4},    {"tp2pp2", 4},    {"dp2pp2+1f1b2", 4}, {"pp4", 4},       {"tp4", 4},
        {"dp4", 4},    {"zero1+tp2", 4}, {"zero2+pp2", 4}, {"zero1+pp2", 4},    {"zero3+tp2", 4}, {"zero3+pp2", 4}};
    for (const auto& [name, ranks] : all) {
        const plan::Layout layout = plan::decode_layout(name, ranks).value();
        const plan::Plan plan = plan::make_plan(model.program, layout);
        if (!plan::unstatable_node(plan, model.program.step)) {
            layouts.push_back(layout);
        }
    }
}

Play::Play(Trained& trained, const Plot& plot, std::uint64_t seed)
    : random_(seed),
      trained_(trained),
      plot_(plot),
      layout_(choose_layout()),
      lies_(choose_lies()),
      at_(trained.model, layout_, kSteps) {}

std::string Play::description() const {
    std::ostringstream out;
    out << to_string(plot_) << ": " << trained_.model.name << " " << plan::to_string(layout_);
    for (const auto& [rank, lie] : lies_) {
        out << ", rank " << rank << " " << to_string(lie.kind) << " " << lie.first_step << "-" << lie.last_step;
    }
    return out.str();
}

plan::Layout Play::choose_layout() {
    std::vector<plan::Layout> fitting;
    std::copy_if(
        trained_.layouts.begin(), trained_.layouts.end(), std::back_inserter(fitting),
        [&](const plan::Layout& layout) { return layout.ranks() > 2 || !needs_three(plot_); }
    );
    return fitting.at(below(random_, fitting.size()));
}

Misstated Play::choose_lie(Misstatement kind, std::uint64_t first_step) {
    const auto more = below(random_, kSteps - first_step);
    return {.kind = kind, .first_step = first_step, .last_step = first_step + more};
}

/// One liar, or all but one, which lie about the same step.
Play::Lies Play::choose_lies() {
    Lies out;
    const auto first_step = below(random_, kSteps);
    const auto chosen = below(random_, layout_.ranks());
    if (plot_) {
        // There is nothing stale in the first step.
        const std::uint32_t least = *plot_ == Misstatement::kStale ? 1 : 0;
        out[chosen] = choose_lie(*plot_, std::max(first_step, least));
        return out;
    }
    for (std::uint32_t rank = 0; rank < layout_.ranks(); ++rank) {
        if (rank != chosen) {
            const Misstatement kind = kKinds[below(random_, std::size(kKinds) - 1)];  // the last one ends the session
            const bool has_before = kind != Misstatement::kStale || first_step > 0;
            out[rank] = choose_lie(has_before ? kind : Misstatement::kShard, first_step);
        }
    }
    return out;
}

std::uint32_t Play::honest_rank() const {
    std::uint32_t rank = 0;
    while (is_liar(rank)) {
        ++rank;
    }
    return rank;
}

/// What colluding members do who have to answer: show who misled them, say nothing, or accuse the honest one.
Evasion Play::choose_evasion() {
    Evasion out;
    const auto way = plot_ ? 0U : below(random_, 3);
    if (way == 1) {
        for (const auto& [rank, lie] : lies_) {
            out.silent.insert(rank);
        }
        note("silent");
    } else if (way == 2) {
        out.scapegoat = honest_rank();
        note("scapegoat");
    }
    return out;
}

std::string Play::find_fault() {
    Doubles doubles;
    doubles.misstated = lies_;
    doubles.ends = true;
    run_ = at_.train(doubles);
    at_.post_start();
    if (plot_ == Misstatement::kWithhold) {
        return after_withholding();
    }
    for (const auto& step : {&Play::look_at_findings, &Play::accuse_honest, &Play::report_equivocation}) {
        const std::string fault = (this->*step)();
        if (!fault.empty()) {
            return fault;
        }
    }
    if (run_.root == trained_.segment.after) {
        return after_right_root();
    }
    const bool do_compare = below(random_, 2) == 0;  // before they claim what they computed
    return !run_.root || do_compare ? after_comparing() : after_wrong_root();
}

/// Everybody's session ends with an error that names who has left; who left because of another, leads to that one.
std::string Play::after_withholding() {
    note("left");
    const std::uint32_t liar = lies_.begin()->first;
    for (std::uint32_t rank = 0; rank < at_.ranks(); ++rank) {
        std::uint32_t blamed = rank;
        for (std::uint32_t i = 0; i < at_.ranks() && blamed != liar; ++i) {
            const auto& error = run_.rank_errors[blamed];
            if (!error || error->fault() != engine::RankFault::kGone) {
                return "rank " + std::to_string(blamed) + " ended with: " + run_.failures[blamed];
            }
            blamed = error->rank();
        }
        if (blamed != liar) {
            return "rank " + std::to_string(rank) + " does not blame who has left";
        }
    }
    if (run_.root || group::find_first_wrong(told(), trained_.segment, trained_.truth)) {
        return "the session went on without a member, or something was wrong in it";
    }
    return after_demands(liar);
}

/// GRP-14: both pay the same, twice; then who withholds has no seat any more, and the others end the task.
std::string Play::after_demands(std::uint32_t liar) {
    const std::uint32_t accuser = liar == 0 ? 1 : 0;
    const std::uint64_t cost =
        contracts::demand_cost(at_.chain.params, contracts::task_value(at_.chain.task(at_.id).spec)).grains;
    for (const std::uint64_t times : {1U, 2U}) {
        if (at_.chain.run(at_.accounts[accuser], contracts::Demand{at_.id, at_.accounts[liar].id}) != 0) {
            return "the demand was refused";
        }
        demanded_[accuser] = times * cost;
        if (at_.has(liar) != at_.had(liar) - times * cost) {
            return "who withholds has not paid for the demand";
        }
    }
    const auto seats = contracts::seats_for(at_.chain.task(at_.id), 1);
    const bool has_seat = std::find(seats.begin(), seats.end(), static_cast<std::uint8_t>(liar)) != seats.end();
    if (has_seat != (liar == 0)) {
        return "who withholds has a seat still, or the lead has none";
    }
    has_effect_ = true;
    at_.post(trained_.segment.after);
    at_.chain.end_windows(at_.id);
    contracts::test::await_state(at_.chain, at_.id, TaskState::kSettled);
    return at_.chain.task(at_.id).group->culprits.empty() ? check_honest() : "somebody was convicted of leaving";
}

std::vector<std::shared_ptr<const group::Told>> Play::told() const {
    std::vector<std::shared_ptr<const group::Told>> out;
    for (const auto& ledger : run_.ledgers) {
        const auto each = ledger->told(0);
        out.insert(out.end(), each.begin(), each.end());
    }
    return out;
}

/// A colluding member accuses the honest one of what is right, by forged evidence.
std::string Play::accuse_honest() {
    const std::uint32_t honest = honest_rank();
    const std::uint32_t accuser = honest == 0 ? 1 : 0;
    if (!plot_ && accuse_falsely(at_, run_, accuser, honest, trained_.truth)) {
        note("accused falsely");
        false_accuser_ = accuser;
        const std::uint64_t lost =
            contracts::challenger_bond(at_.chain.params, contracts::task_value(at_.chain.task(at_.id).spec)).grains;
        if (at_.has(accuser) != at_.had(accuser) - lost) {
            return "who accused falsely has not lost a challenger's bond";
        }
    }
    return check_honest();
}

/// STM-3: whom one honest member finds to equivocate when the segment ends, all others know as well, and the lead
/// before it posts anything.
std::string Play::look_at_findings() {
    std::map<AccountId, std::uint32_t> finders;  // honest ones
    std::uint32_t honest = 0;
    for (std::uint32_t rank = 0; rank < at_.ranks(); ++rank) {
        honest += is_liar(rank) ? 0U : 1U;
        for (const group::Finding& found : run_.findings[rank]) {
            const bool is_right = is_liar(found.evidence.author) &&
                                  found.member == at_.accounts[found.evidence.author].id &&
                                  dispute::check_equivocation(found.evidence.one, found.evidence.other).has_value();
            if (!is_right) {
                return "rank " + std::to_string(rank) + " has found what nobody did";
            }
            finders[found.member] += is_liar(rank) ? 0U : 1U;
        }
    }
    for (const auto& [member, times] : finders) {
        if (times != 0 && times != honest) {
            return "an honest member does not know of an equivocator whom another one has found";
        }
        note("found when the segment ended");
    }
    const auto lead = is_liar(0) ? nullptr : run_.ledgers[0];
    for (const group::Finding& found : lead ? run_.findings[0] : std::vector<group::Finding>()) {
        const auto all = lead->told(0);
        const bool was_told = std::any_of(all.begin(), all.end(), [&](const auto& told) {
            return told->statement == found.evidence.one.statement || told->statement == found.evidence.other.statement;
        });
        if (!was_told) {
            note("shown to a lead that was told neither");
        }
    }
    return {};
}

/// STM-7, STM-11: two honest members, or three, compare what they were told.
std::string Play::report_equivocation() {
    const auto found = group::find_equivocation(told());
    if (!found) {
        return {};
    }
    const auto lie = lies_.find(found->author);
    // What is stale in the step is not when the lead takes it after the step.
    const bool has_lied_twice = lie != lies_.end() && (lie->second.kind == Misstatement::kEquivocate ||
                                                       lie->second.kind == Misstatement::kStale);
    if (!has_lied_twice) {
        return "rank " + std::to_string(found->author) + " seems to have equivocated";
    }
    note("equivocated");
    if (plot_ != Misstatement::kEquivocate && below(random_, 2) == 0 && run_.root != trained_.segment.after) {
        return {};  // the first wrong value convicts it as well
    }
    const contracts::ReportEquivocation report{
        .task = at_.id,
        .member = at_.accounts[found->author].id,
        .one = found->one,
        .one_signature = found->one_signature,
        .other = found->other,
        .other_signature = found->other_signature};
    if (at_.chain.run(at_.accounts[honest_rank()], report) != 0) {
        return "the report of two values was refused";
    }
    note("reported");
    return check_convicted();
}

/// What one member alone was told may come to nothing, and convicts its author all the same.
std::string Play::after_right_root() {
    note("right root");
    const bool was_convicted = !at_.chain.task(at_.id).group->culprits.empty();
    if (const auto fault = was_convicted ? std::nullopt : compare(); fault && !fault->empty()) {
        return *fault;
    }
    const auto convicted = at_.chain.task(at_.id).group->culprits;
    at_.post(*run_.root);
    at_.chain.end_windows(at_.id);
    contracts::test::await_state(at_.chain, at_.id, TaskState::kSettled);
    if (at_.chain.task(at_.id).group->culprits != convicted) {
        return "somebody was convicted of a right state";
    }
    for (std::uint32_t rank = 0; rank < at_.ranks() && convicted.empty() && plot_; ++rank) {
        if (at_.has(rank) != at_.had(rank)) {
            return "rank " + std::to_string(rank) + " lost something by a right state";
        }
    }
    return check_honest();
}

/// Members compare what they were told with their own replays, and the first that was misled accuses, an honest one or
/// not.
std::optional<std::string> Play::compare() {
    const std::uint32_t begin = below(random_, at_.ranks());
    for (std::uint32_t i = 0; i < at_.ranks(); ++i) {
        const std::uint32_t rank = (begin + i) % at_.ranks();
        // STM-8: nobody accuses a member of two things in one segment.
        const auto asked = rank == false_accuser_ ? std::nullopt : accuse(at_, run_, rank, trained_.truth);
        if (!asked) {
            continue;
        }
        note("answers " + std::to_string(answer(at_, run_, *asked, trained_.truth, choose_evasion())));
        return at_.chain.task(at_.id).state == TaskState::kTraining ? check_convicted() : "the task does not go on";
    }
    return std::nullopt;
}

std::string Play::after_comparing() {
    note(run_.root ? "compared" : "diverged");
    if (const auto fault = compare()) {
        return *fault;
    }
    return run_.root ? after_wrong_root() : "there is no state, and no member was told anything wrong";
}

std::string Play::after_wrong_root() {
    note("wrong root");
    at_.post(*run_.root);
    const DisputeId disputed = at_.dispute();
    note("answers " + std::to_string(answer(at_, run_, {.dispute = disputed}, trained_.truth, choose_evasion())));
    if (find_dispute(at_.chain.view, disputed)->state() != DisputeState::kRefuted ||
        at_.chain.task(at_.id).state != TaskState::kConvicted) {
        return "the wrong state was not refuted";
    }
    if (!at_.chain.slashed(at_.id, Reason::kWrongVerdict).empty()) {
        // A lead that lets its clock run out has shown nothing of the segment.
        return "a verifier lost its bond by a statement";
    }
    for (const contracts::test::Actor& each : at_.accounts) {
        if (at_.chain.stake(Role::kSolver, each).locked.grains != 0) {
            return "stake is locked for a task that is over";
        }
    }
    return check_convicted();
}

/// Exactly liars have lost, and those that are on record as culprits: of one liar that one.
std::string Play::check_convicted() {
    const contracts::Task task = at_.chain.task(at_.id);
    auto culprits = task.group->culprits;
    if (culprits.empty() && task.state == TaskState::kConvicted) {
        culprits.push_back(0);  // the lead, for the segment that it has posted and does not defend
    }
    if (culprits.empty()) {
        return "nobody was convicted";
    }
    for (const std::uint8_t member : culprits) {
        if (!is_liar(member)) {
            return "rank " + std::to_string(member) + " was convicted";
        }
        if (at_.has(member) >= at_.had(member)) {
            return "rank " + std::to_string(member) + " was convicted and lost nothing";
        }
    }
    // Who has told no two members the same tells one something wrong instead, as others do.
    const bool is_reported = std::find(outcomes_.begin(), outcomes_.end(), "reported") != outcomes_.end();
    has_effect_ = plot_ != Misstatement::kEquivocate || is_reported;
    return check_honest();
}

/// What the fixture has checked after each block is that no money is made or lost (LED-1).
std::string Play::check_honest() const {
    for (std::uint32_t rank = 0; rank < at_.ranks(); ++rank) {
        const auto demanded = demanded_.find(rank);
        const std::uint64_t chosen = demanded == demanded_.end() ? 0 : demanded->second;
        if (!is_liar(rank) && at_.has(rank) != at_.had(rank) - chosen) {
            return "rank " + std::to_string(rank) + " is honest and lost stake";
        }
    }
    return {};
}

}  // namespace assay::group::testing
