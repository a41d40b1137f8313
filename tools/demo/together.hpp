// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/demo.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/story.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::demo {

/// What is particular to a group whose accounts compute each step together (GRP-11), and answer for what they tell each
/// other (STM rules).
class TogetherCast {
  public:
    explicit TogetherCast(const DemoOptions& options);

    /// In whose middle a member lies: behind the middle of the task, so that something is left of it, or where members
    /// audit, who can accuse only until the training ends (STM-8), the second segment.
    std::uint32_t lying_segment() const { return audit_every_ != 0 ? 1 : segments_ * 5 / 8; }
    /// The worker's arguments of a member.
    std::vector<std::string> arguments_of(std::uint32_t rank) const;
    /// Whether the member comes once the others train; and whether it has to come, or go, after what was heard.
    bool comes_late(std::uint32_t rank) const { return rank == joining_; }
    std::optional<std::uint32_t> take_comer();
    std::optional<std::uint32_t> take_goer();
    /// Notes what members sent each other, and whom they accused.
    void hear(const WorkerEvent& heard);
    /// What members sent and held beside what the plan says, and who accused whom of what.
    nlohmann::json report(const Network& network, const program::Program& program, const Story& story) const;
    /// What is not as it should be, in words. `is_wrong`: a member has told others something wrong.
    std::vector<std::string> judge(const nlohmann::json& report, bool is_wrong) const;

  private:
    void hear_steps(const nlohmann::json& event);
    std::uint32_t rank_of(const Network& network, const AccountId& account) const;
    /// Adds to the report what members found of each other.
    void add_found(const Network& network, nlohmann::json& out) const;
    /// A member's longest session.
    struct Served {
        std::uint64_t steps = 0;
        std::uint64_t sent_bytes = 0;
        std::uint64_t signature_bytes = 0;
        std::uint64_t state_bytes = 0;
    };
    std::uint32_t members_;
    std::uint32_t segments_;
    std::string parallel_;
    std::uint64_t interval_;
    std::optional<std::uint32_t> joining_;
    std::optional<std::uint32_t> leaving_;
    std::optional<std::uint32_t> slow_;
    std::uint32_t audit_every_;
    bool equivocates_;  ///< whether a member tells two others different things
    bool has_come_ = false;
    bool has_gone_ = false;
    std::uint64_t step_ = 0;                  ///< that the lead was at last
    bool changes_seats_;                      ///< whether somebody but the lead comes or goes
    bool is_disturbed_;                       ///< whether members come or go, so that sessions have fewer
    std::map<std::string, Served> served_{};  ///< by the member's name
    struct Accused {
        std::string accuser;  ///< its worker
        nlohmann::json event;
    };
    std::vector<Accused> accused_{};
    std::vector<Accused> equivocations_{};  ///< that were reported
    std::vector<Accused> audits_{};         ///< segments that a member replayed alone
    /// The lead's sessions: how many steps, and in how many seconds.
    struct Session {
        std::string layout;
        std::uint64_t steps = 0;
        double seconds = 0.0;
        std::vector<double> busy_s{};  ///< of a step of its last segment, of each rank, where the lead balances
    };
    std::vector<Session> sessions_{};
};

/// What such a group did, in a few lines after those of every group.
std::string describe_together(const nlohmann::json& report);

}  // namespace assay::demo
