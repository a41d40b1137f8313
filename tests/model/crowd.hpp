// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <core/sealed/files/check.hpp>
#include <tests/model/model.hpp>
#include <tests/model/workshop.hpp>

/// Actors who do what the chain asks of them, lie, keep silent, or send nonsense: each by a strategy that follows from
/// the seed. They see the chain's state and what they committed to, and nothing of each other.
namespace assay::model {

/// The chain that a seed makes: short clocks and odd shares, and often a lane of duties that is soon full.
contracts::Params make_params(std::uint64_t seed);

/// Whether the task is of the program whose training diverges.
bool is_of_diverging(const Task& task, const Workshop& shop);

class Crowd {
  public:
    Crowd(Workshop& shop, std::uint64_t seed);

    contracts::Genesis genesis() const;
    const contracts::Params& params() const { return params_; }
    /// What a unit of gas costs from now on.
    void see_price(const World& world);
    /// What reaches the block at `height`, and the engine's part of it.
    std::vector<Sent> next_block(const Mirror& chain, std::uint64_t height);
    void add_engine(contracts::BlockContext& block, const Mirror& chain);
    /// `action` as `sender` would send it, well-formed and paid for.
    Sent send(
        const AccountId& sender, const contracts::Action& action, std::uint64_t nonce,
        const std::optional<AccountId>& owner = std::nullopt
    ) const;
    /// A transfer of nothing in the place of another transaction, without a fee where that has none.
    Sent send_nothing(const Sent& instead_of) const;

    static constexpr const char* kChainId = "model-1";

  private:
    struct Actor {
        crypto::SecretKey key;
        AccountId id;
        int diligence = 90;  ///< of 100 chances to act, how many it takes
        int honesty = 90;    ///< of 100 duties, how many it does rightly
        Role role = Role::kSolver;
    };
    using Actions = std::vector<contracts::Action>;
    using Sents = std::vector<Sent>;

    // crowd.cpp
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }
    /// A number below `bound` that follows from the names alone, for strategies that last.
    std::uint64_t fixed(const Hash256& name, const AccountId& actor, std::uint32_t purpose, std::uint64_t bound) const;
    bool is_honest(const Actor& actor, const Hash256& duty, std::uint32_t purpose) const;
    Sent damage(Sent sent);
    void look_for_work(const Actor& actor, const Mirror& chain, Actions& out);
    contracts::RegisterValidator registration(const AccountId& account);
    void add_motions(const Actor& actor, const World& world, Actions& out);
    contracts::Action random_motion();
    void add_money(const Actor& actor, const World& world, Actions& out);
    void add_contributions(const Actor& actor, const World& world, Actions& out);
    void add_submission(const Actor& actor, const World& world, Actions& out);
    contracts::TaskSpec make_spec(const World& world);
    contracts::Environment environment();        ///< one of a few
    void add_wishes(contracts::TaskSpec& spec);  ///< at times an environment, and checks

    // answers.cpp
    /// Who sends what the actor has to do: itself, its operator, or sometimes somebody whom it has not named.
    struct Signer {
        AccountId id;
        std::optional<AccountId> owner;
    };
    Signer signer_of(const Actor& actor, const World& world);
    Sent answer(
        const AccountId& sender, const contracts::Action& action, std::uint64_t due,
        const std::optional<AccountId>& owner = std::nullopt
    ) const;
    /// Sends the action without a fee, mostly rightly. Returns whether the actor leaves it at that.
    bool answer_duty(
        const Actor& actor, const Signer& signer, const contracts::Action& action, const World& world, Sents& out,
        Sents& late
    );
    void remember(const Sent& sent);
    void send_again(Sents& out);

    // duties.cpp
    Way way_of(const AccountId& solver, const TaskId& id, const Task& task) const;
    /// GRP-2: alone, or with other solvers; sometimes with what the chain refuses.
    contracts::AcceptTask make_acceptance(const Actor& actor, const TaskId& id, const Task& task, const World& world);
    void add_solving(const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out);
    void add_verdicts(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    void add_profiling(const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out);
    void add_accusations(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    void add_profile_accusations(
        const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out
    );
    std::optional<contracts::Action> next_checkpoint(
        const Actor& actor, const TaskId& id, const Task& task, const World& world
    );
    std::optional<contracts::Evaluation> final_score(const Actor& actor, const TaskId& id, const Task& task);
    Hash256 spoiled(const Hash256& root);
    Hash256 true_end(const Task& task, std::uint32_t segment, std::uint64_t steps);
    contracts::VerdictOpening opening(const Actor& actor, const TaskId& id, const Task& task, const Duty& duty);
    Hash256 true_start(const Task& task, const World& world);
    contracts::ProfileReport report(const Actor& actor, const TaskId& id, const Task& task, const World& world);
    void add_attestations(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    std::optional<contracts::Retention> make_retention(const contracts::TaskSpec& spec);
    void add_shows(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    bool is_withheld(const TaskId& id, const Task& task) const;
    std::optional<contracts::MeasuredRoots> roots_of(const std::array<Hash256, 3>& states) const;
    /// A verdict's part that `actor` finds wrong, or picks without reason.
    void add_verdict_challenge(const Actor& actor, const TaskId& id, const Task& task, const Duty& duty, Actions& out);

    // sealing.cpp: private tasks.
    std::optional<contracts::Privacy> make_privacy(const contracts::TaskSpec& spec);
    /// The sealed file of a checkpoint, which some solvers damage; for a state that nobody has, something invented.
    std::optional<contracts::SealedFile> seal(
        const Actor& actor, const TaskId& id, const Task& task, std::uint32_t index, const Hash256& root
    );
    bool can_read(const Task& task, const AccountId& account) const;
    Bytes make_share(const sealed::TaskSecret& secret, const AccountId& reader, const sealed::ShareName& name);
    void add_sharing(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    void add_key_reports(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    void add_chunk_reports(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    contracts::ReportWrongChunk report_chunk(
        const Actor& actor, const TaskId& id, const Task& task, std::uint32_t checkpoint
    );
    /// What of a checkpoint shows what a draw asked for; nothing where nobody has it.
    std::optional<contracts::DrawnOpening> show(const Task& task, const Asked& asked) const;

    // tellings.cpp
    struct Told {
        dispute::StatedPiece stated;
        Signature signature;
    };
    /// STM-2: the statement of a piece, among others.
    Told tell(
        const Actor& author, const dispute::Claim& claim, const TaskId& id, std::uint64_t step,
        const dispute::Piece& piece
    );
    std::optional<contracts::Accuse> make_accusation(
        const Actor& actor, const TaskId& id, const Task& task, std::uint32_t segment,
        const std::optional<DisputeId>& answers
    );
    void spoil_accusation(contracts::Accuse& action, const Task& task);
    void add_tellings(const Actor& actor, const TaskId& id, const Task& task, Actions& out);
    void add_report(const Actor& actor, const Actor& author, const TaskId& id, const Task& task, Actions& out);
    const Actor& actor_of(const AccountId& account) const;
    const Actor& any_member(const Task& task);

    // reseats.cpp
    void add_reseats(const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out);

    // moves.cpp
    Player make_accusing_player(
        const DisputeId& id, const Dispute& dispute, const dispute::Claim& claim, bool responds
    );
    void add_moves(const Actor& actor, const Mirror& chain, Actions& out);
    Player make_player(const Actor& actor, const DisputeId& id, const Mirror& chain, bool responds);
    std::optional<contracts::Action> make_move(
        Player& player, const DisputeId& id, const Mirror& chain, const Actor& actor
    );
    void remember_reveals(const Mirror& chain);
    contracts::TaskSpec spoil(contracts::TaskSpec spec, const TaskId& parent);
    contracts::Action nonsense(const Actor& actor, const Mirror& chain);

    Workshop& shop_;
    std::uint64_t seed_;
    std::mt19937_64 random_;
    contracts::Params params_;
    std::uint64_t gas_price_;
    bool quarrels_;             ///< whether there are as many disputes as the lane of duties has room for
    bool talks_;                ///< whether most tasks are trained by groups that compute each step together
    std::deque<Sent> answers_;  ///< the last ones
    std::vector<Actor> actors_;
    std::map<std::tuple<TaskId, std::uint32_t, AccountId>, contracts::VerdictOpening> openings_;
    std::map<std::pair<TaskId, AccountId>, contracts::ProfileReport> reports_;
    std::map<std::pair<DisputeId, AccountId>, Player> players_;
    std::map<DisputeId, Way> accused_by_;  ///< what an accuser claims to have executed
    std::map<DisputeId, std::vector<dispute::NodeReveal>> reveals_;
    std::map<DisputeId, std::uint32_t> remembered_;  ///< the rounds whose reveal is in reveals_
    std::vector<sealed::TaskSecret> secrets_;  ///< of private tasks: the first of the tasks, the others of checkpoints
    std::map<Hash256, Bytes> shares_;          ///< by SHA-256
    std::map<Hash256, Bytes> sealed_files_;    ///< by root
    std::map<std::tuple<TaskId, Hash256, sealed::TaskKey>, contracts::SealedFile> seals_;
};

}  // namespace assay::model
