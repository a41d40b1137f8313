// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/verdict.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/one_step_verifier.hpp>

/// Actions of disputes (DSP rules).
namespace assay::contracts {

struct OpenDispute {  // needs free verifier or whistleblower stake, or a reserve in the task (DSP-46)
    static constexpr const char* kName = "open_dispute";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t segment = 0;
    Role role = Role::kWhistleblower;  ///< role whose stake is locked as the challenger's bond
    static constexpr auto fields() { return Fields<&OpenDispute::task, &OpenDispute::segment, &OpenDispute::role>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.opening(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ChallengeVerdict {  // states that `part` of the verdict that `verifier` published is wrong
    static constexpr const char* kName = "challenge_verdict";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t segment = 0;
    AccountId verifier;
    Role role = Role::kWhistleblower;  ///< role whose stake is locked as the challenger's bond
    VerdictPart part = VerdictPart::kProbe;
    std::optional<MeasuredRoots> roots = std::nullopt;  ///< present if and only if the part is kMeasurement
    /// challenge_seal(...) of the probe root that the challenger computed; without the right one it wins no jackpot
    /// (VER-16).
    Hash256 seal = {};
    static constexpr auto fields() {
        return Fields<
            &ChallengeVerdict::task, &ChallengeVerdict::segment, &ChallengeVerdict::verifier, &ChallengeVerdict::role,
            &ChallengeVerdict::part, &ChallengeVerdict::roots, &ChallengeVerdict::seal>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.opening(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct RevealMove {
    static constexpr const char* kName = "reveal_move";
    static constexpr Answer kAnswer{.owed = Owed::kMove, .bytes_max = kChildrenAnswer};
    static constexpr bool kByOperator = true;
    DisputeId dispute;
    std::uint32_t round = 0;  ///< must equal position.rounds; a move for another round is refused
    std::vector<Hash256> children;
    static constexpr auto fields() { return Fields<&RevealMove::dispute, &RevealMove::round, &RevealMove::children>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.move(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct SelectMove {
    static constexpr const char* kName = "select_move";
    static constexpr Answer kAnswer{.owed = Owed::kMove, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    DisputeId dispute;
    std::uint32_t round = 0;
    dispute::Selection selection;
    static constexpr auto fields() {
        return Fields<&SelectMove::dispute, &SelectMove::round, &SelectMove::selection>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.move(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ProveMove {
    static constexpr const char* kName = "prove_move";
    static constexpr Answer kAnswer{.owed = Owed::kMove, .bytes_max = kProofAnswer};
    static constexpr bool kByOperator = true;
    DisputeId dispute;
    dispute::Proof proof;
    static constexpr auto fields() { return Fields<&ProveMove::dispute, &ProveMove::proof>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.move() + prices.partial() + prices.task_end(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
