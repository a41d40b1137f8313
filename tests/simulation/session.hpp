// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <contracts/tasks/seats.hpp>
#include <core/dispute/statement.hpp>
#include <tests/model/workshop.hpp>
#include <tests/simulation/events.hpp>
#include <verifier/group/equivocation.hpp>
#include <verifier/group/ledger.hpp>

/// How accounts compute a segment together (GRP-11): the nodes of each step are divided among them, and whoever has
/// computed one tells those who read it, by a signed statement. Messages are lost, late and doubled as the network's
/// others, and sent again until they have come.
namespace assay::simulation {

/// What a member does wrong in its sessions.
enum class Wrong : std::uint8_t {
    kNothing,
    kMisstates,    ///< hands over a value that is not what follows from what it was told
    kEquivocates,  ///< tells one of several members another value than the others
    kDeserts,      ///< leaves in the middle, or stays and sends nothing any more
    kSlanders,     ///< accuses others of what they have stated rightly
};

/// A member as others see it.
class Fellow {
  public:
    virtual ~Fellow() = default;
    virtual const AccountId& account() const = 0;
    virtual int network_place() const = 0;
    virtual bool is_there() const = 0;
    virtual Wrong wrong() const = 0;
    virtual Signature sign(const Hash256& digest) const = 0;
    /// Keeps what it is told in the segment that begins with this step.
    virtual void hear(
        const contracts::TaskId& task, std::uint64_t first_step, const std::shared_ptr<const group::Told>& told
    ) = 0;
    /// Two values of one thing, signed by one member.
    virtual void find(const contracts::TaskId& task, const AccountId& author, const group::Equivocation& found) = 0;
    /// GRP-13: whether it takes part no more, whether it wants to join, and its signature of seats that it agrees to.
    virtual bool has_quit(const contracts::Task& task) const = 0;
    virtual bool wants_seat(const contracts::StateView& state, const contracts::Task& task) const = 0;
    virtual std::optional<Signature> sign_seats(
        const contracts::StateView& state, const contracts::Task& task, const contracts::SeatsTerms& terms
    ) const = 0;
};

/// Everybody who may be a member, and what they truly did, which the harness knows and no worker reads.
struct Company {
    using SegmentName = std::pair<contracts::TaskId, std::uint32_t>;
    std::map<AccountId, Fellow*> fellows;
    /// Who told somebody something in the segment that does not follow from what it was told itself.
    std::map<SegmentName, std::set<AccountId>> liars;
    /// Of whom an honest member has found two signed values of one thing.
    std::set<std::pair<contracts::TaskId, AccountId>> caught;
    /// Where an honest lead has posted a segment although an honest member had found somebody so in the same session.
    std::set<contracts::TaskId> missed;
    std::map<std::string, std::uint64_t> counts;
};

struct SessionTerms {
    contracts::TaskId task;
    std::string chain_id;
    std::uint32_t segment = 1;
    std::uint64_t first_step = 0;
    std::uint64_t steps = 1;
    Hash256 before;  ///< the root of `state`
    model::State state;
};

/// One run of a segment. The first member is the lead.
class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(
        Events& events, Company& company, const model::ToyRun& program, SessionTerms terms, std::vector<Fellow*> members
    );
    void begin();
    /// The lead ends it.
    void close() { is_over_ = true; }

    enum class Phase : std::uint8_t { kRuns, kBroken, kFinished };
    Phase phase() const { return phase_; }
    /// Of one that broke off: whom the lead takes for the first that was gone; nobody if that was the lead itself.
    const std::optional<AccountId>& blamed() const { return blamed_; }
    bool has(const AccountId& account) const;
    /// Of whom an honest member has found in it that it told two things.
    const std::set<AccountId>& caught() const { return caught_; }
    /// Of a finished one: the state after the segment, as the lead was told it.
    model::State result() const;

  private:
    /// What a message says: a tensor of the first state, or the output of a node in a step.
    struct Place {
        std::uint64_t step = 0;
        canonical::Source source = canonical::Source::kNode;
        std::uint32_t index = 0;
        auto operator<=>(const Place&) const = default;
    };
    struct Rank {
        Fellow* fellow = nullptr;
        std::map<Place, canonical::Tensor> has{};
        std::vector<std::shared_ptr<const group::Told>> heard{};
        std::map<std::size_t, std::vector<std::shared_ptr<const group::Told>>> shown{};  ///< by others, to it
        std::map<std::uint32_t, group::Equivocation> found{};                            ///< by author
        std::set<std::size_t> has_evidence_of{};  ///< others that have shown what they found, which may be nothing
        bool has_shown = false;                   ///< what it found
        std::uint64_t step = 0;
        std::uint32_t node = 0;      ///< that it looks at next
        std::uint64_t since_ms = 0;  ///< of its last progress
        bool is_done = false;
        bool has_left = false;
        bool is_silent = false;
        std::optional<std::uint64_t> stops_at{};  ///< step
        std::optional<Place> lies_at{};
    };

    void divide();
    void divide(std::size_t shift, std::size_t stride);
    std::vector<Place> hidden_from_lead(std::size_t rank) const;
    void plan_wrongs();
    Place origin(std::uint64_t step, const canonical::Input& input) const;
    Place origin_of_state(std::uint64_t step, std::uint32_t tensor) const;
    std::size_t author(const Place& place) const;
    std::optional<Place> lacking(std::size_t rank, std::uint64_t step, std::uint32_t node) const;
    /// What the rank waits for: the first thing that it lacks.
    std::optional<Place> awaited(std::size_t rank) const;
    void advance(std::size_t rank);
    void compute(Rank& rank);
    void tell_all(std::size_t from, const Place& place);
    void tell(std::size_t from, std::size_t to, const Place& place, bool is_altered);
    std::shared_ptr<const group::Told> state_it(
        std::size_t author, const Place& place, const canonical::Tensor& values
    );
    void take(
        std::size_t rank, const Place& place, const canonical::Tensor& values,
        const std::shared_ptr<const group::Told>& told
    );
    void finish(std::size_t rank);
    void compare(std::size_t rank, std::size_t with);
    bool is_finished(const Rank& rank) const;
    void show_evidence(std::size_t rank);
    std::optional<group::Equivocation> forge_evidence(std::size_t rank) const;
    void look_at(std::size_t rank, const std::vector<group::Equivocation>& shown);
    void find(Rank& rank, const group::Equivocation& found);
    void post(std::size_t from, std::size_t to, std::function<void()> arrive);
    void send_again(
        std::size_t from, std::size_t to, std::uint64_t message, const std::function<void()>& arrive, int tries
    );
    void watch();
    void leave(std::size_t rank);
    void end(Phase phase, const std::optional<AccountId>& blamed);

    Events& events_;
    Company& company_;
    const model::ToyRun& program_;
    const canonical::Graph& graph_;
    SessionTerms terms_;
    Hash256 session_;
    std::vector<Rank> ranks_;
    std::vector<std::size_t> owners_;                                       ///< of each node
    std::map<Place, std::set<std::size_t>> readers_;                        ///< the ranks that are told it
    std::map<Place, std::shared_ptr<const plan::MessagePieces>> messages_;  ///< by source and index; step is 0
    std::set<AccountId> caught_;
    std::set<std::uint64_t> arrived_;
    std::uint64_t sent_ = 0;
    Phase phase_ = Phase::kRuns;
    std::optional<AccountId> blamed_;
    bool is_over_ = false;
};

}  // namespace assay::simulation
