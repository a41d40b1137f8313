// SPDX-License-Identifier: Apache-2.0
#include <consensus/light/verify.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <core/crypto/ed25519.hpp>

namespace assay::light {
namespace {

__extension__ using Wide = unsigned __int128;

bool equals(const Bytes& bytes, const Hash256& hash) {
    return std::equal(bytes.begin(), bytes.end(), hash.data.begin(), hash.data.end());
}

Wide power_of(const std::vector<Validator>& validators) {
    Wide out = 0;
    for (const Validator& validator : validators) {
        out += validator.power;
    }
    return out;
}

bool has_signed(const Commit& commit, const std::string& chain_id, std::size_t index, const Validator& validator) {
    return crypto::verify_ed25519(
        validator.public_key, vote_sign_bytes(commit, chain_id, index), commit.signatures[index].signature
    );
}

/// LGT-4: the power, by the trusted validators, of those who signed the commit. Addresses tell them apart.
Result<Wide, LightError> trusted_power(
    const std::vector<Validator>& trusted, const Commit& commit, const std::string& chain_id
) {
    std::map<Bytes, const Validator*> by_address;
    for (const Validator& validator : trusted) {
        by_address.emplace(address_of(validator), &validator);
    }
    Wide out = 0;
    for (std::size_t i = 0; i < commit.signatures.size(); ++i) {
        const CommitSignature& signature = commit.signatures[i];
        const auto found = by_address.find(signature.validator_address);
        if (signature.flag != VoteFlag::kCommit || found == by_address.end() || found->second == nullptr) {
            continue;
        }
        if (!has_signed(commit, chain_id, i, *found->second)) {
            return Unexpected{LightError::kSignature};
        }
        out += found->second->power;
        found->second = nullptr;  // once each
    }
    return out;
}

/// LGT-7
Result<LightBlock, Failure> verify_before(const Trusted& trusted, std::uint64_t height, const Source& source) {
    LightBlock block = trusted.block;
    while (block.header.height > height) {
        const std::uint64_t before = block.header.height - 1;
        LightBlock found = source(before);
        if (found.header.height != before || !equals(block.header.last_block_id.hash, header_hash(found.header))) {
            return Unexpected{Failure{LightError::kLink, before}};
        }
        block = std::move(found);
    }
    return block;
}

}  // namespace

const char* to_string(LightError error) noexcept {
    switch (error) {
        case LightError::kChain:
            return "the header is of another chain";
        case LightError::kValidators:
            return "the validators are not those of the header";
        case LightError::kCommit:
            return "the commit is not of this header and its validators";
        case LightError::kSignature:
            return "a validator's signature does not verify";
        case LightError::kPower:
            return "those who signed have no more than two thirds of the power";
        case LightError::kOrder:
            return "the header is not later than the trusted one";
        case LightError::kNextValidators:
            return "the validators are not those that the header before names";
        case LightError::kTrust:
            return "too few of the trusted validators signed";
        case LightError::kExpired:
            return "the trusted header is older than the trusting period";
        case LightError::kFuture:
            return "the header is from the future";
        case LightError::kLink:
            return "it is not the block that the one after it names";
    }
    return "unknown";
}

Result<void, LightError> check_block(const LightBlock& block, const std::string& chain_id) noexcept {
    const auto& [header, commit, validators] = block;
    if (header.chain_id != chain_id) {
        return Unexpected{LightError::kChain};
    }
    if (validators.empty() || !equals(header.validators_hash, validators_hash(validators))) {
        return Unexpected{LightError::kValidators};  // LGT-1
    }
    if (commit.height != header.height || commit.signatures.size() != validators.size() ||
        !equals(commit.block_id.hash, header_hash(header))) {
        return Unexpected{LightError::kCommit};  // LGT-1
    }
    Wide signed_power = 0;
    for (std::size_t i = 0; i < validators.size(); ++i) {
        const CommitSignature& signature = commit.signatures[i];
        if (signature.flag != VoteFlag::kCommit) {
            continue;
        }
        if (signature.validator_address != address_of(validators[i])) {
            return Unexpected{LightError::kCommit};
        }
        if (!has_signed(commit, chain_id, i, validators[i])) {
            return Unexpected{LightError::kSignature};  // LGT-2
        }
        signed_power += validators[i].power;
    }
    if (signed_power * 3 <= power_of(validators) * 2) {
        return Unexpected{LightError::kPower};  // LGT-2
    }
    return {};
}

Result<void, LightError> verify_next(const Trusted& trusted, const LightBlock& next, const Policy& policy) noexcept {
    const Header& from = trusted.block.header;
    const bool is_later =
        next.header.height > from.height &&
        std::pair(next.header.time.seconds, next.header.time.nanos) > std::pair(from.time.seconds, from.time.nanos);
    if (!is_later) {
        return Unexpected{LightError::kOrder};  // LGT-3
    }
    if (from.time.seconds + policy.trusting_seconds < policy.now_seconds) {
        return Unexpected{LightError::kExpired};  // LGT-5
    }
    if (next.header.time.seconds > policy.now_seconds + policy.clock_drift_seconds) {
        return Unexpected{LightError::kFuture};  // LGT-5
    }
    if (next.header.height == from.height + 1) {
        if (next.header.validators_hash != from.next_validators_hash) {
            return Unexpected{LightError::kNextValidators};  // LGT-3
        }
    } else {
        TRY_ASSIGN(const Wide power, trusted_power(trusted.block.validators, next.commit, policy.chain_id));
        if (power * 3 <= power_of(trusted.block.validators)) {
            return Unexpected{LightError::kTrust};  // LGT-4
        }
    }
    return check_block(next, policy.chain_id);
}

Result<LightBlock, Failure> verify_height(
    const Trusted& trusted, std::uint64_t height, const Source& source, const Policy& policy
) {
    if (height <= trusted.block.header.height) {
        return verify_before(trusted, height, source);
    }
    Trusted base = trusted;
    std::vector<LightBlock> pending;  // towards the goal; the nearest last
    pending.push_back(source(height));
    while (!pending.empty()) {
        const LightBlock& next = pending.back();
        const auto verified = verify_next(base, next, policy);
        if (verified) {
            base.block = std::move(pending.back());
            pending.pop_back();
            continue;
        }
        const std::uint64_t low = base.block.header.height;
        const std::uint64_t high = next.header.height;
        if (verified.error() != LightError::kTrust || high <= low + 1) {
            return Unexpected{Failure{verified.error(), high}};
        }
        pending.push_back(source(low + (high - low) / 2));
        if (pending.back().header.height != low + (high - low) / 2) {
            return Unexpected{Failure{LightError::kOrder, low + (high - low) / 2}};
        }
    }
    if (base.block.header.height != height) {
        return Unexpected{Failure{LightError::kOrder, height}};
    }
    return std::move(base.block);
}

}  // namespace assay::light
