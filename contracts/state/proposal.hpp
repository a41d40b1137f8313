// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/params.hpp>

/// Records of what validators vote on (GOV rules).
namespace assay::contracts {

using ProposalId = FixedBytes<struct ProposalIdTag, 32>;
/// GOV-1: "assay/proposal" over sender and nonce (u64).
ProposalId proposal_id(const AccountId& sender, std::uint64_t nonce) noexcept;

/// GOV-2: the parameters that a vote can change. The numbers are part of the protocol.
enum class VotableParam : std::uint8_t {
    kGasPriceMin = 1,
    kBlockGasMax = 2,
    kTaskValueMax = 3,
    kWorkPrice = 4,
    kValidatorStakeMin = 5,
    kValidatorsMax = 6,
    kDowntimeBlocks = 7,
    kJailBlocks = 8,
};
inline constexpr std::uint8_t kVotableParams = 8;
constexpr bool is_valid(VotableParam p) { return p >= VotableParam::kGasPriceMin && p <= VotableParam::kJailBlocks; }
/// The name of the parameter, as in `Params`.
const char* to_string(VotableParam param) noexcept;
std::optional<VotableParam> find_votable_param(std::string_view name) noexcept;

/// A new value; amounts are in grains.
struct ParamChange {
    VotableParam param = VotableParam::kGasPriceMin;
    std::uint64_t value = 0;
    bool operator==(const ParamChange&) const = default;
    static constexpr auto fields() { return Fields<&ParamChange::param, &ParamChange::value>{}; }
};
std::uint64_t value_of(const Params& params, VotableParam param) noexcept;
/// The parameters with these values; nullopt if a value does not fit its parameter.
std::optional<Params> with_changes(Params params, const std::vector<ParamChange>& changes) noexcept;

enum class ProposalKind : std::uint8_t { kParams = 1, kUpgrade = 2, kHalt = 3 };
constexpr bool is_valid(ProposalKind k) { return k >= ProposalKind::kParams && k <= ProposalKind::kHalt; }
const char* to_string(ProposalKind kind) noexcept;

/// GOV-5: an open proposal.
struct Proposal {
    AccountId proposer;
    ProposalKind kind = ProposalKind::kParams;
    std::vector<ParamChange> changes;  ///< kParams
    Height height;                     ///< kUpgrade: the first block of the other version; 0 to cancel what is planned
    std::uint32_t protocol_version = 0;  ///< kUpgrade
    Height ends;                         ///< GOV-5: it is dropped with this block unless it has passed
    Height effective;                    ///< GOV-7: takes effect with the end of this block; 0 until it has passed
    std::vector<AccountId> votes;        ///< GOV-6: those in favour, sorted
    static constexpr auto fields() {
        return Fields<
            &Proposal::proposer, &Proposal::kind, &Proposal::changes, &Proposal::height, &Proposal::protocol_version,
            &Proposal::ends, &Proposal::effective, &Proposal::votes>{};
    }
};

/// GOV-5: an entry of the list of open proposals, which has at most one of each account and is sorted by account.
struct OpenProposal {
    AccountId proposer;
    ProposalId id;
    static constexpr auto fields() { return Fields<&OpenProposal::proposer, &OpenProposal::id>{}; }
};

/// GOV-8: the program that executes block `height` speaks `protocol_version`. If that is the chain's own version, the
/// chain halts before this block until its operators start it again.
struct Plan {
    Height height;
    std::uint32_t protocol_version = 0;
    bool operator==(const Plan&) const = default;
    static constexpr auto fields() { return Fields<&Plan::height, &Plan::protocol_version>{}; }
};

}  // namespace assay::contracts
