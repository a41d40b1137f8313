// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <contracts/state/dispute.hpp>
#include <core/crypto/keys.hpp>
#include <tests/simulation/session.hpp>
#include <verifier/roles/seats.hpp>

/// A worker's part in groups that compute each step together (GRP-11), as their lead or as another member. What it
/// answers, and to whom seats are given, it decides by verifier/roles and verifier/group, as assay-worker does.
namespace assay::simulation {

class Together final : public Fellow {
  public:
    using Actions = std::vector<contracts::Action>;
    struct Self {
        crypto::SecretKey key;
        int place = 0;
        Wrong wrong = Wrong::kNothing;
        std::string chain_id;
    };
    Together(Events& events, Company& company, model::Workshop& shop, Self self, const bool& is_down);
    ~Together() override = default;
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;

    bool demands = false;  ///< GRP-14: as a lead, of who is lost in a session
    bool admits = true;    ///< GRP-13: signs a smaller share, so that others can join

    /// What came of training a segment with the others so far.
    struct Progress {
        enum class State : std::uint8_t { kWaits, kAlone, kFinished };
        State state = State::kWaits;
        Hash256 root{};  ///< kFinished only: of the state after the segment
    };
    /// As the lead; `before` is the root of the last checkpoint.
    Progress train(const contracts::Task& task, std::uint32_t segment, const Hash256& before);
    /// Of a task with such a group: audits, reports, demands, and gives the seats anew.
    void attend(const contracts::StateView& state, const contracts::Task& task, Actions& out);
    /// STM-9: the accusation by which it answers a dispute in which it is to move.
    std::optional<contracts::Accuse> answer(const contracts::Task& task, const contracts::Dispute& dispute);
    /// The chain did not take its answer.
    void note_refused(const contracts::DisputeId& answered) { answers_[answered] = std::nullopt; }
    /// How it executes what it claims in an accusation of its own.
    model::Way accusing_way(const dispute::Claim& claim) const;
    /// Forgets everything, the disk being lost.
    void forget();

    const AccountId& account() const override { return id_; }
    int network_place() const override { return self_.place; }
    bool is_there() const override { return !is_down_; }
    Wrong wrong() const override { return self_.wrong; }
    Signature sign(const Hash256& digest) const override { return self_.key.sign(digest.view()); }
    void hear(const contracts::TaskId& task, std::uint64_t first_step, const std::shared_ptr<const group::Told>& told)
        override;
    void find(const contracts::TaskId& task, const AccountId& author, const group::Equivocation& found) override;
    bool has_quit(const contracts::Task& task) const override;
    bool wants_seat(const contracts::StateView& state, const contracts::Task& task) const override;
    std::optional<Signature> sign_seats(
        const contracts::StateView& state, const contracts::Task& task, const contracts::SeatsTerms& terms
    ) const override;

  private:
    using Heard = std::vector<std::shared_ptr<const group::Told>>;
    struct Team {
        std::shared_ptr<Session> session;
        std::uint32_t segment = 0;
        std::optional<std::uint64_t> asked_at_ms;  ///< since when members are waited for
        roles::Losses losses;
        std::optional<AccountId> broke;  ///< who was gone when the last session broke off
        std::uint32_t breaks = 0;        ///< since a segment was finished
        std::optional<std::uint32_t> alone;
        std::map<AccountId, std::size_t> demanded;  ///< how often it wants to demand of whom
    };
    struct Audit {
        std::uint32_t considered = 0;
        std::optional<std::uint32_t> segment{};
        std::uint64_t ready_at_ms = 0;
        std::vector<contracts::Accuse> found{};  ///< sent until the chain has them
    };

    bool can_reach(const Fellow& other) const;
    std::set<AccountId> gone(const contracts::Task& task) const;
    void leave_out_culprits(const contracts::Task& task, Team& team);
    std::optional<std::vector<Fellow*>> gather(const contracts::Task& task, Team& team, std::uint32_t segment);
    bool open(const contracts::Task& task, Team& team, std::uint32_t segment, const Hash256& before);
    void note_break(Team& team, std::uint32_t segment);
    void note_lost(Team& team, const AccountId& member);
    Progress finish(const contracts::Task& task, Team& team, std::uint32_t segment);

    void audit(const contracts::StateView& state, const contracts::Task& task, Actions& out);
    std::optional<contracts::Accuse> look(
        const contracts::StateView& state, const contracts::Task& task, std::uint32_t segment
    );
    void report(const contracts::Task& task, Actions& out);
    void tend(const contracts::StateView& state, const contracts::Task& task, Actions& out);
    /// A number below `bound` that this worker always has for the task and the purpose.
    std::uint64_t fixed(const contracts::TaskId& task, std::uint64_t purpose, std::uint64_t bound) const;

    Events& events_;
    Company& company_;
    model::Workshop& shop_;
    const Self self_;
    const AccountId id_;
    const bool& is_down_;
    std::map<contracts::TaskId, Team> teams_;                            ///< that it leads
    std::map<std::pair<contracts::TaskId, std::uint64_t>, Heard> told_;  ///< by the segment's first step
    std::map<contracts::TaskId, std::vector<std::pair<AccountId, group::Equivocation>>> findings_;
    std::map<contracts::TaskId, Audit> audits_;
    std::map<contracts::DisputeId, std::optional<contracts::Accuse>> answers_;
};

}  // namespace assay::simulation
