// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/params.hpp>
#include <tools/demo/cast.hpp>
#include <tools/demo/crew.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/story.hpp>
#include <tools/demo/together.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::demo {

/// The solvers of a task that several accounts train as a group (GRP rules): solver-1 leads, solver-2 and so on are its
/// partners, each with a process, an account and a bond of its own.
class GroupCast {
  public:
    /// Of options.workers accounts, of which options.culprit, if there is one, cheats, or all but that one do.
    explicit GroupCast(const DemoOptions& options);

    /// Gives a lead the time to accept, since its partners start only when it is drawn, and has every segment checked
    /// where a member cheats, so that somebody is drawn to see it.
    void adjust(contracts::Params& params) const;
    /// What a verifier or a whistleblower bonds, so that it can be drawn for all that is checked.
    Amount stake_of(const Player& judge) const;

    static std::string name_of(std::uint32_t rank) { return "solver-" + std::to_string(rank + 1); }
    std::uint32_t members() const { return members_; }
    /// The names of those who cheat.
    std::set<std::string> culprits() const;
    /// The worker's arguments of a member. The lead's must be asked for first: it listens where partners look for it.
    /// `interval` is the number of steps of a segment.
    std::vector<std::string> arguments_of(const Network& network, std::uint32_t rank, std::uint64_t interval);

    /// Whether the member comes once the others train; and who has to come, or go, after what was heard.
    bool comes_late(std::uint32_t rank) const { return together_ && together_->comes_late(rank); }
    std::optional<std::uint32_t> take_comer() { return together_ ? together_->take_comer() : std::nullopt; }
    std::optional<std::uint32_t> take_goer() { return together_ ? together_->take_goer() : std::nullopt; }

    /// Notes what members fetch from each other, and what they hold.
    void hear(const WorkerEvent& heard);
    /// Who lost what, by the task's history, the roots, and what members fetched and held.
    nlohmann::json report(
        Network& network, const Story& story, const Crew::Roots& roots, const program::Program& program
    ) const;
    /// What is not as it should be, in words.
    std::vector<std::string> judge(const nlohmann::json& report) const;

  private:
    bool colludes() const { return culprit_ && kind_ == GroupFraud::kCollude; }
    bool cheats(std::uint32_t rank) const { return culprit_ && (rank == *culprit_) != colludes(); }
    /// The rank that is convicted first: of a coalition whoever does something wrong before the others do.
    std::uint32_t first_culprit() const;
    void judge_convicted(const nlohmann::json& report, bool is_convicted, std::vector<std::string>& out) const;
    void judge_pay(const nlohmann::json& report, std::vector<std::string>& out) const;
    static void judge_traffic(const nlohmann::json& report, std::vector<std::string>& out);

    std::uint32_t members_;
    std::optional<std::uint32_t> culprit_;
    GroupFraud kind_;
    std::optional<TogetherCast> together_;  ///< where the members compute each step together
    std::string lead_url_;
    /// What a member has of others' checkpoints.
    struct Traffic {
        std::set<std::uint32_t> fetched{};
        std::uint64_t bytes = 0;
        std::uint64_t state_bytes = 0;
    };
    std::map<std::string, Traffic> traffic_{};  ///< by the member's name
};

/// What a group did, in a few lines.
std::string describe_group(const nlohmann::json& report);

}  // namespace assay::demo
