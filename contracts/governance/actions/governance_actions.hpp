// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/proposal.hpp>

/// Actions by which validators change the chain's parameters, and plan upgrades and halts (GOV rules).
namespace assay::contracts {

struct ProposeParams {  // the proposal's id is proposal_id(sender, nonce), here and below
    static constexpr const char* kName = "propose_params";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    std::vector<ParamChange> changes;  ///< in ascending order of the parameters' numbers
    static constexpr auto fields() { return Fields<&ProposeParams::changes>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.ballot(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ProposeUpgrade {
    static constexpr const char* kName = "propose_upgrade";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    Height height;                       ///< the first block of the new version; 0 to cancel the planned upgrade
    std::uint32_t protocol_version = 0;  ///< later than the chain's; the chain's own to cancel
    static constexpr auto fields() { return Fields<&ProposeUpgrade::height, &ProposeUpgrade::protocol_version>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.ballot(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ProposeHalt {  // the chain stops after the block in which the proposal passes
    static constexpr const char* kName = "propose_halt";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    static constexpr auto fields() { return Fields<>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.ballot(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct Vote {
    static constexpr const char* kName = "vote";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    ProposalId proposal;
    bool in_favour = false;  ///< false withdraws an earlier vote in favour
    static constexpr auto fields() { return Fields<&Vote::proposal, &Vote::in_favour>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.ballot(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
