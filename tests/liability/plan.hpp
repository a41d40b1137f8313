// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <contracts/tasks/seats.hpp>
#include <core/crypto/keys.hpp>
#include <core/dispute/statement.hpp>
#include <core/sealed/share.hpp>
#include <tests/model/records.hpp>
#include <tests/simulation/worker.hpp>

/// Attacks by somebody who knows the rules: each is one that paid off under an earlier rule, with what it leaves open
/// varied by the seed. The attacker of attacker.hpp, which knows nothing, would hardly find them.
namespace assay::liability {

enum class PlanKind : std::uint8_t {
    kNone,
    kLiar,        ///< a verifier that publishes what no replay gives: a divergence, an end root, a distance
    kSpammer,     ///< a sender whose first transaction takes the money that those behind it are to pay with
    kDrafter,     ///< a submitter whose worthless tasks nobody can do, while a cheat's work is judged
    kWithholder,  ///< a solver that shows its states to nobody, or to committees alone, whether it trained them or not
    kBait,        ///< a submitter of deadlines that can just be met, where a solver has an outage
    kSquatter,    ///< copies others' registrations as validators out of the mempool
    kWaiter,      ///< a submitter of many tasks that nobody will ever take
    kCrowder,  ///< a submitter of worthless tasks that take all stake from which honest work's verifiers would be drawn
    kFiller,   ///< fills every block while others owe something
    kSyndicate,  ///< a group that shows its states to nobody, or to committees alone, stops early or does not train,
                 ///< and is convicted member by member
    kScapegoat,  ///< a group that computes together, whose lead blames an accomplice for a segment that verifiers
                 ///< accepted
    kVoters,     ///< validators with two thirds of the power, or a little more, that vote for whatever can be proposed
    kKeeper,     ///< a solver of private tasks that withholds keys, shares others, or seals what is not the checkpoint
    kTeaser,     ///< a submitter of private tasks that shares their keys with nobody, or others in their place
    kReader,     ///< a verifier of private tasks that says of right keys and files that they are wrong
    kThief,      ///< has an operator's key, and does its owner's duties as badly as it can until another one is named
    kMob,        ///< whistleblowers that dispute all segments of an honest task at once
};
inline constexpr std::uint64_t kPlans = 18;
inline constexpr std::uint64_t kSeedPlans = 12;  ///< of these, the first ones, that seeds have; the others are named
const char* to_string(PlanKind kind) noexcept;

/// What the attackers of a plan see and act on.
struct Stage {
    simulation::Replica& node;
    const model::Mirror& chain;
    simulation::Bulletin& bulletin;  ///< where attackers, too, show what they have
    model::Workshop& shop;
    simulation::Gauge& gauge;
};

/// An account of the attackers.
class Member {
  public:
    Member(crypto::SecretKey key, std::string chain_id)
        : key_(std::move(key)), id_(key_.account()), chain_id_(std::move(chain_id)) {}

    const AccountId& id() const { return id_; }
    std::uint64_t balance(const Stage& stage) const;
    /// Sends at once, behind what it has in the mempool; with `owner`, as that account's operator. False: the node does
    /// not take it.
    bool send(
        const Stage& stage, const contracts::Action& action, std::uint64_t fee = kFee,
        const std::optional<AccountId>& owner = std::nullopt
    ) const;
    /// As send(), but the same action again after ten blocks at the earliest.
    bool send_once(
        const Stage& stage, const contracts::Action& action, const std::optional<AccountId>& owner = std::nullopt
    );
    /// SEA-20: what was shared with it, if it opens.
    std::optional<sealed::TaskSecret> open_share(const sealed::TaskKey& key, const Bytes& share) const;
    /// SEA-21: what it can say against a share.
    std::optional<sealed::WrongShare> report_share(const Bytes& share) const;
    /// GRP-2: its signature of the seats that an acceptance lists.
    Signature sign_seats(const contracts::SeatsTerms& terms) const;
    /// STM-2
    Signature sign_statement(const dispute::Statement& statement) const;
    /// Bonds so much, once.
    void bond(const Stage& stage, contracts::Role role, std::uint64_t grains);
    /// VAL-1: with a consensus key of its own, which `secret` names.
    void register_validator(const Stage& stage, std::uint8_t secret);

    static constexpr std::uint64_t kFee = 2'000'000;

  private:
    crypto::SecretKey key_;
    AccountId id_;
    std::string chain_id_;
    std::map<Bytes, std::uint64_t> sent_at_;
};

class Plan {
  public:
    Plan(std::uint64_t seed, std::vector<Member> members) : members_(std::move(members)), random_(seed * 17 + 5) {}
    virtual ~Plan() = default;

    /// What the network has to be like for the attack to be worth trying.
    virtual void set_scene(contracts::Params& /*params*/, std::vector<simulation::Kind>& /*kinds*/) {}
    virtual void set_order(simulation::Order& /*order*/) {}
    /// Whether all of its networks have machines for which replays take long, and not every fifth.
    virtual bool has_slow_machines() const { return false; }
    /// Called twice a block.
    virtual void act(const Stage& stage) = 0;
    /// Called after each block, with the state after it. Throws simulation::Broken if what the plan is about does not
    /// hold.
    virtual void see_block(
        const model::World& /*world*/, const std::vector<Bytes>& /*txs*/, const contracts::BlockOutcome& /*outcome*/
    ) {}
    /// What happened in the run, counted by name: a part of its report.
    std::map<std::string, std::uint64_t> outcomes;

    const std::vector<Member>& members() const { return members_; }

    static constexpr int kMembers = 3;

  protected:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool chance(std::uint32_t percent) { return below(100) < percent; }
    /// An accomplice that accepts whatever it is shown is drawn for a wrong segment with a chance that deterrence is
    /// about, and no law: where nobody else could see the fraud there must be none.
    static void without_accomplices(std::vector<simulation::Kind>& kinds) {
        std::erase_if(kinds, [](simulation::Kind kind) { return !simulation::is_honest(kind); });
    }
    /// Whether the task's program is the one that everybody has.
    static bool is_known(const model::Workshop& shop, const contracts::TaskSpec& spec) {
        return spec.program == shop.spec(false).program && spec.seed == shop.spec(false).seed && !spec.parent;
    }
    Member& member(std::size_t place) { return members_.at(place); }

  private:
    std::vector<Member> members_;
    std::mt19937_64 random_;
};

/// Null for kNone.
std::unique_ptr<Plan> make_plan(PlanKind kind, std::uint64_t seed, std::vector<Member> members);

// By the file that has them.
std::unique_ptr<Plan> make_reader_or_keeper(PlanKind kind, std::uint64_t seed, std::vector<Member> members);
std::unique_ptr<Plan> make_sender(PlanKind kind, std::uint64_t seed, std::vector<Member> members);
std::unique_ptr<Plan> make_scapegoat(std::uint64_t seed, std::vector<Member> members);
std::unique_ptr<Plan> make_swindler(PlanKind kind, std::uint64_t seed, std::vector<Member> members);
std::unique_ptr<Plan> make_mob(std::uint64_t seed, std::vector<Member> members);
std::unique_ptr<Plan> make_thief(std::uint64_t seed, std::vector<Member> members);
std::unique_ptr<Plan> make_voters(std::uint64_t seed, std::vector<Member> members);

}  // namespace assay::liability
