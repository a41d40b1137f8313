// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>

#include <contracts/governance/params_rules.hpp>

/// What validators vote on.
namespace assay::model {

using contracts::DueKind;
using contracts::ProposalKind;
using contracts::TxError;

namespace {

/// GOV-2; plain numbers, so that a value that does not fit its parameter shows.
struct Votable {
    std::uint64_t value = 0;
    std::uint64_t most = 0;
};
std::map<contracts::VotableParam, Votable> votable_of(const contracts::Params& params) {
    using P = contracts::VotableParam;
    constexpr std::uint64_t kMost32 = 0xFFFF'FFFF;
    constexpr std::uint64_t kMost64 = ~std::uint64_t{0};
    return {
        {P::kGasPriceMin, {params.gas_price_min.grains, kMost64}},
        {P::kBlockGasMax, {params.block_gas_max, kMost32}},
        {P::kTaskValueMax, {params.task_value_max.grains, kMost64}},
        {P::kWorkPrice, {params.work_price, kMost64}},
        {P::kValidatorStakeMin, {params.validator_stake_min.grains, kMost64}},
        {P::kValidatorsMax, {params.validators_max, kMost32}},
        {P::kDowntimeBlocks, {params.downtime_blocks, kMost32}},
        {P::kJailBlocks, {params.jail_blocks, kMost32}}};
}

}  // namespace

std::optional<contracts::Params> Model::changed(const std::vector<contracts::ParamChange>& changes) const {
    auto values = votable_of(params_);
    for (const contracts::ParamChange& change : changes) {
        Votable& votable = values.at(change.param);
        if (change.value > votable.most) {
            return std::nullopt;
        }
        votable.value = change.value;
    }
    using P = contracts::VotableParam;
    const auto small = [&](P param) { return static_cast<std::uint32_t>(values.at(param).value); };
    contracts::Params out = params_;
    out.gas_price_min = {values.at(P::kGasPriceMin).value};
    out.block_gas_max = small(P::kBlockGasMax);
    out.task_value_max = {values.at(P::kTaskValueMax).value};
    out.work_price = values.at(P::kWorkPrice).value;
    out.validator_stake_min = {values.at(P::kValidatorStakeMin).value};
    out.validators_max = small(P::kValidatorsMax);
    out.downtime_blocks = small(P::kDowntimeBlocks);
    out.jail_blocks = small(P::kJailBlocks);
    const bool is_leap = out.gas_price_min.grains > 2 * params_.gas_price_min.grains;
    return contracts::are_valid(out) && !is_leap ? std::optional(out) : std::nullopt;
}

bool Model::votes(const AccountId& account) const {
    const auto found = world_.validators.find(account);
    return found != world_.validators.end() && found->second.power != 0;
}

Model::Why Model::why_not_propose() const {
    Why out;
    if (!votes(who_)) {
        out.insert(TxError::kNotInSet);
    }
    for (const auto& [id, motion] : world_.motions) {
        if (motion.proposer == who_ && motion.effective != 0) {
            out.insert(TxError::kProposalPassed);
        }
    }
    return out;
}

Model::Why Model::why(const contracts::ProposeParams& a) const {
    Why out = why_not_propose();
    bool ascends = !a.changes.empty();
    for (std::size_t i = 1; i < a.changes.size(); ++i) {
        ascends = ascends && a.changes[i - 1].param < a.changes[i].param;
    }
    if (!ascends) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const auto next = changed(a.changes);
    if (!next || *next == params_) {
        out.insert(TxError::kChangeInvalid);
    }
    return out;
}

Model::Why Model::why(const contracts::ProposeUpgrade& a) const {
    Why out = why_not_propose();
    if (a.protocol_version == 0) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const bool cancels = a.protocol_version == params_.protocol_version && a.height.value == 0;
    const bool upgrades =
        a.protocol_version > params_.protocol_version && a.height.value > height_ + params_.vote_delay_blocks;
    if (!cancels && !upgrades) {
        out.insert(TxError::kChangeInvalid);
    }
    return out;
}

Model::Why Model::why(const contracts::ProposeHalt& /*a*/) const { return why_not_propose(); }

Model::Why Model::why(const contracts::Vote& a) const {
    Why out;
    if (!votes(who_)) {
        out.insert(TxError::kNotInSet);
    }
    if (world_.motions.count(a.proposal) == 0) {
        out.insert(TxError::kProposalUnknown);
    }
    return out;
}

bool Model::has_majority(const Motion& motion) const {
    std::uint64_t all = 0;
    std::uint64_t ayes = 0;
    for (const auto& [account, validator] : world_.validators) {
        all += validator.power;
        ayes += motion.votes.count(account) != 0 ? validator.power : 0;
    }
    return flaw_ == Flaw::kHalfPasses ? 2 * ayes > all : 3 * ayes > 2 * all;
}

void Model::pass(const contracts::ProposalId& id, Motion& motion) {
    if (motion.effective != 0 || !has_majority(motion)) {
        return;
    }
    const bool keeps = motion.kind == ProposalKind::kUpgrade && motion.version == params_.protocol_version;
    const bool at_once = motion.kind == ProposalKind::kHalt || keeps;
    motion.effective = at_once ? height_ : height_ + params_.vote_delay_blocks;
    calendar_[motion.effective].push_back({DueKind::kProposal, Hash256{id.data}, {}});
    ++seen_[std::string("passed: ") + to_string(motion.kind)];
}

void Model::propose(Motion motion) {
    for (auto each = world_.motions.begin(); each != world_.motions.end(); ++each) {
        if (each->second.proposer == who_) {
            world_.motions.erase(each);
            ++seen_["proposal replaced"];
            break;
        }
    }
    const contracts::ProposalId id = contracts::proposal_id(who_, nonce_);
    motion.proposer = who_;
    motion.votes = {who_};
    motion.ends = height_ + params_.vote_blocks;
    calendar_[motion.ends].push_back({DueKind::kProposal, Hash256{id.data}, {}});
    pass(id, motion);
    world_.motions[id] = motion;
}

void Model::act(const contracts::ProposeParams& a) {
    Motion motion;
    motion.changes = a.changes;
    propose(motion);
}

void Model::act(const contracts::ProposeUpgrade& a) {
    Motion motion;
    motion.kind = ProposalKind::kUpgrade;
    motion.height = a.height.value;
    motion.version = a.protocol_version;
    propose(motion);
}

void Model::act(const contracts::ProposeHalt& /*a*/) {
    Motion motion;
    motion.kind = ProposalKind::kHalt;
    propose(motion);
}

void Model::act(const contracts::Vote& a) {
    Motion& motion = world_.motions.at(a.proposal);
    if (a.in_favour) {
        motion.votes.insert(who_);
    } else {
        motion.votes.erase(who_);
    }
    pass(a.proposal, motion);
}

/// GOV-5, GOV-7
bool Model::end_motion(const contracts::ProposalId& id, std::uint64_t height) {
    const auto found = world_.motions.find(id);
    if (found == world_.motions.end()) {
        return false;
    }
    const Motion motion = found->second;
    if (motion.effective != 0 ? motion.effective != height : motion.ends != height) {
        return false;
    }
    world_.motions.erase(found);
    if (motion.effective == 0 || !has_majority(motion)) {
        ++seen_[motion.effective == 0 ? "proposal expired" : "proposal lost its majority"];
        return true;
    }
    // One that took effect in this block already counts.
    std::swap(params_, next_params_);
    apply(motion);
    std::swap(params_, next_params_);
    return true;
}

void Model::apply(const Motion& motion) {
    auto& plans = world_.plans;
    const std::uint32_t now = params_.protocol_version;
    const auto drop_upgrades = [&] { std::erase_if(plans, [now](const auto& plan) { return plan.second != now; }); };
    switch (motion.kind) {
        case ProposalKind::kParams:
            params_ = changed(motion.changes).value_or(params_);
            ++seen_["parameters changed"];
            return;
        case ProposalKind::kUpgrade:
            if (motion.version == now) {
                drop_upgrades();
            } else if (motion.height > height_) {
                drop_upgrades();
                plans[motion.height] = motion.version;
            }
            return;
        case ProposalKind::kHalt:
            plans.emplace(height_ + 1, now);
            return;
    }
}

/// GOV-8
void Model::begin_planned() {
    const auto plan = world_.plans.find(height_);
    if (plan == world_.plans.end()) {
        return;
    }
    ++seen_[plan->second == params_.protocol_version ? "halt" : "upgrade"];
    params_.protocol_version = plan->second;
    world_.plans.erase(plan);
}

}  // namespace assay::model
