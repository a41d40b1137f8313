// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/together_lead.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <contracts/state/group.hpp>
#include <contracts/state/members.hpp>
#include <contracts/tasks/actions/seat_actions.hpp>
#include <core/crypto/address.hpp>
#include <verifier/roles/seats.hpp>
#include <verifier/worker/journal_file.hpp>
#include <verifier/worker/link_desk.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/told.hpp>
#include <verifier/worker/together_seats.hpp>

namespace assay::worker {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr milliseconds kPatience{60'000};  // for members that do not come
constexpr milliseconds kLook{50};
constexpr std::uint32_t kBreaksMax = 10;  // of sessions within one segment, after which it is trained alone

// That each rank has computed in each of so many steps.
std::vector<double> seconds_of_step(engine::CellSession& session, std::uint64_t steps) {
    std::vector<double> out = session.take_busy();
    for (double& seconds : out) {
        seconds /= static_cast<double>(steps);
    }
    return out;
}

}  // namespace

struct TogetherLead::Team {
    std::shared_ptr<cell::Meeting> meeting;
    std::optional<Clock::time_point> asked_at;  ///< since when members are waited for
    roles::Losses losses;
    std::optional<AccountId> broke;      ///< who was gone when the last session broke off
    std::uint32_t breaks = 0;            ///< since a segment was finished
    std::optional<std::uint32_t> alone;  ///< the segment that is not trained together

    TogetherRank rank;                  ///< of the session
    plan::Layout layout;                ///< likewise
    std::vector<AccountId> seats;       ///< who had one when it began
    std::vector<std::uint32_t> counts;  ///< and how many each rank had
    std::unique_ptr<engine::CellSession> session;
    std::shared_ptr<const group::StatementCost> cost;
    std::uint32_t segment = 0;                 ///< that the session executes; 0: none yet
    std::uint64_t step = 0;                    ///< the next one
    std::size_t tensors = 0;                   ///< of the state
    std::vector<canonical::Tensor> after;      ///< what the last segment that is finished leaves
    std::chrono::duration<double> run_time{};  ///< of its steps
    milliseconds waited{};                     ///< for other ranks in it
    milliseconds patience{};                   ///< how long that may be
    bool is_advancing = false;                 ///< while it waits for others, too
    bool ends = false;                         ///< the session is closed after that
    std::uint32_t measured = 0;                ///< the last segment of which it is known how long each rank computed
    Balance balance;
};

// A session that waits for others attends to what is urgent, by which the task may end.
class TogetherLead::Advancing {
  public:
    explicit Advancing(Team& team) : team_(team) { team_.is_advancing = true; }
    ~Advancing() { team_.is_advancing = false; }
    Advancing(const Advancing&) = delete;
    Advancing& operator=(const Advancing&) = delete;

  private:
    Team& team_;
};

std::optional<TogetherLead::Progress> TogetherLead::advance(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
    const Load& load, milliseconds budget
) {
    const std::shared_ptr<Team> team = team_of(task);
    if (team->alone == segment) {
        return std::nullopt;
    }
    const bool has_others =
        team->seats != roles::seated(task, segment) || team->counts != seat_counts(task, segment, team->rank.accounts);
    if (team->session && team->segment != segment && has_others) {
        close(*team);  // others have seats for this segment, or some have more
    }
    if (leave_out_culprits(task, *team) && team->session) {
        close(*team);  // the segment begins again without them
    }
    std::optional<Progress> out = Progress::kWaits;
    try {
        const Advancing advancing(*team);
        out = execute(task, *artifacts, *team, segment, load, budget);
    } catch (const JournalError&) {
        close(*team);
        throw;
    } catch (const engine::RankError& error) {
        if (!team->ends) {
            team->broke = team->rank.accounts.at(error.rank());
            note_break(*team, segment, error.what());
        }
    } catch (const std::runtime_error& error) {
        note_break(*team, segment, error.what());
    }
    if (team->ends) {
        close(*team);
        return Progress::kWaits;
    }
    return out;
}

std::optional<TogetherLead::Progress> TogetherLead::execute(
    const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment, const Load& load,
    milliseconds budget
) {
    if (!team.session && !open(task, artifacts, team, segment)) {
        return team.alone == segment ? std::nullopt : std::optional(Progress::kWaits);
    }
    if (team.segment != segment && !begin(task, artifacts, team, segment, load)) {
        return Progress::kWaits;
    }
    if (!run(artifacts, team, budget)) {
        // A rank says that the step diverges. Whether it does only a replay can tell.
        close(team);
        team.alone = segment;
        return std::nullopt;
    }
    if (team.step != artifacts.first_step(segment) + artifacts.step_count(segment)) {
        return Progress::kRuns;
    }
    measure(task, artifacts, team, segment);
    if (!is_told_alike(team, segment)) {
        return Progress::kWaits;
    }
    team.after = take_state(team);
    team.breaks = 0;
    return Progress::kFinished;
}

std::shared_ptr<TogetherLead::Team> TogetherLead::team_of(const contracts::Task& task) {
    std::shared_ptr<Team>& team = teams_[task.id];
    if (team == nullptr) {
        team = std::make_shared<Team>();
        team->rank.task = task.id;
        // Those that may join have a place to meet as well.
        std::vector<AccountId> all = context_.options.partners;
        for (const contracts::Partner& partner : task.group->partners) {
            if (std::find(all.begin(), all.end(), partner.account) == all.end()) {
                all.push_back(partner.account);
            }
        }
        team->meeting = context_.links->meeting(task.id, all);
    }
    return team;
}

std::set<AccountId> TogetherLead::gone(const contracts::TaskId& task) const {
    std::set<AccountId> out;
    const auto found = teams_.find(task);
    if (found == teams_.end()) {
        return out;
    }
    for (const std::string& name : found->second->meeting->left()) {
        out.insert(*fixed_from_hex<AccountId>(name));
    }
    out.merge(found->second->losses.left_out());
    return out;
}

// Who was convicted of a statement takes part in no further session. Returns whether the open session has such a
// member.
bool TogetherLead::leave_out_culprits(const contracts::Task& task, Team& team) {
    bool is_here = false;
    for (const contracts::Partner& partner : task.group->partners) {
        if (contracts::is_culprit(task, partner.account)) {
            team.losses.leave_out(partner.account);
            const auto& accounts = team.rank.accounts;
            is_here = is_here || std::find(accounts.begin(), accounts.end(), partner.account) != accounts.end();
        }
    }
    return is_here;
}

// Has the ranks compare what they were told. Returns false if one of them has told two others different things: the
// segment begins again without it.
bool TogetherLead::is_told_alike(Team& team, std::uint32_t segment) {
    team.session->end_segment();
    std::vector<AccountId> liars;
    for (const AccountId& member : context_.statements->findings(team.rank.task)->members()) {
        const auto& accounts = team.rank.accounts;
        if (std::find(accounts.begin(), accounts.end(), member) != accounts.end()) {
            team.losses.leave_out(member);
            liars.push_back(member);
        }
    }
    if (!liars.empty()) {
        note_break(team, segment, crypto::to_address(liars.front()) + " has told two members different things");
    }
    return liars.empty();
}

void TogetherLead::note_break(Team& team, std::uint32_t segment, const std::string& why) {
    context_.reporter.trouble("the group's session broke off: " + why);
    close(team);
    if (++team.breaks == kBreaksMax) {
        context_.reporter.trouble(
            "task " + to_hex(team.rank.task.view()) + ": segment " + std::to_string(segment) +
            " is trained alone, since the group's sessions break off"
        );
        team.breaks = 0;
        team.alone = segment;
    }
}

std::optional<std::vector<AccountId>> TogetherLead::gather(
    const contracts::Task& task, Team& team, std::uint32_t segment
) {
    const auto now = Clock::now();
    const bool is_patient = now - team.asked_at.value_or(now) < kPatience;
    team.asked_at = team.asked_at.value_or(now);
    const std::vector<std::string> waiting = team.meeting->waiting();
    const std::set<AccountId> left = gone(task.id);
    std::vector<AccountId> there;
    std::vector<AccountId> missing;
    for (const AccountId& member : roles::seated(task, segment)) {
        const bool waits = std::find(waiting.begin(), waiting.end(), to_hex(member.view())) != waiting.end();
        if (!left.contains(member)) {
            (waits ? there : missing).push_back(member);
        }
    }
    if (!missing.empty() && is_patient) {
        std::this_thread::sleep_for(kLook);
        return std::nullopt;
    }
    // Who has said that it leaves is not lost, though the session broke off when it did.
    if (team.broke && !left.contains(*team.broke)) {
        note_lost(task, team, *team.broke);
    }
    team.broke.reset();
    for (const AccountId& member : missing) {
        note_lost(task, team, member);
    }
    std::erase_if(there, [&](const AccountId& member) { return team.losses.is_left_out(member); });
    return there;
}

// Begins a session with the members that are there. Returns false if it has to wait, or nobody comes.
bool TogetherLead::open(
    const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment
) {
    const auto there = gather(task, team, segment);
    if (!there) {
        return false;
    }
    auto layout = layout_together(artifacts.program, context_.options.together, there->size() + 1);
    if (!layout) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": too few members are there to train segment " +
            std::to_string(segment) + " together; training it alone"
        );
        team.alone = segment;
        team.asked_at.reset();
        return false;
    }
    team.seats = roles::seated(task, segment);
    team.rank = {.task = task.id, .chain_id = context_.chain.chain_id(), .accounts = {context_.chain.self()}};
    std::vector<std::string> names;
    for (std::size_t i = 0; i + 1 < layout->ranks(); ++i) {
        team.rank.accounts.push_back((*there)[i]);
        names.push_back(to_hex((*there)[i].view()));
    }
    team.counts = seat_counts(task, segment, team.rank.accounts);
    layout = with_seats(artifacts.program, *std::move(layout), team.counts);
    if (!shares_of(team.counts).empty() && !layout->has_shares()) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": the plan \"" + context_.options.together +
            "\" cannot follow the seats, so members compute alike: parts of the batch and of columns begin at "
            "multiples "
            "of 32, and stages with a node"
        );
    }
    team.layout = *layout;
    team.meeting->open(names, kRankTimeout);
    const auto is_ours = [](const Hash256&, std::uint64_t) { return true; };
    team.waited = {};
    team.patience = kRankTimeout;
    TogetherLinks links = connect_together(
        context_, *team.meeting->words(kConnectTimeout), team.rank, is_ours, context_.stop,
        [this, &team](milliseconds waited) { return goes_on(team, waited); }
    );
    team.cost = links.cost;
    team.session = engine::open_session(
        artifacts.program, artifacts.dataset, *layout, std::move(links.collective), engine_of(context_)
    );
    team.tensors = artifacts.program.state.size();
    team.asked_at.reset();
    report_session(context_, team.rank, plan::to_string(*layout));
    return true;
}

// Disputes have clocks, whatever a member does, so the lead attends to them while it waits for one. A member that is
// slow in each message would have the lead miss the deadline all the same.
bool TogetherLead::goes_on(Team& team, milliseconds waited) {
    team.waited += waited;
    return context_.interlude() && !team.ends && team.waited < team.patience;
}

// The time that the deadline leaves for a segment.
milliseconds TogetherLead::patience_for(const contracts::Task& task, std::uint32_t segment) {
    const std::uint64_t blocks = task.deadline.value - std::min(task.deadline.value, context_.chain.height());
    const std::uint64_t segments = std::max(segment, contracts::segment_count(task.spec)) - segment + 1;
    const std::chrono::microseconds all(blocks * clock_block_us(context_.chain));
    return std::max(kRankTimeout, std::chrono::duration_cast<milliseconds>(all / segments));
}

// Begins a segment. All ranks get its first state anew: who was misled in the segment before has another one.
bool TogetherLead::begin(
    const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment, const Load& load
) {
    const auto state = load();
    if (!state) {
        return false;
    }
    const std::uint64_t first_step = artifacts.first_step(segment);
    team.session->begin_segment(context_.chain.checkpoint(task.id, segment - 1).state_root, first_step);
    for (std::size_t i = 0; i < state->size(); ++i) {
        team.session->set_tensor(i, (*state)[i]);
    }
    team.segment = segment;
    team.step = first_step;
    team.run_time = {};
    team.waited = {};
    team.patience = patience_for(task, segment);
    return true;
}

// Returns false if a step diverges.
bool TogetherLead::run(const TaskArtifacts& artifacts, Team& team, milliseconds budget) {
    const std::uint64_t end = artifacts.first_step(team.segment) + artifacts.step_count(team.segment);
    const auto started = Clock::now();
    std::uint64_t steps = 0;
    while (team.step < end && Clock::now() - started < budget && !context_.stop) {
        if (!team.session->run_step(
                {.seed = artifacts.spec.seed, .step = team.step, .dataset = artifacts.program.dataset}
            )) {
            return false;
        }
        ++team.step;
        ++steps;
    }
    if (steps > 0) {
        team.run_time += Clock::now() - started;
        const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
        const double rate = static_cast<double>(steps) / seconds;
        context_.reporter.event(
            {{"event", "train"},
             {"task", to_hex(artifacts.task.view())},
             {"step", team.step},
             {"steps", artifacts.spec.steps},
             {"loss", static_cast<double>(team.session->loss())},
             {"steps_per_s", rate},
             {"eta_s", static_cast<double>(artifacts.spec.steps - team.step) / rate}}
        );
    }
    return true;
}

void TogetherLead::measure(
    const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment
) {
    if (!context_.options.balances || team.measured == segment) {
        return;
    }
    team.measured = segment;
    MeasuredSegment measured{
        .layout = team.layout,
        .accounts = team.rank.accounts,
        .busy_s = seconds_of_step(*team.session, artifacts.step_count(segment)),
        .step_s = team.run_time.count() / static_cast<double>(artifacts.step_count(segment))};
    context_.reporter.event(
        {{"event", "measured"},
         {"task", to_hex(task.id.view())},
         {"segment", segment},
         {"layout", plan::to_string(measured.layout)},
         {"busy_s", measured.busy_s},
         {"step_s", measured.step_s}}
    );
    if (measured.accounts.size() != team.seats.size() + 1) {
        return;  // somebody with a seat is not there
    }
    team.balance.note(artifacts.program, measured, std::min<std::size_t>(task.spec.members, contracts::kMaxSeats));
}

const Balance& TogetherLead::balance(const contracts::TaskId& task) const {
    static const Balance kNone;
    const auto found = teams_.find(task);
    return found == teams_.end() ? kNone : found->second->balance;
}

std::vector<canonical::Tensor> TogetherLead::state(const contracts::TaskId& task) {
    return std::exchange(teams_.at(task)->after, {});
}

// A member can leave while others' tensors are taken, too, and has to be counted as lost for it.
std::vector<canonical::Tensor> TogetherLead::take_state(Team& team) {
    std::vector<canonical::Tensor> out;
    out.reserve(team.tensors);
    for (std::size_t i = 0; i < team.tensors; ++i) {
        out.push_back(team.session->tensor(i));
    }
    return out;
}

void TogetherLead::note_lost(const contracts::Task& task, Team& team, const AccountId& member) {
    const std::uint32_t losses = team.losses.note(member);
    if (losses == roles::Losses::kLossesMax) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": member " + crypto::to_address(member) +
            " was lost twice, and is left out from now on"
        );
    }
    // GRP-14: it costs both the same, and ends the pay of who is lost again.
    if (context_.options.demands && roles::Losses::is_demanded(losses) &&
        context_.chain.send(contracts::Demand{.task = task.id, .member = member})) {
        context_.reporter.event(
            {{"event", "demand"}, {"task", to_hex(task.id.view())}, {"member", to_hex(member.view())}}
        );
    }
}

void TogetherLead::close(Team& team) {
    team.ends = false;
    if (team.session) {
        report_served(context_, team.rank, team.session->served(), *team.cost);
    }
    team.session.reset();
    team.segment = 0;
}

void TogetherLead::end(const contracts::TaskId& task) {
    const auto team = teams_.find(task);
    if (team == teams_.end()) {
        return;
    }
    if (team->second->is_advancing) {
        team->second->ends = true;  // once it waits no more
    } else {
        close(*team->second);
    }
}

void TogetherLead::forget(const contracts::TaskId& task) {
    end(task);
    teams_.erase(task);
    context_.links->forget(task);
}

}  // namespace assay::worker
