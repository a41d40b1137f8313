// SPDX-License-Identifier: Apache-2.0
#include <contracts/validators/validators.hpp>

#include <algorithm>
#include <optional>
#include <string>

#include <core/codec/borsh.hpp>
#include <core/crypto/ed25519.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/stake/staking.hpp>

namespace assay::contracts {
namespace {

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

Amount free_stake(const StateView& view, const AccountId& account) {
    return get_stake(view, Role::kValidator, account).free;
}

/// VAL-1: whose place a newcomer with the stake `newcomer` takes: the one with the least, if that is less, of those
/// that are not in the set; the first by account among equals.
std::optional<AccountId> giving_way(const StateView& view, const std::vector<AccountId>& listed, Amount newcomer) {
    std::optional<AccountId> least;
    Amount most = newcomer;
    for (const AccountId& account : listed) {
        const Amount stake = free_stake(view, account);
        if (stake < most && find_validator(view, account).value().power == 0) {
            most = stake;
            least = account;
        }
    }
    return least;
}

struct KeyClaim {
    std::string chain_id;
    AccountId account;
    static constexpr auto fields() { return Fields<&KeyClaim::chain_id, &KeyClaim::account>{}; }
};

}  // namespace

Hash256 consensus_key_claim(const std::string& chain_id, const AccountId& account) {
    static const crypto::TaggedHash kTag("assay/validator");  // VAL-1
    return kTag(codec::encode(KeyClaim{chain_id, account}));
}

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

Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& sender, const RegisterValidator& action
) noexcept {
    if (!crypto::verify_ed25519(action.key.view(), consensus_key_claim(chain_id, sender).view(), action.proof.view())) {
        return Unexpected{TxError::kKeyNotProven};  // VAL-1
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const RegisterValidator& action
) noexcept {
    // VAL-1
    const auto record = find_validator(view, sender);
    const auto owner = find_consensus_account(view, address_of(action.key));
    const std::vector<AccountId> listed = get_validators(view);
    const bool is_listed = std::binary_search(listed.begin(), listed.end(), sender);
    if (is_listed || (record && (record->is_banned || record->key != action.key)) || (owner && *owner != sender)) {
        return Unexpected{TxError::kAlreadyRegistered};
    }
    TRY(check_free_stake(view, Role::kValidator, sender, params.validator_stake_min));
    if (listed.size() >= kMaxRegistered && !giving_way(view, listed, free_stake(view, sender))) {
        return Unexpected{TxError::kTooManyValidators};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const RegisterValidator& action) noexcept {
    // VAL-1
    const std::vector<AccountId> listed = get_validators(context.state);
    if (listed.size() >= kMaxRegistered) {
        const Amount stake = free_stake(context.state, context.actor);
        unlist_validator(context.state, giving_way(context.state, listed, stake).value());
    }
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
        const bool missed =
            record.power != 0 && std::find(absent.begin(), absent.end(), address_of(record.key)) != absent.end();
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
        const auto found =
            std::find_if(next.begin(), next.end(), [&](const Ranked& r) { return r.account == account; });
        const Validator record = find_validator(context.state, account).value();
        set_power(context, account, record, found == next.end() ? 0 : found->power);
        if (record.is_banned) {
            ban_validator(context.state, account);  // VAL-5
        }
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
