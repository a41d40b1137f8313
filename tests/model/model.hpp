// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <contracts/beacon/draw.hpp>
#include <contracts/tasks/seats.hpp>
#include <tests/model/flaws.hpp>
#include <tests/model/lane.hpp>
#include <tests/model/records.hpp>

/// The state machine once more, as docs/protocol has it and as plainly as possible: records in maps, no overlay, no
/// slots, every list looked through from its beginning. docs/testing.md says what it leaves to the chain.
namespace assay::model {

/// A transaction as an actor sent it. `body` is what was signed; `broken` has the codes that damage on the way, or
/// another chain's name, leads to, and such a transaction leaves no trace.
struct Sent {
    Bytes bytes;
    contracts::TxBody body;
    std::set<contracts::TxError> broken;
};
/// DTY-1
inline bool is_answer(const Sent& sent) { return sent.body.fee.grains == 0; }

/// Whether it is printable ASCII of so many characters at most.
bool is_text(const std::string& text, std::size_t most);
/// TASK-2, as far as it looks at the specification alone.
bool is_sound(const contracts::TaskSpec& spec);

class Model {
  public:
    Model(const contracts::Params& params, const contracts::Genesis& genesis, Flaw flaw = Flaw::kNone);

    /// Runs one block and compares with what the chain made of it: the code of every receipt, the whole state, every
    /// payment and slash. Returns the first difference, in words; empty when there is none.
    std::string run_block(
        const contracts::BlockContext& block, const std::vector<Sent>& txs, const contracts::BlockOutcome& chain,
        const Mirror& after
    );

    const World& world() const { return world_; }
    /// How often something happened that no receipt and no history tells.
    const std::map<std::string, std::uint64_t>& seen() const { return seen_; }

  private:
    using Why = std::set<contracts::TxError>;
    struct Due {
        contracts::DueKind kind = contracts::DueKind::kTask;
        Hash256 id;
        Role role = Role::kSolver;
        bool operator==(const Due&) const = default;
    };
    using Pool = std::vector<std::pair<AccountId, std::uint64_t>>;
    struct Conviction {
        contracts::Reason reason = contracts::Reason::kLostDispute;
        std::vector<AccountId> winners;
        std::optional<std::uint32_t> segment;
        std::optional<AccountId> culprit{};  ///< STM-10
    };
    struct Loss {
        std::uint64_t slashed = 0;
        std::uint64_t paid = 0;
        std::uint64_t burned = 0;
    };

    // refusals.cpp, refusals_judging.cpp, committees.cpp: every reason to refuse an action that the state gives.
    Why charge(const Sent& sent);
    Why admit(const Sent& sent);
    void speak_as(const Sent& sent);
    std::uint64_t treasury_part(const Sent& sent) const;
    std::uint64_t gas_of(const Sent& sent) const;
    std::uint64_t base_fee() const;
    void move_base_fee();
    std::string check_receipt(const Sent& sent, const Why& unpaid, const contracts::Receipt& receipt);
    Why why_not_paid(const Sent& sent) const;
    /// OPR-2 to OPR-5: every reason to refuse the action, and to refuse it from this sender for this owner.
    Why why_not_sent(const Sent& sent) const;
    Why why(const contracts::Action& action) const;
    Why why(const contracts::Transfer& a) const;
    Why why(const contracts::Bond& a) const;
    Why why(const contracts::Unbond& a) const;
    Why why(const contracts::SubmitTask& a) const;
    Why why(const contracts::AcceptTask& a) const;
    Why why(const contracts::PostCheckpoint& a) const;
    Why why(const contracts::CompleteTask& a) const;
    Why why(const contracts::CancelTask& a) const;
    Why why(const contracts::CommitVerdict& a) const;
    Why why(const contracts::PublishVerdict& a) const;
    Why why(const contracts::OpenDispute& a) const;
    Why why(const contracts::RevealMove& a) const;
    Why why(const contracts::SelectMove& a) const;
    Why why(const contracts::ProveMove& a) const;
    Why why(const contracts::AttestAvailability& a) const;
    Why why(const contracts::DeclareDivergence& a) const;
    Why why(const contracts::DiscloseVerdict& a) const;
    Why why(const contracts::ChallengeVerdict& a) const;
    Why why(const contracts::RegisterValidator& a) const;
    Why why(const contracts::Unjail& a) const;
    Why why(const contracts::RegisterTerms& a) const;
    Why why(const contracts::CommitProfile& a) const;
    Why why(const contracts::PublishProfile& a) const;
    Why why(const contracts::ChallengeProfile& a) const;
    Why why(const contracts::JoinBeacon& a) const;
    Why why(const contracts::Contribute& a) const;
    Why why(const contracts::LeaveBeacon& a) const;
    Why why(const contracts::DeclineTask& a) const;
    Why why(const contracts::Accuse& a) const;
    Why why(const contracts::ReportEquivocation& a) const;
    Why why(const contracts::Reseat& a) const;
    Why why(const contracts::Demand& a) const;
    Why why(const contracts::ProposeParams& a) const;
    Why why(const contracts::ProposeUpgrade& a) const;
    Why why(const contracts::ProposeHalt& a) const;
    Why why(const contracts::Vote& a) const;
    Why why(const contracts::NameOperator& a) const;
    Why why(const contracts::ShowResult& a) const;
    Why why(const contracts::ShareKeys& a) const;
    Why why(const contracts::ReportWrongKeys& a) const;
    Why why(const contracts::ReportWrongChunk& a) const;
    Why why_not_reported(const TaskId& id, contracts::TaskState first) const;
    bool has_taken_keys(const Task& task) const;
    Why why_not_keep(const contracts::TaskSpec& spec) const;
    Why why_not_propose() const;
    Why why_not_party(const DisputeId& id, bool responder, bool challenger) const;
    bool needs_stake(Why& why, Role role, std::uint64_t amount) const;
    /// DTY-6: whether the task keeps a place for such a dispute, by whoever has opened it; and whether another has it.
    bool is_kept_for(const Dispute& dispute) const;
    bool has_place(const Dispute& dispute) const;
    // DTY-5
    std::uint64_t held_by_tasks() const;
    std::uint64_t held_by_disputes() const;
    bool has_room_for_dispute() const;
    bool has_room_for_draw(contracts::Queue queue, const Task& task) const;

    // effects.cpp, committees.cpp: what an action that is not refused does.
    void act(const contracts::Transfer& a);
    void act(const contracts::Bond& a);
    void act(const contracts::Unbond& a);
    void act(const contracts::SubmitTask& a);
    void act(const contracts::AcceptTask& a);
    void act(const contracts::PostCheckpoint& a);
    void act(const contracts::CompleteTask& a);
    void act(const contracts::CancelTask& a);
    void act(const contracts::CommitVerdict& a);
    void act(const contracts::PublishVerdict& a);
    void act(const contracts::OpenDispute& a);
    void act(const contracts::RevealMove& a);
    void act(const contracts::SelectMove& a);
    void act(const contracts::ProveMove& a);
    void act(const contracts::AttestAvailability& a);
    void act(const contracts::DeclareDivergence& a);
    void act(const contracts::DiscloseVerdict& a);
    void act(const contracts::ChallengeVerdict& a);
    void act(const contracts::RegisterValidator& a);
    void act(const contracts::Unjail& a);
    void act(const contracts::RegisterTerms& a);
    void act(const contracts::CommitProfile& a);
    void act(const contracts::PublishProfile& a);
    void act(const contracts::ChallengeProfile& a);
    void act(const contracts::JoinBeacon& a);
    void act(const contracts::Contribute& a);
    void act(const contracts::LeaveBeacon& a);
    void act(const contracts::DeclineTask& a);
    void act(const contracts::Accuse& a);
    void act(const contracts::ReportEquivocation& a);
    void act(const contracts::Reseat& a);
    void act(const contracts::Demand& a);
    void act(const contracts::ProposeParams& a);
    void act(const contracts::ProposeUpgrade& a);
    void act(const contracts::ProposeHalt& a);
    void act(const contracts::Vote& a);
    void act(const contracts::NameOperator& a);
    void act(const contracts::ShowResult& a);
    void act(const contracts::ShareKeys& a);
    void act(const contracts::ReportWrongKeys& a);
    void act(const contracts::ReportWrongChunk& a);
    void decline(const TaskId& id, const AccountId& solver);
    void complete(const TaskId& id);
    void advance_verdicts(const TaskId& id, bool was_commit_phase);
    void advance_profiles(const TaskId& id);
    void open(
        const DisputeId& id, Dispute dispute, std::optional<dispute::Claim> claim,
        std::optional<std::uint64_t> secret = std::nullopt
    );
    std::pair<std::uint64_t, std::uint64_t> played_by(const AccountId& party, const Task& task, const DisputeId& id)
        const;
    void start_clocks(const DisputeId& id, Dispute& dispute) const;
    std::uint64_t clock_left(const DisputeId& id, bool by_responder) const;
    void note_move(const DisputeId& id, Dispute& dispute, bool by_responder);
    void turn(const DisputeId& id, const dispute::Position& next, bool by_responder);
    void rule(const DisputeId& id, bool refuted, contracts::Reason reason);
    void refute_segment(const DisputeId& id, contracts::Reason reason, const std::optional<AccountId>& culprit);

    // endings.cpp: disputes and tasks end, and money moves.
    void pay(const TaskId& id, const AccountId& to, std::uint64_t amount, contracts::Reason reason);
    Loss slash(
        const TaskId& id, Role role, const AccountId& from, std::uint64_t amount, contracts::Reason reason,
        const std::vector<AccountId>& winners, contracts::Reason why_won = contracts::Reason::kWonDispute
    );
    void lock(Role role, const AccountId& account, std::uint64_t amount);
    void unlock(Role role, const AccountId& account, std::uint64_t amount);
    void miss(const TaskId& id, const AccountId& account, std::uint64_t& bond);
    void close_dispute(const DisputeId& id, contracts::DisputeState state, contracts::Reason reason);
    void return_bond(Dispute& dispute);
    void take_bond(Dispute& dispute);
    /// DSP-46: our duty on the segment whose reserve answers for a dispute of its claim, or of another's verdict.
    const Duty* answers(const Task& task, std::uint32_t segment, const Duty* accused) const;
    bool is_solvers(const Dispute& dispute) const;
    void refute_verdict(
        const TaskId& id, Duty& duty, contracts::VerdictStatus status, contracts::Reason reason,
        const std::optional<DisputeId>& won
    );
    std::vector<AccountId> accusers(const DisputeId& won) const;
    void refute_profile(const DisputeId& won, contracts::Reason reason);
    void drop_disputes_over(const TaskId& id, const std::function<bool(const Dispute&)>& is_over_it);
    void resume(const TaskId& id);
    void enter(const TaskId& id, contracts::TaskState state, std::uint64_t deadline);
    void return_bonds(const TaskId& id, std::uint64_t kept = 0);
    void finish(const TaskId& id, contracts::TaskState state);
    void end_without_fraud(const TaskId& id, contracts::TaskState state);
    Loss convict(const TaskId& id, const Conviction& conviction);
    bool is_early(const TaskId& id);
    void settle(const TaskId& id);
    bool is_past(const TaskId& id, const Duty& duty) const;
    void conclude(const TaskId& id);
    bool drifts_add_up(const Task& task) const;
    std::uint64_t window_over(const Task& task);
    void decide(const TaskId& id);
    void pay_jackpots(const TaskId& id, const std::vector<AccountId>& winners);
    std::uint64_t pay_tax(const TaskId& id, std::uint64_t amount);
    void pay_profilers(const TaskId& id, bool taxed, std::uint64_t divisor = 1);
    bool earns_fee(const TaskId& id, const Duty& duty, const std::optional<std::uint32_t>& refuted) const;
    std::size_t pay_verifiers(const TaskId& id, const std::optional<std::uint32_t>& refuted, bool taxed);

    // teams.cpp: tasks that several accounts train.
    bool may_post(const Task& task) const;
    bool is_too_early(const TaskId& id) const;
    void note_post(const TaskId& id, const Hash256& root, const std::optional<contracts::SealedFile>& sealed);
    void add_why_seats(Why& why, const contracts::AcceptTask& a) const;
    std::map<AccountId, std::uint64_t> earnings(const Task& task) const;
    bool is_cut_by(const Task& task, const std::optional<std::uint32_t>& segment) const;
    void cut(const TaskId& id, std::uint32_t from, const AccountId& culprit, bool waits);

    // statements.cpp: what members that compute together have told each other.
    Why why_not_fellows(const TaskId& id, const AccountId& member) const;
    Why why_not_in_training(const TaskId& id) const;
    void add_why_partner(Why& why, const Task& task, const AccountId& account) const;
    std::uint64_t demand_of(const Task& task) const;
    Why why_not_answer(const contracts::Accuse& a, std::uint32_t segment) const;
    /// STM-9
    bool stands_still(const DisputeId& id) const;
    void end_accusation(const DisputeId& id, bool is_right, contracts::Reason reason);
    Loss convict_member(const TaskId& id, const AccountId& member, const AccountId& winner);
    void note_loss(const DisputeId& id, const Loss& loss);

    // committees.cpp: what becomes of segments that nobody's verdict accepts.
    static bool needs_committee(const Task& task);
    static bool has_attested(const Task& task, const AccountId& account, std::uint32_t segment);
    void draw_committee(const TaskId& id);
    void find_available(const TaskId& id);
    void lapse_committee(const TaskId& id);
    void lapse_commitments(const TaskId& id);
    void charge_responder(const TaskId& id, std::uint64_t least);

    // keeping.cpp: results that are kept.
    std::uint64_t show_after(const Task& task) const;
    void start_keeping(const TaskId& id);
    void stop_keeping(const TaskId& id, bool is_whole);
    void lapse_keeping(const TaskId& id);
    void draw_show(const TaskId& id);

    // secrets.cpp: private tasks.
    /// The height until which the keys have to be shared with these, or else `blocks` from now.
    std::uint64_t await_readers(const TaskId& id, const std::vector<AccountId>& drawn, std::uint64_t blocks);
    void begin_to_judge(const TaskId& id);
    void lapse_unshared(const TaskId& id);
    void begin_to_profile(const TaskId& id);
    void lapse_unread(const TaskId& id);

    // block.cpp, deadlines.cpp, draws.cpp: the end of a block.
    void end_block(const contracts::BlockContext& block);
    /// What of the block's gas for deadlines it took, besides the entry itself.
    std::uint64_t end_deadline(const Due& due, std::uint64_t height);
    void end_task_deadline(const TaskId& id);
    void lapse_acceptance(const TaskId& id);
    void lapse_training(const TaskId& id);
    void miss_all(const TaskId& id, const std::function<bool(const Duty&)>& is_missing);
    bool stand_still(const TaskId& id);
    void end_window(const TaskId& id);
    void lapse_dispute(const DisputeId& id);
    void end_profiling(const TaskId& id);
    void spread_taints();
    void draw_solver(const TaskId& id);
    void draw_lottery(const TaskId& id);
    void draw_profilers(const TaskId& id);
    void draw_verifiers(const TaskId& id);
    void draw_watchers(const TaskId& id);
    bool try_duties(const TaskId& id);

    // beacon.cpp: rounds.
    bool owes(const Seat& seat) const;
    std::optional<AccountId> giving_way() const;
    std::optional<AccountId> giving_way_as_validator() const;
    void release_stake(const StakeKey& key);
    void vacate(const AccountId& account);
    std::optional<contracts::Queue> queue_of(const Task& task) const;
    bool take_front(contracts::Queue queue, std::uint64_t& gas, std::uint64_t& passed_over);
    void make_draw(contracts::Queue queue, const TaskId& id);
    void run_beacon();
    void close_round();
    void lapse_drawing(const TaskId& id);
    void wait_longer(const TaskId& id);
    bool is_crowded_out(const Task& task) const;
    void fail_draw(const TaskId& id, bool is_short = false);
    void put_off_draw(const TaskId& id);
    void await_draw(const TaskId& id);
    void pause_draw(const TaskId& id, bool is_short = false);
    void open_task(const TaskId& id);
    void burn_room(const TaskId& id, std::uint64_t amount);
    std::uint64_t room_of(const contracts::TaskSpec& spec, std::uint64_t blocks) const;
    std::uint64_t deposit_of(const contracts::TaskSpec& spec) const;
    std::uint64_t verifiers_for(const Task& task) const;
    std::uint64_t checked_of(const Task& task) const;
    static std::set<std::uint32_t> unaccepted(const Task& task);
    void run_validators(const contracts::BlockContext& block);
    void burn_stake(const AccountId& account, Validator& validator);
    Pool pool(Role role) const;
    std::optional<AccountId> pick(const Pool& pool, const Hash256& randomness) const;
    std::optional<AccountId> pick_able(Pool pool, const contracts::DrawName& name, std::uint64_t needed) const;
    Hash256 random(const contracts::DrawName& name) const;

    // governance.cpp: what validators vote on.
    /// The parameters with these values; nullopt where the chain cannot run with them.
    std::optional<contracts::Params> changed(const std::vector<contracts::ParamChange>& changes) const;
    bool votes(const AccountId& account) const;
    bool has_majority(const Motion& motion) const;
    void propose(Motion motion);
    void pass(const contracts::ProposalId& id, Motion& motion);
    bool end_motion(const contracts::ProposalId& id, std::uint64_t height);
    void apply(const Motion& motion);
    void begin_planned();

    // work.cpp: what follows from stated work.
    std::uint64_t speed_of(std::uint32_t hardware_class) const;
    /// That the task's longest segment takes on the class.
    std::uint64_t blocks_of(const contracts::TaskSpec& spec, std::uint32_t hardware_class) const;
    std::uint64_t delay_of(const contracts::TaskSpec& spec) const;
    std::uint64_t hashing_of(const contracts::TaskSpec& spec) const;
    std::uint64_t challenge_window(const contracts::TaskSpec& spec) const;
    std::uint64_t accept_window(const contracts::TaskSpec& spec) const;
    std::uint64_t report_window(const contracts::TaskSpec& spec) const;
    std::uint64_t report_challenge_window(const contracts::TaskSpec& spec) const;
    std::uint64_t clock_of(
        const contracts::TaskSpec& spec, std::uint64_t disputes = 1, std::uint64_t claims = 1, std::uint64_t replays = 2
    ) const;
    bool is_paid(const contracts::TaskSpec& spec, std::uint64_t price) const;
    Why why_work(const contracts::TaskSpec& spec) const;
    bool agrees(const std::map<StakeKey, Machine>& machines, const AccountId& verifier, const contracts::TaskSpec& spec)
        const;
    bool has_quorum(const Task& task, std::uint64_t needed) const;

    // What follows from a task's value and shape.
    std::uint64_t bond_of(Role role, const Task& task) const;
    std::uint64_t challenge_bond(const Task& task) const { return bond_of(Role::kWhistleblower, task); }
    std::optional<dispute::Claim> claim_of(const TaskId& id, std::uint32_t segment) const;
    std::optional<dispute::Claim> verdict_claim(const TaskId& id, const Duty& duty, contracts::VerdictPart part) const;
    bool rejects(const Task& task, std::uint32_t segment, const contracts::Verdict& verdict) const;
    Duty* find_duty(Task& task, std::uint32_t segment, const AccountId& verifier) const;
    const Duty* find_duty(const Task& task, std::uint32_t segment, const AccountId& verifier) const;
    /// Challenges of the verdict that wait for its disclosure.
    std::vector<DisputeId> awaiting_of(const Task& task, std::uint32_t segment, const AccountId& verifier) const;

    const Task* find(const TaskId& id) const;
    Task& at(const TaskId& id) { return world_.tasks.at(id); }
    void set_deadline(const Due& due, std::uint64_t& field, std::uint64_t height);
    void set_task_deadline(const TaskId& id, std::uint64_t height);
    void fail(const std::string& what);

    contracts::Params params_;
    contracts::Params next_params_;  ///< of the next block (GOV-7)
    Flaw flaw_;
    World world_;
    std::map<DisputeId, Game> games_;
    std::map<std::uint64_t, std::deque<Due>> calendar_;  ///< in the order in which they were set; nothing is struck out
    std::map<TaskId, std::vector<TaskId>> children_;     ///< the latest last
    std::vector<std::pair<std::vector<TaskId>, TaskId>> taints_;  ///< siblings still to be marked, and with what
    std::vector<Money> money_;                                    ///< of this block

    // Of the block and the transaction that runs.
    std::uint64_t height_ = 0;
    std::uint64_t time_ms_ = 0;
    Hash256 block_hash_;
    Hash256 seed_;  ///< of the draws that are being made
    /// BCN-4: what the open round draws from, as it was when the round opened.
    struct Opening {
        std::map<StakeKey, Stake> stakes;
        std::map<StakeKey, Machine> machines;
        std::vector<TaskId> tasks;
    } opening_;
    std::map<TaskId, std::size_t> past_;  ///< VER-22: how many of a task's duties are of draws whose windows are over
    std::map<TaskId, std::uint64_t> turn_since_;  ///< GRP-4: height of the last checkpoint or the acceptance
    std::vector<AccountId> arrivals_;             ///< of the open round, for Flaw::kArrivalOrder
    AccountId who_;
    std::uint64_t nonce_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t gas_ = 0;  ///< of the block's transactions that paid
    std::uint64_t bytes_ = 0;
    std::set<Owed> answered_;
    std::map<std::string, std::uint64_t> seen_;
    const Mirror* chain_ = nullptr;
    std::string fault_;
};

/// AVL-3: the tile that the member at `place` of the task's committee has to show, and of which checkpoint.
struct Asked {
    std::uint32_t checkpoint = 0;
    std::uint32_t tensor = 0;
    std::uint64_t number = 0;  ///< modulo the tensor's tiles
};
Asked asked_of(const TaskId& id, const Task& task, std::size_t place);
/// RET-4: the tile that the solver has to show; one is drawn.
Asked shown_of(const TaskId& id, const Task& task);
/// PRV-2, PRV-4: whether somebody waits for the task's keys.
bool owes_keys(const Task& task);
/// TX-6
bool is_malformed(const contracts::DrawnOpening& shown);
/// AVL-3, RET-5, PRV-8: whether what is shown of the task is what was asked for.
bool is_what_was_asked(const Task& task, const Asked& asked, const contracts::DrawnOpening& shown);
/// PRV-8: from how many tensors or groups one is drawn.
std::uint32_t groups_of(const contracts::TaskSpec& spec);
/// RET-2: whether everybody is paid, or nobody will be.
bool is_paid_for(contracts::TaskState state);
/// LIN-1: in which states a parent may be.
bool has_run(contracts::TaskState state);
/// RET-2: whether the task's result is kept when it is settled.
bool is_kept_after(const Task& task);
/// GRP-3: whether the account is the task's solver or in its group.
bool is_in_team(const Task& task, const AccountId& account);
/// Everybody on the list but the first, each once.
std::vector<AccountId> others_on(const std::vector<AccountId>& seats);
/// GRP-2: whether everybody on the list but the first has signed the terms.
/// ENV-1, ENV-2, ENV-3, CHK-1.
bool is_environment(const contracts::Environment& environment);
bool is_in(const std::optional<contracts::Environment>& stated, const std::optional<contracts::Environment>& asked);
bool offers(const std::vector<std::uint64_t>& offered, const std::optional<contracts::Environment>& asked);
bool are_checks(const std::vector<contracts::ResultCheck>& checks, std::uint32_t tensors);

bool are_signed(const contracts::SeatsTerms& terms, const std::vector<Signature>& signatures);
/// GRP-3: who posts the next checkpoint, or completes the task.
AccountId whose_turn(const Task& task);
/// GRP-5: who answers for the segment.
AccountId who_answers(const Task& task, std::uint32_t segment);
std::uint64_t& bond_in(Task& task, const AccountId& account);
/// Whether a solver's claim of a segment is disputed.
bool is_over_claim(const Dispute& dispute);
/// Whether the verdict ended with a cut (GRP-7).
bool is_dropped(const Duty& duty);
/// AVL-2, GRP-10: the segments that a committee of the task covers.
std::vector<std::uint32_t> covered_next(const Task& task, const std::set<std::uint32_t>& open);
/// Whether the task waits for what its committee says.
bool is_sitting(const Task& task);
/// STM-10: whether it was convicted of a statement.
bool is_culprit(const Task& task, const AccountId& account);
bool is_over(contracts::TaskState state);
std::uint32_t first_of(const contracts::TaskSpec& spec);
/// The number of the last segment that was executed, or is to be.
std::uint32_t last_of(const Task& task);
/// EVL-5: whether that is the number of its evaluation.
bool is_evaluation(const Task& task, std::uint32_t segment);
/// The state root that its solver claims after a segment.
Hash256 claimed_after(const Task& task, std::uint32_t segment);
std::uint64_t steps_before(const contracts::TaskSpec& spec, std::uint32_t segment);
std::uint32_t steps_in(const Task& task, std::uint32_t segment);
bool is_exact(const Task& task, std::uint32_t segment);
/// VER-9: the numbers of steps at which a verdict has marks.
std::vector<std::uint32_t> marks_in(const Task& task, const Duty& duty);
/// VER-11: what of an opening is published once the probe is drawn.
contracts::Verdict published_of(
    const Task& task, const Duty& duty, const contracts::VerdictOpening& opening, bool forced
);
bool is_published(const Duty& duty);
/// Published, and what was committed to is not disclosed yet.
bool is_secret(const Duty& duty);
std::uint64_t part_of(std::uint64_t amount, std::uint64_t numerator, std::uint64_t denominator);

}  // namespace assay::model
