// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/proposal.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::contracts {
namespace {

constexpr std::array<const char*, kVotableParams> kNames{"gas_price_min",   "block_gas_max",       "task_value_max",
                                                         "work_price",      "validator_stake_min", "validators_max",
                                                         "downtime_blocks", "jail_blocks"};

struct ProposalName {
    AccountId sender;
    std::uint64_t nonce = 0;
    static constexpr auto fields() { return Fields<&ProposalName::sender, &ProposalName::nonce>{}; }
};

/// Calls `use` with the parameter's amount, u64 or u32.
template <class P, class Use>
auto with_param(P& params, VotableParam param, const Use& use) {
    switch (param) {
        case VotableParam::kGasPriceMin:
            return use(params.gas_price_min.grains);
        case VotableParam::kBlockGasMax:
            return use(params.block_gas_max);
        case VotableParam::kTaskValueMax:
            return use(params.task_value_max.grains);
        case VotableParam::kWorkPrice:
            return use(params.work_price);
        case VotableParam::kValidatorStakeMin:
            return use(params.validator_stake_min.grains);
        case VotableParam::kValidatorsMax:
            return use(params.validators_max);
        case VotableParam::kDowntimeBlocks:
            return use(params.downtime_blocks);
        case VotableParam::kJailBlocks:
            return use(params.jail_blocks);
    }
    ASSERT(false);
}

}  // namespace

ProposalId proposal_id(const AccountId& sender, std::uint64_t nonce) noexcept {
    static const crypto::TaggedHash kTag("assay/proposal");  // GOV-1
    return ProposalId{kTag(codec::encode(ProposalName{sender, nonce})).data};
}

const char* to_string(VotableParam param) noexcept { return kNames.at(static_cast<std::size_t>(param) - 1); }

std::optional<VotableParam> find_votable_param(std::string_view name) noexcept {
    for (std::uint8_t i = 0; i < kVotableParams; ++i) {
        if (name == kNames.at(i)) {
            return static_cast<VotableParam>(i + 1);
        }
    }
    return std::nullopt;
}

const char* to_string(ProposalKind kind) noexcept {
    switch (kind) {
        case ProposalKind::kParams:
            return "params";
        case ProposalKind::kUpgrade:
            return "upgrade";
        case ProposalKind::kHalt:
            return "halt";
    }
    return "unknown";
}

std::uint64_t value_of(const Params& params, VotableParam param) noexcept {
    return with_param(params, param, [](const auto& member) { return std::uint64_t{member}; });
}

std::optional<Params> with_changes(Params params, const std::vector<ParamChange>& changes) noexcept {
    for (const ParamChange& change : changes) {
        const bool fits = with_param(params, change.param, [&](auto& member) {
            using Member = std::remove_reference_t<decltype(member)>;
            if (change.value > std::numeric_limits<Member>::max()) {
                return false;
            }
            member = static_cast<Member>(change.value);
            return true;
        });
        if (!fits) {
            return std::nullopt;
        }
    }
    return params;
}

}  // namespace assay::contracts
