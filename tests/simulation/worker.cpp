// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/worker.hpp>

#include <algorithm>

#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/roles/contributor.hpp>

namespace assay::simulation {

using contracts::Action;
using contracts::test::kCoin;

namespace {

constexpr std::uint64_t kPollMs = 400;
constexpr std::uint64_t kResendMs = 2'500;
constexpr std::uint64_t kRebidMs = Replica::kIntervalMs;
constexpr std::uint64_t kPatienceBlocks = 80;          ///< so long a submitter waits for a solver
constexpr std::uint64_t kProfilePatienceBlocks = 240;  ///< where profiling and its disputes come first
constexpr std::uint64_t kUnbackedBlocks = 5;           ///< so long what lacks stake does not hold up what needs none
constexpr std::size_t kAtOnce = 6;                     ///< transactions on their way
constexpr std::uint32_t kGroupBlocks = 60;  ///< for turns that are taken over and states that have to be computed
constexpr Amount kFee{20'000'000};

model::Way way_of(Kind kind, Events& events) {
    return kind == Kind::kCheat ? static_cast<model::Way>(1 + events.below(5)) : model::Way::kTruth;
}

contracts::ProfilePart false_part_of(Kind kind, Events& events) {
    return kind == Kind::kLyingProfiler ? static_cast<contracts::ProfilePart>(1 + events.below(5))
                                        : contracts::ProfilePart::kMeasurement;
}

}  // namespace

const char* to_string(Kind kind) noexcept {
    switch (kind) {
        case Kind::kSubmitter:
            return "submitter";
        case Kind::kHonestSolver:
            return "honest solver";
        case Kind::kCheat:
            return "cheat";
        case Kind::kWithholder:
            return "withholder";
        case Kind::kMisstater:
            return "misstater";
        case Kind::kEquivocator:
            return "equivocator";
        case Kind::kDeserter:
            return "deserter";
        case Kind::kSlanderer:
            return "slanderer";
        case Kind::kVerifier:
            return "verifier";
        case Kind::kLazyVerifier:
            return "lazy verifier";
        case Kind::kFalseAccuser:
            return "false accuser";
        case Kind::kLyingProfiler:
            return "lying profiler";
        case Kind::kWhistleblower:
            return "whistleblower";
    }
    return "";
}

Worker::Worker(
    Events& events, Bulletin& bulletin, model::Workshop& shop, Gauge& gauge, const Ledger& ledger, int place, Kind kind,
    crypto::SecretKey key, std::vector<std::unique_ptr<Replica>>& replicas, std::string chain_id
)
    : events_(events),
      bulletin_(bulletin),
      shop_(shop),
      gauge_(gauge),
      ledger_(ledger),
      place_(place),
      kind_(kind),
      key_(std::move(key)),
      id_(key_.account()),
      way_(way_of(kind, events)),
      hardware_(place % 2 == 0 ? model::Way::kNative : model::Way::kOtherNative),
      replaced_segment_(1 + static_cast<std::uint32_t>(place) % 3),
      false_part_(false_part_of(kind, events)),
      replicas_(replicas),
      chain_id_(std::move(chain_id)),
      together_(
          events, bulletin.company, shop, {.key = key_, .place = place, .wrong = wrong_of(kind), .chain_id = chain_id_},
          is_down
      ) {}

void Worker::start() {
    lateness_ = std::max(lateness_, ledger_.height() - seen_at_height_);  // down or not
    if (!is_down) {
        step();
    }
    events_.after(kPollMs + events_.below(kPollMs), [this] { start(); });
}

Replica* Worker::choose_replica() {
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
        Replica& replica = *replicas_[static_cast<std::size_t>(attached_)];
        if (replica.is_up() && !events_.is_cut(place_, replica.place())) {
            return &replica;
        }
        attached_ = (attached_ + 1) % static_cast<int>(replicas_.size());
    }
    return nullptr;
}

void Worker::step() {
    Replica* replica = choose_replica();
    if (replica == nullptr || (seen_height_ > replica->height() && events_.chance(30))) {
        attached_ = static_cast<int>(events_.below(replicas_.size()));
        return;
    }
    const View view{replica->state(), {replica->height()}};
    if (view.height.value < seen_height_) {
        return;  // a replica that is behind
    }
    if (view.height.value > seen_height_) {
        seen_height_ = view.height.value;
        seen_at_height_ = ledger_.height();
    }
    lateness_ = std::max(lateness_, ledger_.height() - seen_height_);
    forget_included(view);
    Actions actions;
    add_bond(view, actions);
    add_contribution(view, actions);
    add_submission(view, actions);
    add_duties(view, actions);
    send(view, actions);
}

void Worker::forget_included(const View& view) {
    const std::uint64_t nonce = contracts::get_account(*view.state, id_).nonce;
    for (const Waiting& waiting : waiting_) {
        // Of one that is not included yet, what it takes at least.
        lateness_ = std::max(lateness_, ledger_.height() - std::min(ledger_.height(), waiting.since_height));
    }
    std::erase_if(waiting_, [&](const Waiting& waiting) {
        return waiting.is_answer ? is_stale(view, waiting) : waiting.nonce < nonce;
    });
    for (const Waiting& waiting : waiting_) {
        next_nonce_ = waiting.is_answer ? next_nonce_ : std::max(next_nonce_, waiting.nonce + 1);
    }
    next_nonce_ = std::max(next_nonce_, nonce);
}

bool Worker::is_stale(const View& view, const Waiting& waiting) const {
    const auto tx = codec::decode<contracts::Tx>(waiting.tx).value();
    const Height next{view.height.value + 1};
    return !contracts::check_answer(*view.state, view.state->params(), tx.body, waiting.tx.size(), next);
}

Worker::Waiting Worker::sign(const View& view, const Action& action) {
    const auto waiting = [&](std::uint64_t nonce, Amount fee, bool is_answer) {
        const contracts::TxBody body{chain_id_, id_, nonce, fee, action};
        return Waiting{
            .action = codec::encode(action),
            .tx = codec::encode(contracts::sign_tx(body, key_)),
            .body = body,
            .nonce = nonce,
            .since_height = ledger_.height(),
            .sent_at_ms = events_.now(),
            .is_answer = is_answer};
    };
    if (const auto duty = contracts::find_duty(*view.state, view.state->params(), id_, action)) {
        Waiting answer = waiting(duty->due.value, {}, true);
        if (!is_stale(view, answer)) {
            return answer;
        }
    }
    return waiting(next_nonce_++, kFee, false);
}

void Worker::lose_disk() {
    ++disks_lost_;
    for (const auto& checkpoint : served_) {
        bulletin_.artifacts.erase(checkpoint);
    }
    served_.clear();
    fetched_.clear();
    stuck_.clear();
    std::erase_if(bulletin_.natives, [&](const auto& native) { return std::get<AccountId>(native.first) == id_; });
    waiting_.clear();
    next_nonce_ = 0;
    trained_.clear();
    ready_at_ms_.clear();
    replays_.clear();
    probes_.clear();
    openings_.clear();
    judged_.clear();
    moves_.clear();
    begun_.clear();
    machines_.clear();
    watching_.clear();
    reports_.clear();
    checks_.clear();
    players_.clear();
    together_.forget();
}

Hash256 Worker::secret(const contracts::TaskId& task, std::uint64_t number) const {
    constexpr std::uint64_t kOfADisk = 1'000'000;
    return model::mix(Hash256{task.data}, id_, number + kOfADisk * disks_lost_);
}

void Worker::send(const View& view, const Actions& actions) {
    for (Waiting& waiting : waiting_) {
        if (events_.now() - waiting.sent_at_ms > (fee_max != 0 ? kRebidMs : kResendMs)) {
            waiting.sent_at_ms = events_.now();
            const Amount raised{std::min(2 * waiting.body.fee.grains, fee_max)};
            if (waiting.body.fee < raised) {
                waiting.body.fee = raised;
                waiting.tx = codec::encode(contracts::sign_tx(waiting.body, key_));
            }
            dispatch(waiting);
        }
    }
    for (const Action& action : actions) {
        const Bytes bytes = codec::encode(action);
        const bool known =
            std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.action == bytes; });
        const auto refused = unbacked_.find(bytes);
        const bool is_unbacked = refused != unbacked_.end() && ledger_.height() < refused->second + kUnbackedBlocks;
        if (known || is_unbacked || waiting_.size() >= kAtOnce) {
            continue;
        }
        waiting_.push_back(sign(view, action));
        dispatch(waiting_.back());
    }
}

void Worker::dispatch(const Waiting& waiting) {
    const int place = attached_;
    const auto arrive = [this, place, tx = waiting.tx] {
        Replica& replica = *replicas_[static_cast<std::size_t>(place)];
        if (!replica.is_up()) {
            return;
        }
        const auto added = replica.submit(tx);
        if (!added && added.error().reason == consensus::RefusalReason::kRejected) {
            events_.send(place, place_, [this, tx, code = added.error().code] { on_refusal(tx, code); });
        }
    };
    if (latency_ms == 0) {
        events_.send(place_, place, arrive);
    } else {
        // One after the other: what comes before it in the order of nonces would be missed otherwise.
        arrives_at_ms_ = std::max(arrives_at_ms_ + 1, events_.now() + 1 + events_.below(latency_ms));
        events_.after(arrives_at_ms_ - events_.now(), arrive);
    }
}

/// What the chain will not have is not sent again; what was to follow it in its nonce is decided anew.
void Worker::on_refusal(const Bytes& tx, std::uint8_t code) {
    const auto error = static_cast<contracts::TxError>(code);
    if (error == contracts::TxError::kNonceTooLow || error == contracts::TxError::kNonceTooHigh) {
        return;
    }
    const auto refused = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.tx == tx; });
    if (refused == waiting_.end()) {
        return;
    }
    if (error == contracts::TxError::kInsufficientStake) {
        unbacked_[refused->action] = ledger_.height();
    }
    const auto* accusation = std::get_if<contracts::Accuse>(&refused->body.action);
    if (accusation != nullptr && accusation->answers) {
        together_.note_refused(*accusation->answers);
    }
    if (refused->is_answer) {
        waiting_.erase(refused);
        return;
    }
    next_nonce_ = refused->nonce;
    std::erase_if(waiting_, [this](const Waiting& w) { return !w.is_answer && w.nonce >= next_nonce_; });
}

Role Worker::role() const {
    switch (kind_) {
        case Kind::kVerifier:
        case Kind::kLazyVerifier:
        case Kind::kFalseAccuser:
        case Kind::kLyingProfiler:
            return Role::kVerifier;
        case Kind::kWhistleblower:
            return Role::kWhistleblower;
        default:
            return Role::kSolver;
    }
}

Amount Worker::free_stake(const View& view) const { return contracts::get_stake(*view.state, role(), id_).free; }

void Worker::add_bond(const View& view, Actions& out) const {
    const auto stake = contracts::get_stake(*view.state, role(), id_);
    if (kind_ != Kind::kSubmitter && stake.free.grains + stake.locked.grains == 0 && view.height.value < 8) {
        out.push_back(contracts::Bond{role(), {bonded * kCoin}});
    }
    if (stake.is_unlisted) {
        out.push_back(contracts::RegisterTerms{role(), {}, 0});  // TASK-6: it was away, and is back
    }
}

/// A lazy verifier takes a seat and never shows its secret.
void Worker::add_contribution(const View& view, Actions& out) const {
    if (role() != Role::kVerifier) {
        return;
    }
    const contracts::Beacon beacon = contracts::get_beacon(*view.state);
    const auto action = roles::decide_contributor(
        {.self = id_,
         .key = key_,
         .chain_id = chain_id_,
         .beacon = beacon,
         .params = view.state->params(),
         .free_stake = free_stake(view)}
    );
    const bool shows = action && std::holds_alternative<contracts::Contribute>(*action);
    if (action && !(shows && kind_ == Kind::kLazyVerifier)) {
        out.push_back(*action);
    }
}

std::pair<Worker::Upon, contracts::TaskId> Worker::find_parent(const View& view) const {
    bool may_come = false;
    for (auto id = bulletin_.tasks.rbegin(); id != bulletin_.tasks.rend(); ++id) {
        const auto task = contracts::find_task(*view.state, *id);
        const bool is_done =
            task && task->state >= contracts::TaskState::kCompleted && task->state <= contracts::TaskState::kSettled;
        if (is_done && !task->tainted_by && !contracts::is_shortened(*task)) {  // GRP-9
            return {Upon::kParent, *id};
        }
        may_come = may_come || !task || !contracts::is_terminal(task->state);
    }
    return {may_come ? Upon::kWait : Upon::kNothing, {}};
}

void Worker::add_submission(const View& view, Actions& out) {
    const std::size_t submitted = bulletin_.submitted[id_];
    if (kind_ != Kind::kSubmitter || submitted >= orders.size() || !waiting_.empty() || view.height.value < 8) {
        return;
    }
    const Order& order = orders[submitted];
    const auto [upon, parent] = order.is_stacked ? find_parent(view) : std::pair{Upon::kNothing, contracts::TaskId{}};
    if (upon == Upon::kWait) {
        return;
    }
    contracts::TaskSpec spec = shop_.spec(false);
    spec.steps = 10;
    // In tolerance mode there have to be segments enough to profile.
    spec.checkpoint_interval = static_cast<std::uint32_t>(2 + events_.below(order.in_tolerance ? 3 : 4));
    spec.reward = {order.worth * 20 * kCoin};
    spec.verification_fee = {order.worth * 6 * kCoin};
    spec.training_blocks = 60;
    if (events_.chance(50)) {
        spec.evaluation = shop_.scoring();
    }
    spec.members = order.in_tolerance ? 1 : order.members;
    spec.training_blocks += spec.members > 1 ? kGroupBlocks + order.spare_blocks : 0;
    if (order.in_tolerance) {
        spec.mode = contracts::Mode::kTolerance;
        spec.distance = shop_.distance();
    }
    if (order.is_private) {
        spec.privacy = make_privacy(spec);
    }
    if (upon == Upon::kParent) {
        spec.parent = parent;
    }
    const std::uint64_t needed = 3 * blocks_to_train(view, spec) / 2 + 1;
    spec.training_blocks = std::max(spec.training_blocks, static_cast<std::uint32_t>(needed));
    spec.title = "simulated " + std::to_string(submitted);
    out.push_back(contracts::SubmitTask{spec});
}

void Worker::add_cancellation(const View& view, const contracts::Task& task, Actions& out) const {
    const bool is_waiting = task.state == contracts::TaskState::kOpen || task.state == contracts::TaskState::kDrawn;
    const bool in_tolerance = task.spec.mode == contracts::Mode::kTolerance;
    const std::uint64_t patience = in_tolerance ? kProfilePatienceBlocks : kPatienceBlocks;
    if (task.submitter == id_ && task.spec.parent && is_waiting &&
        view.height.value > task.submitted_at.value + patience) {
        out.push_back(contracts::CancelTask{task.id});
    }
}

}  // namespace assay::simulation
