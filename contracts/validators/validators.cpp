// SPDX-License-Identifier: Apache-2.0
#include <contracts/validators/validators.hpp>

#include <algorithm>

#include <core/crypto/hash.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/stake/staking.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint64_t kBasisPoints = 10'000;

struct Ranked {
    AccountId account;
    Validator record;
    std::uint64_t power = 0;
};

/// VAL-3: who may be in the set, the strongest first.
std::vector<Ranked> eligible(const Context& context, const std::vector<AccountId>& registered) {
    std::vector<Ranked> out;
    for (const AccountId& account : registered) {
        const Validator record = find_validator(context.state, account).value();
        const Amount free = get_stake(context.state, Role::kValidator, account).free;
        const bool jailed = record.is_banned || record.jailed_until.value != 0;
        if (!jailed && free >= context.params.validator_stake_min) {
            out.push_back({account, record, free.grains / kGrainsPerPower});
        }
    }
    std::erase_if(out, [](const Ranked& ranked) { return ranked.power == 0; });
    std::sort(out.begin(), out.end(), [](const Ranked& a, const Ranked& b) {
        return a.power != b.power ? a.power > b.power : a.account < b.account;
    });
    if (out.size() > context.params.validators_max) {
        out.resize(context.params.validators_max);
    }
    return out;
}

void set_power(Context& context, const AccountId& account, Validator record, std::uint64_t power) {
    if (record.power == power) {
        return;
    }
    record.power = power;
    set_validator(context.state, account, record);
    context.validator_updates.push_back({record.key, power});
}

/// Takes so much of the stake, what is free first, then what is unbonding, the latest first. All of it is burned.
Amount burn_stake(Context& context, const AccountId& account, std::uint32_t bps) {
    Stake stake = get_stake(context.state, Role::kValidator, account);
    Amount whole = stake.free;
    for (const Unbonding& part : stake.unbonding) {
        whole = add(whole, part.amount);
    }
    const Amount penalty{checked_mul_div(whole.grains, bps, kBasisPoints).value()};
    Amount left = penalty;
    const auto take = [&left](Amount& from) {
        const Amount taken = std::min(from, left);
        from = subtract(from, taken);
        left = subtract(left, taken);
    };
    take(stake.free);
    for (auto part = stake.unbonding.rbegin(); part != stake.unbonding.rend(); ++part) {
        take(part->amount);
    }
    put_stake(context, Role::kValidator, account, stake);
    burn(context.state, penalty);
    return penalty;
}

}  // namespace

ConsensusAddress address_of(const ConsensusKey& key) noexcept {
    const Hash256 hash = crypto::sha256(key.view());
    ConsensusAddress out;
    std::copy_n(hash.data.begin(), out.data.size(), out.data.begin());
    return out;
}

// --- register ------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const RegisterValidator& action) noexcept {
    if (action.key.is_zero()) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const RegisterValidator& action
) noexcept {
    // VAL-1
    if (find_validator(view, sender) || find_consensus_account(view, address_of(action.key))) {
        return Unexpected{TxError::kAlreadyRegistered};
    }
    if (get_validators(view).size() >= kMaxRegistered) {
        return Unexpected{TxError::kTooManyValidators};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const RegisterValidator& action) noexcept {
    register_validator(context.state, context.actor, action.key);
    return {};
}

// --- unjail --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const Unjail& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const Unjail& /*action*/
) noexcept {
    // VAL-6
    const auto record = find_validator(view, sender);
    if (!record) {
        return Unexpected{TxError::kNotRegistered};
    }
    if (record->is_banned || record->jailed_until.value == 0) {
        return Unexpected{TxError::kNotJailed};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const Unjail& /*action*/) noexcept {
    // VAL-6
    Validator record = find_validator(context.state, context.actor).value();
    if (context.height() < record.jailed_until) {
        return Unexpected{TxError::kStillJailed};
    }
    record.jailed_until = Height{};
    set_validator(context.state, context.actor, record);
    return {};
}

// --- blocks --------------------------------------------------------------------------------------------------

void punish_misbehaviour(Context& context) {
    // VAL-5
    for (const Misbehaviour& found : context.block.misbehaviour) {
        const auto account = find_consensus_account(context.state, found.validator);
        if (!account) {
            continue;  // of a set that the state never had
        }
        Validator record = find_validator(context.state, *account).value();
        if (record.is_banned) {
            continue;
        }
        const Amount lost = burn_stake(context, *account, context.params.double_sign_slash_bps);
        record.slashed = add(record.slashed, lost);
        record.is_banned = true;
        record.jailed_until = context.height();
        set_validator(context.state, *account, record);
    }
}

void note_absence(Context& context) {
    // VAL-7
    const auto& absent = context.block.absent;
    for (const AccountId& account : get_validators(context.state)) {
        Validator record = find_validator(context.state, account).value();
        const bool missed = record.power != 0 &&
                            std::find(absent.begin(), absent.end(), address_of(record.key)) != absent.end();
        const std::uint32_t now = missed ? record.missed + 1 : 0;
        if (now == record.missed) {
            continue;
        }
        record.missed = now;
        if (now >= context.params.downtime_blocks) {
            record.missed = 0;
            record.jailed_until = context.height_after(context.params.jail_blocks);
        }
        set_validator(context.state, account, record);
    }
}

void update_validators(Context& context) {
    const std::vector<AccountId> registered = get_validators(context.state);
    const std::vector<Ranked> next = eligible(context, registered);
    if (next.empty()) {
        return;  // VAL-4
    }
    for (const AccountId& account : registered) {
        const auto found = std::find_if(next.begin(), next.end(), [&](const Ranked& r) { return r.account == account; });
        set_power(context, account, find_validator(context.state, account).value(), found == next.end() ? 0 : found->power);
    }
}

// VAL-8
std::vector<ValidatorUpdate> current_validators(const StateView& view) {
    std::vector<ValidatorUpdate> out;
    for (const AccountId& account : get_validators(view)) {
        const Validator record = find_validator(view, account).value();
        if (record.power != 0) {
            out.push_back({record.key, record.power});
        }
    }
    return out;
}

}  // namespace assay::contracts
