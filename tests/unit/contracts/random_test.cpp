// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/verification/lottery.hpp>
#include <tests/unit/contracts/committees.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// Random actors doing random things, many of them nonsense, some of them what the state asks for.
class Crowd {
  public:
    Crowd(Chain& chain, const ToyRun& run, std::uint64_t seed)
        : chain_(chain), run_(run), random_(seed), is_quick_(seed % 2 == 1) {}

    void play(int blocks) {
        for (int i = 0; i < blocks; ++i) {
            std::vector<Bytes> txs;
            std::map<AccountId, std::uint64_t> used;
            for (std::uint64_t n = below(is_quick_ ? 9 : 5); n > 0; --n) {
                const Actor& actor = *choose_actor();
                const std::uint64_t nonce = get_account(chain_.view, actor.id).nonce + used[actor.id];
                ++used[actor.id];
                Bytes tx = chain_.make_tx(actor, choose(actor), nonce, {kFee});
                if (below(20) == 0) {
                    tx[below(tx.size())] ^= static_cast<std::uint8_t>(1 + below(255));
                }
                txs.push_back(std::move(tx));
            }
            chain_.run_block(txs);
            remember();
        }
    }

    const std::vector<TaskId>& tasks() const { return tasks_; }

  private:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    template <class T>
    T pick(const std::vector<T>& from) {
        return from.empty() ? T{} : from[below(from.size())];
    }
    Role role() { return static_cast<Role>(1 + below(3)); }
    Amount amount() { return {below(4) == 0 ? random_() : below(20 * kCoin)}; }
    Hash256 root(std::uint32_t index) {
        return below(5) == 0 ? hash_of("wrong") : run_.checkpoint_root(std::min(index, 3U));
    }

    void remember() {
        for (const HistoryRecord& entry : chain_.last.history) {
            if (std::holds_alternative<history::Submitted>(entry.event)) {
                tasks_.push_back(entry.task);
            } else if (const auto* opened = std::get_if<history::DisputeOpened>(&entry.event)) {
                disputes_.push_back(opened->dispute);
            }
        }
    }

    /// Half of the time somebody of whom a task expects something.
    const Actor* choose_actor() {
        const auto task = find_task(chain_.view, pick(tasks_));
        for (const Actor* actor : chain_.actors()) {
            if (task && below(2) == 0 && choose_fitting(*task, *actor)) {
                return actor;
            }
        }
        return pick(chain_.actors());
    }

    Action choose(const Actor& actor) {
        if (get_stake(chain_.view, Role::kSolver, actor.id).is_unlisted && below(2) == 0) {
            return RegisterTerms{Role::kSolver, {}, 0};
        }
        for (const TaskId& expecting : tasks_) {
            const auto task = find_task(chain_.view, expecting);
            if (below(3) != 0) {
                if (auto fitting = choose_fitting(*task, actor)) {
                    return *fitting;
                }
            }
        }
        const TaskId id = pick(tasks_);
        const auto segment = static_cast<std::uint32_t>(below(5));
        switch (below(16)) {
            case 0:
                return Transfer{pick(chain_.actors())->id, amount()};
            case 1:
                return Bond{role(), {below(40 * kCoin)}};
            case 2:
                return Unbond{role(), amount()};
            case 3: {
                const auto open = std::count_if(tasks_.begin(), tasks_.end(), [&](const TaskId& each) {
                    return !is_terminal(find_task(chain_.view, each)->state);
                });
                TaskSpec spec = run_.spec();
                spec.training_blocks = 60;
                return is_quick_ && open > 3 ? Action{CancelTask{id}} : Action{SubmitTask{spec}};
            }
            case 4:
                return AcceptTask{id};
            case 5:
                return PostCheckpoint{id, segment, root(segment), {}};
            case 6:
                return CompleteTask{id};
            case 7:
                return CancelTask{id};
            case 8:
                return CommitVerdict{id, segment, hash_of("nonsense")};
            case 9:
                return PublishVerdict{id, segment, {root(segment), hash_of("probe")}};
            case 10:
                return OpenDispute{id, segment, role()};
            case 11:
                return AttestAvailability{id, open_toy_tile(run_, segment % 4, segment % 2, amount().grains)};
            case 13:
                return DiscloseVerdict{id, segment, {{root(segment), {}}, {hash_of("probe")}, {}, hash_of("salt")}};
            case 14:
                return ChallengeVerdict{id, segment, pick(chain_.actors())->id, role()};
            case 12:
                return AttestAvailability{id, {}};
            default:
                return choose_move();
        }
    }

    Action choose_move() {
        const DisputeId id = pick(disputes_);
        const auto dispute = find_dispute(chain_.view, id);
        if (!dispute || below(6) == 0 || dispute->position.is_at_proof()) {
            return ProveMove{id, {}};
        }
        const dispute::Position& position = dispute->position;
        if (!position.pending().empty()) {
            return SelectMove{id, position.rounds, {static_cast<std::uint32_t>(below(position.pending().size())), {}}};
        }
        std::vector<Hash256> children(dispute::split(dispute->claim, position).count, hash_of("child"));
        children.back() = dispute::claimed_last_child(dispute->claim, position).value_or(children.back());
        return RevealMove{id, position.rounds, children};
    }

    std::optional<Action> choose_fitting(const Task& task, const Actor& actor) {
        const bool is_solver = task.solver == actor.id;
        if (task.state == TaskState::kDrawn && is_solver) {
            return AcceptTask{task.id};
        }
        if (task.state == TaskState::kTraining && is_solver) {
            return task.checkpoints > segment_count(task.spec)
                       ? Action{CompleteTask{task.id}}
                       : Action{PostCheckpoint{task.id, task.checkpoints, root(task.checkpoints), {}}};
        }
        if (is_sitting(task) && below(3) != 0) {
            return make_attestation(chain_, run_, task.id, actor.id);
        }
        if (task.state < TaskState::kVerifying || task.state > TaskState::kDisclosure) {
            return std::nullopt;
        }
        for (const Assignment& assignment : task.assignments) {
            const std::uint32_t segment = assignment.segment;
            const auto& watchers = assignment.watchers;
            const bool watches = std::find(watchers.begin(), watchers.end(), actor.id) != watchers.end();
            if (is_secret(assignment) && assignment.verifier != actor.id && below(watches ? 2 : 20) == 0) {
                const DisputedVerdict subject{assignment.verifier};
                const DisputeId id = dispute_id(task.id, segment, actor.id, subject);
                ChallengeVerdict challenge{task.id, segment, assignment.verifier, Role::kWhistleblower};
                challenge.seal = challenge_seal(id, chain_.probe_root(segment, assignment.probe));
                return challenge;
            }
            if (assignment.verifier != actor.id) {
                continue;
            }
            const VerdictOpening mine =
                chain_.opening(actor, task.id, segment, run_.checkpoint_root(std::min(segment, 3U)));
            if (assignment.status == VerdictStatus::kDue) {
                return CommitVerdict{task.id, segment, verdict_commitment(task.id, segment, actor.id, mine)};
            }
            if (assignment.status == VerdictStatus::kCommitted) {
                const bool forced = is_forced(task, assignment, mine, chain_.params.forced_error_bps);
                return PublishVerdict{
                    task.id, segment, published_verdict(task, assignment, mine, forced != (below(9) == 0))};
            }
            const bool is_asked =
                task.state == TaskState::kDisclosure || !disputes_of(chain_.view, task.id, assignment).empty();
            if (is_secret(assignment) && is_asked && below(12) != 0) {
                return DiscloseVerdict{task.id, segment, mine};
            }
        }
        return std::nullopt;
    }

    Chain& chain_;
    const ToyRun& run_;
    std::mt19937_64 random_;
    bool is_quick_;  ///< its verifiers keep up with its tasks
    std::vector<TaskId> tasks_;
    std::vector<DisputeId> disputes_;
};

}  // namespace

TEST_CASE("LED-1: random actions by random actors never make, lose or strand money" * doctest::test_suite("full")) {
    const ToyRun run;
    std::map<TaskState, int> ends;
    std::map<Reason, int> payments;
    // Few crowds come as far as a broken commitment or a jackpot: as many as it takes, within reason.
    const auto is_enough = [&] {
        return payments[Reason::kBrokenCommitment] > 0 && payments[Reason::kJackpot] > 0 &&
               payments[Reason::kTax] > 0 && payments[Reason::kAttestation] > 0 && payments[Reason::kUnavailable] > 0;
    };
    for (std::uint64_t seed = 1; seed <= 6 || (!is_enough() && seed <= 200); ++seed) {
        CAPTURE(seed);
        Params params = quick_params();
        params.solver_bond = {5 * kCoin};
        params.solver_bond_bps = 5'000;
        params.verifier_bond_bps = 1'000;
        params.challenger_bond_bps = 500;
        params.value_per_check = {15 * kCoin};
        params.value_per_verifier = {20 * kCoin};
        params.accept_blocks = 12;
        params.forced_error_bps = 4'000;
        params.tax_bps = 300;
        params.watchers_per_verdict = 2;
        params.commit_blocks = 12;
        params.publish_blocks = 12;
        params.challenge_blocks = 12;
        params.disclose_blocks = 15;
        params.redraws_max = 1;
        Chain chain(params);
        Crowd crowd(chain, run, seed);
        chain.bond_all();
        CHECK(chain.run(chain.stranger, Bond{Role::kWhistleblower, {50 * kCoin}}) == 0);
        crowd.play(260);
        for (const Receipt& receipt : chain.last.receipts) {
            CHECK(receipt.code != static_cast<std::uint8_t>(TxError::kInvariantBroken));
        }
        chain.skip(240);
        for (const HistoryRecord& entry : chain.history) {
            if (const auto* paid = std::get_if<history::Paid>(&entry.event)) {
                ++payments[paid->reason];
            } else if (const auto* slashed = std::get_if<history::Slashed>(&entry.event)) {
                ++payments[slashed->reason];
            }
        }
        CHECK(crowd.tasks().size() > 2);
        for (const TaskId& id : crowd.tasks()) {
            const TaskState state = chain.task(id).state;
            ++ends[state];
            const bool resting = is_terminal(state) || state == TaskState::kOpen || state == TaskState::kDrawn;
            CHECK(resting);
        }
    }
    // The crowd gets far enough for the test to mean something.
    CHECK(ends[TaskState::kSettled] + ends[TaskState::kConvicted] > 3);
    CHECK(ends[TaskState::kExpired] > 0);
    CHECK(payments[Reason::kTax] > 0);
    CHECK(payments[Reason::kBrokenCommitment] > 0);
    CHECK(payments[Reason::kAttestation] > 0);
    CHECK(payments[Reason::kUnavailable] > 0);
}
