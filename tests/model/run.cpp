// SPDX-License-Identifier: Apache-2.0
#include <tests/model/run.hpp>

#include <algorithm>
#include <functional>
#include <list>
#include <tuple>
#include <utility>

#include <contracts/params/gas.hpp>
#include <core/base/assert.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/jmt.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::model {

using contracts::TaskState;
using contracts::TxError;

namespace {

/// Of groups that compute each step together, whose refusals are counted by action.
bool is_of_members(const contracts::Action& action) {
    return std::holds_alternative<contracts::Accuse>(action) ||
           std::holds_alternative<contracts::ReportEquivocation>(action) ||
           std::holds_alternative<contracts::Reseat>(action) || std::holds_alternative<contracts::Demand>(action);
}

/// A chain, its mirror and its model, block by block.
class Session {
  public:
    Session(const Crowd& crowd, Flaw flaw) : model_(crowd.params(), crowd.genesis(), flaw) {
        const auto changes = contracts::make_genesis(crowd.genesis()).value();
        view_.apply(changes);
        mirror_.apply(changes);
    }

    /// The first fault, in words.
    std::string run(const Block& block, Coverage& coverage) {
        std::vector<Bytes> bytes;
        for (const Sent& sent : block.txs) {
            bytes.push_back(sent.bytes);
        }
        outcome_ = contracts::apply_block(view_, Crowd::kChainId, block.context, bytes);
        view_.apply(outcome_.changes);
        mirror_.apply(outcome_.changes);
        note(block, outcome_, coverage);
        note_gas(outcome_);
        if (auto fault = model_.run_block(block.context, block.txs, outcome_, mirror_); !fault.empty()) {
            return fault;
        }
        return find_fault(outcome_);
    }

    const Model& model() const { return model_; }
    const Mirror& mirror() const { return mirror_; }
    /// What the chain made of the last block.
    const contracts::BlockOutcome& outcome() const { return outcome_; }

    Hash256 app_hash() const {
        struct Nothing final : merkle::NodeReader {
            std::optional<Bytes> read_node(const merkle::NodeKey& /*key*/) const override { return std::nullopt; }
        };
        std::map<Bytes, std::optional<Bytes>> slots;
        for (const auto& [key, value] : view_.slots()) {
            slots[key] = value;
        }
        return merkle::update_tree(Nothing{}, std::nullopt, 1, slots).root;
    }

    /// What has not ended; empty when everything has.
    std::string find_unended() const {
        for (const auto& [id, task] : mirror_.world.tasks) {
            if (!is_over(task.state)) {
                return std::string("a task is still ") + to_string(task.state);
            }
            if (task.escrow != 0) {
                return "an escrow was not closed";
            }
        }
        for (const auto& [id, dispute] : mirror_.world.disputes) {
            if (contracts::is_open(dispute.state)) {
                return "a dispute is still open";
            }
        }
        std::map<StakeKey, std::uint64_t> seated;
        for (const auto& [account, seat] : mirror_.world.beacon.seats) {
            seated[{Role::kVerifier, account}] = seat.bond;
        }
        for (const auto& [key, stake] : mirror_.world.stakes) {
            if (stake.locked != seated[key] || !stake.parts.empty()) {
                return "stake is still locked or unbonding";
            }
        }
        return {};
    }

  private:
    void note(const Block& block, const contracts::BlockOutcome& outcome, Coverage& coverage) {
        for (std::size_t i = 0; i < outcome.receipts.size(); ++i) {
            const std::uint8_t code = outcome.receipts[i].code;
            const contracts::Action& action = block.txs[i].body.action;
            if (code != 0 && is_of_members(action)) {
                ++coverage[std::string(action_name(action)) + " refused: " + to_string(static_cast<TxError>(code))];
            }
            ++coverage
                [code == 0 ? std::string("action ") + action_name(block.txs[i].body.action)
                           : std::string("refusal ") + to_string(static_cast<TxError>(code))];
            if (is_answer(block.txs[i])) {
                ++coverage
                    [code == 0 ? std::string("answer ") + action_name(block.txs[i].body.action)
                               : std::string("answer refused: ") + to_string(static_cast<TxError>(code))];
            }
        }
        for (const contracts::HistoryRecord& entry : outcome.history) {
            if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
                ++coverage[std::string("slash ") + to_string(slashed->reason)];
            } else if (const auto* paid = std::get_if<contracts::history::Paid>(&entry.event)) {
                ++coverage[std::string("payment ") + to_string(paid->reason)];
            } else if (const auto* entered = std::get_if<contracts::history::StateChanged>(&entry.event)) {
                ++coverage[std::string("task ") + to_string(entered->state)];
            } else if (const auto* ended = std::get_if<contracts::history::DisputeEnded>(&entry.event)) {
                ++coverage
                    [std::string("dispute ") + (ended->claim_refuted ? "refuted " : "upheld ") +
                     to_string(ended->reason)];
                note_score(*ended, coverage);
            } else if (const auto* found = std::get_if<contracts::history::CommitteeEnded>(&entry.event)) {
                ++coverage[found->is_available ? "committee available" : "committee withheld"];
            } else if (const auto* over = std::get_if<contracts::history::ProfilingEnded>(&entry.event)) {
                ++coverage[std::string("profiling ") + to_string(over->outcome)];
            } else if (const auto* moved = std::get_if<contracts::history::DisputeMoved>(&entry.event)) {
                ++coverage[std::string("move at ") + to_string(moved->level)];
            } else {
                ++coverage[std::string("event ") + contracts::event_name(entry.event)];
            }
        }
        const Beacon& beacon = mirror_.world.beacon;
        if (!beacon.withheld.empty()) {
            ++coverage["beacon withheld"];
        }
        for (const contracts::HistoryRecord& entry : outcome.history) {
            if (const auto* closed = std::get_if<contracts::history::RoundClosed>(&entry.event)) {
                ++coverage[closed->contributors == 0 ? "beacon alone" : "beacon closed by secrets"];
            }
        }
        for (const auto& [account, validator] : mirror_.world.validators) {
            coverage["validator jailed"] += validator.jailed_until != 0 && !validator.banned ? 1 : 0;
            coverage["validator banned"] += validator.banned ? 1 : 0;
        }
    }

    /// What transactions write at once and leave to be written by deadlines and draws; the records of validators follow
    /// from the engine's evidence and votes, and the base fee is one slot for a block.
    void note_gas(const contracts::BlockOutcome& outcome) {
        for (const contracts::Receipt& receipt : outcome.receipts) {
            gas_ += receipt.gas;
        }
        for (const auto& [key, value] : outcome.changes) {
            const auto kind = static_cast<contracts::SlotKind>(key.front());
            slots_written_ +=
                kind == contracts::SlotKind::kValidator || kind == contracts::SlotKind::kBaseFee ? 0U : 1U;
        }
    }

    void note_score(const contracts::history::DisputeEnded& ended, Coverage& coverage) {
        const Dispute& dispute = mirror_.world.disputes.at(ended.dispute);
        if (is_evaluation(mirror_.world.tasks.at(dispute.task), dispute.segment)) {
            const std::string ruling = ended.claim_refuted ? "score refuted " : "score upheld ";
            ++coverage[ruling + to_string(ended.reason)];
        }
    }

    /// What holds whatever the model says.
    std::string find_fault(const contracts::BlockOutcome& outcome) {
        const World& world = mirror_.world;
        if (count_money(world) != world.supply) {
            return "the supply changed";
        }
        if (slots_written_ * contracts::kGasPerSlot > gas_) {
            return "more slots were written than gas was counted for";  // GAS-5
        }
        for (const contracts::Receipt& receipt : outcome.receipts) {
            if (receipt.code == static_cast<std::uint8_t>(TxError::kInvariantBroken)) {
                return "a transaction would have broken an invariant";
            }
        }
        for (const auto& [id, task] : world.tasks) {
            if (!is_over(task.state)) {
                continue;
            }
            const auto [found, is_new] = ended_.emplace(id, std::pair{task.state, task.escrow});
            if (!is_new && found->second != std::pair{task.state, task.escrow}) {
                return "a task that was over changed";
            }
        }
        return {};
    }

    contracts::test::MapView view_;
    contracts::BlockOutcome outcome_;
    Mirror mirror_;
    Model model_;
    std::map<TaskId, std::pair<TaskState, std::uint64_t>> ended_;
    std::uint64_t gas_ = 0;
    std::uint64_t slots_written_ = 0;
};

contracts::BlockContext make_context(std::uint64_t seed, std::uint64_t height) {
    contracts::BlockContext context;
    context.height = {height};
    context.time_ms = 1'000 * height;
    context.block_hash = mix({}, {}, seed * 1'000'000 + height);
    return context;
}

/// Cancels every task that nobody would ever have to accept.
std::vector<Sent> cancel_waiting(const Crowd& crowd, const World& world) {
    std::vector<Sent> out;
    std::map<AccountId, std::uint64_t> used;
    for (const auto& [id, task] : world.tasks) {
        if (task.state == TaskState::kOpen || task.state == TaskState::kDrawn) {
            const std::uint64_t nonce = world.people.at(task.submitter).nonce + used[task.submitter]++;
            out.push_back(crowd.send(task.submitter, contracts::CancelTask{id}, nonce));
        }
    }
    return out;
}

constexpr int kAttempts = 200;              ///< replays that shrinking may cost
constexpr std::uint64_t kPatience = 3'000;  ///< blocks within which everything ends

/// What looks at the chain after each block of a run; false: the run may end.
using Onlooker = std::function<bool(const Session& session, const Block& block)>;

Run play(Crowd& crowd, std::uint64_t seed, int active, Flaw flaw, const Onlooker& look) {
    Session session(crowd, flaw);
    Run run;
    for (std::uint64_t height = 1;; ++height) {
        const bool drains = height > static_cast<std::uint64_t>(active);
        if (drains && session.find_unended().empty()) {
            break;
        }
        if (height > static_cast<std::uint64_t>(active) + kPatience) {
            run.failure = {
                run.blocks.size() - 1,
                "after " + std::to_string(kPatience) + " quiet blocks " + session.find_unended()};
            return run;
        }
        Block block{make_context(seed, height), {}};
        crowd.see_price(session.mirror().world);
        if (drains) {
            block.txs = cancel_waiting(crowd, session.mirror().world);
        } else {
            block.txs = crowd.next_block(session.mirror(), height);
            crowd.add_engine(block.context, session.mirror());
        }
        run.txs += block.txs.size();
        run.blocks.push_back(std::move(block));
        if (auto fault = session.run(run.blocks.back(), run.coverage); !fault.empty()) {
            run.failure = {run.blocks.size() - 1, fault};
            return run;
        }
        if (!look(session, run.blocks.back())) {
            break;
        }
    }
    run.app_hash = session.app_hash();
    for (const auto& [name, count] : session.model().seen()) {
        run.coverage[name] += count;
    }
    return run;
}

}  // namespace

Run play(Workshop& shop, std::uint64_t seed, int active, Flaw flaw) {
    Crowd crowd(shop, seed);
    return play(crowd, seed, active, flaw, [](const Session& /*session*/, const Block& /*block*/) { return true; });
}

std::vector<Flaw> find_unnoticed(Workshop& shop, std::uint64_t seed, int active, const std::vector<Flaw>& flaws) {
    Crowd crowd(shop, seed);
    std::list<std::pair<Flaw, Model>> models;
    for (const Flaw flaw : flaws) {
        models.emplace_back(
            std::piecewise_construct, std::tuple{flaw}, std::tuple{crowd.params(), crowd.genesis(), flaw}
        );
    }
    const Run run = play(crowd, seed, active, Flaw::kNone, [&](const Session& session, const Block& block) {
        std::erase_if(models, [&](auto& entry) {
            return !entry.second.run_block(block.context, block.txs, session.outcome(), session.mirror()).empty();
        });
        return !models.empty();
    });
    ASSERT(!run.failure);
    std::vector<Flaw> unnoticed;
    for (const auto& [flaw, model] : models) {
        unnoticed.push_back(flaw);
    }
    return unnoticed;
}

Run replay(const Crowd& crowd, const std::vector<Block>& blocks, Flaw flaw) {
    Session session(crowd, flaw);
    Run run;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (auto fault = session.run(blocks[i], run.coverage); !fault.empty()) {
            run.failure = {i, fault};
            return run;
        }
    }
    run.app_hash = session.app_hash();
    return run;
}

std::string shrink(Workshop& shop, std::uint64_t seed, const Run& failing, Flaw flaw) {
    const Crowd crowd(shop, seed);
    std::vector<Block> blocks = failing.blocks;
    blocks.resize(failing.failure->block + 1);
    std::vector<std::pair<std::size_t, std::size_t>> kept;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        for (std::size_t t = 0; t < blocks[b].txs.size(); ++t) {
            kept.emplace_back(b, t);
        }
    }
    std::string what = failing.failure->what;
    int attempts = kAttempts;
    for (std::size_t chunk = kept.size(); chunk >= 1; chunk /= 2) {
        for (std::size_t from = 0; from < kept.size() && attempts > 0; --attempts) {
            std::vector<Block> less = blocks;
            const std::size_t to = std::min(from + chunk, kept.size());
            for (std::size_t i = from; i < to; ++i) {
                Sent& sent = less[kept[i].first].txs[kept[i].second];
                sent = crowd.send_nothing(sent);
            }
            const Run run = replay(crowd, less, flaw);
            if (run.failure) {
                blocks = std::move(less);
                blocks.resize(run.failure->block + 1);
                what = run.failure->what;
                kept.erase(
                    kept.begin() + static_cast<std::ptrdiff_t>(from), kept.begin() + static_cast<std::ptrdiff_t>(to)
                );
                std::erase_if(kept, [&](const auto& at) { return at.first >= blocks.size(); });
            } else {
                from = to;
            }
        }
    }
    std::string out = what + "\n";
    for (const auto& [b, t] : kept) {
        const contracts::TxBody& body = blocks[b].txs[t].body;
        out +=
            "block " + std::to_string(b + 1) + ": " + action_name(body.action) + " by " + name_of(body.sender) + "\n";
    }
    return out;
}

}  // namespace assay::model
