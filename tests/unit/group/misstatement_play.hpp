// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <tests/unit/group/on_chain.hpp>
#include <verifier/plan/layout.hpp>

/// Groups of random shape in which members misstate what they hand over, from the first step to whoever pays for it on
/// the chain.
namespace assay::group::testing {

/// What is played: one member misstates in this way, or with nullopt all but one collude: each misstates in a way of
/// its own, and they accuse the honest one of what is right.
using Plot = std::optional<adversary::Misstatement>;
std::vector<Plot> all_plots();
std::string to_string(const Plot& plot);

/// A model, the true execution of it, and the layouts in which members can answer for what they send.
struct Trained {
    explicit Trained(Model of);
    Trained(const Trained&) = delete;
    Trained& operator=(const Trained&) = delete;

    Model model;
    dispute::testing::ScalarReplay truth;
    dispute::Claim segment;
    std::vector<plan::Layout> layouts;
};

/// One group from its first step to the end of its task, or of what is played of it.
class Play {
  public:
    Play(Trained& trained, const Plot& plot, std::uint64_t seed);

    std::string description() const;
    /// Plays it. Returns what is not as it should be; empty if nothing.
    std::string find_fault();
    /// Whether there was something to convict anybody of, or to leave. What a member misstates may be what it has to
    /// state: zeros, a value of the step before, or there is no such message.
    bool had_effect() const { return has_effect_; }
    /// What happened, in words that are counted.
    const std::vector<std::string>& outcomes() const { return outcomes_; }

  private:
    using Random = std::mt19937_64;
    using Lies = std::map<std::uint32_t, adversary::Misstated>;

    plan::Layout choose_layout();
    adversary::Misstated choose_lie(adversary::Misstatement kind, std::uint64_t first_step);
    Lies choose_lies();
    bool is_liar(std::uint32_t rank) const { return lies_.contains(rank); }
    std::uint32_t honest_rank() const;
    Evasion choose_evasion();
    std::vector<std::shared_ptr<const group::Told>> told() const;
    void note(const std::string& outcome) { outcomes_.push_back(outcome); }

    std::string after_withholding();
    std::string after_demands(std::uint32_t liar);
    std::string look_at_findings();
    std::string report_equivocation();
    std::string accuse_honest();
    std::string after_right_root();
    std::string after_comparing();
    std::string after_wrong_root();
    /// Who has told somebody something wrong is convicted by the first who accuses; nullopt if nobody can.
    std::optional<std::string> compare();
    std::string check_convicted();
    std::string check_honest() const;

    Random random_;
    Trained& trained_;
    Plot plot_;
    plan::Layout layout_;
    Lies lies_;
    Members at_;
    GroupRun run_{};
    std::map<std::uint32_t, std::uint64_t> demanded_{};  ///< what ranks have paid for demands
    std::optional<std::uint32_t> false_accuser_{};
    bool has_effect_ = false;
    std::vector<std::string> outcomes_{};
};

}  // namespace assay::group::testing
