// SPDX-License-Identifier: Apache-2.0
#include <contracts/beacon/draw.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/params/work.hpp>

namespace assay::contracts {
Hash256 draw_randomness(const Hash256& seed, const DrawName& name) {
    static const crypto::TaggedHash kTag("assay/draw");
    return kTag(seed.view(), codec::encode(name));
}

std::uint64_t reduce(const Hash256& randomness, std::uint64_t bound) noexcept {
    ASSERT(bound != 0);
    __extension__ using Wide = unsigned __int128;
    Wide number = 0;
    for (std::size_t i = 16; i-- > 0;) {
        number = (number << 8U) | randomness.data[i];
    }
    return static_cast<std::uint64_t>(number % bound);
}

std::uint64_t to_seed(const Hash256& randomness) noexcept {
    std::uint64_t seed = 0;
    for (std::size_t i = 8; i-- > 0;) {
        seed = (seed << 8U) | randomness.data[i];
    }
    return seed;
}

std::optional<std::size_t> draw_weighted(std::span<const Candidate> candidates, const Hash256& randomness) noexcept {
    std::uint64_t total = 0;  // cannot overflow: it is part of the supply
    for (const Candidate& candidate : candidates) {
        total += candidate.weight;
    }
    if (total == 0) {
        return std::nullopt;
    }
    std::uint64_t point = reduce(randomness, total);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (point < candidates[i].weight) {
            return i;
        }
        point -= candidates[i].weight;
    }
    return std::nullopt;
}

std::optional<AccountId> draw_able(
    std::vector<Candidate> candidates, const Hash256& seed, const DrawName& name,
    const std::function<bool(const AccountId&)>& is_able
) {
    // BCN-10
    const auto draw_one = [&](const Hash256& randomness) -> std::optional<AccountId> {
        const auto place = draw_weighted(candidates, randomness);
        return place ? std::optional{candidates[*place].account} : std::nullopt;
    };
    const Hash256 first = draw_randomness(seed, name);
    const auto drawn = draw_one(first);
    if (!drawn || is_able(*drawn)) {
        return drawn;
    }
    for (Candidate& candidate : candidates) {
        candidate.weight = candidate.weight != 0 && is_able(candidate.account) ? candidate.weight : 0;
    }
    return draw_one(draw_randomness(first, name));
}

std::vector<Candidate> read_pool(const StateView& view, Role role) {
    std::vector<Candidate> pool;
    for (const AccountId& account : get_stakers(view, role)) {
        const bool has_machine = role == Role::kSolver || role == Role::kVerifier;
        const Stake stake = get_stake(view, role, account);
        pool.push_back(
            {account, stake.free.grains, has_machine ? get_terms(view, role, account).terms : Terms{},
             stake.locked.grains}
        );
    }
    return pool;
}

bool has_quorum(const Params& params, const Task& task, Amount needed, std::vector<Candidate> verifiers) {
    const bool is_any_free = std::any_of(verifiers.begin(), verifiers.end(), [&](const Candidate& candidate) {
        return candidate.weight >= needed.grains && candidate.account != task.submitter &&
               consents(params, task.spec, candidate.terms);
    });
    // Who is busy has a voice: else a few who keep their stake free would decide alone while the others work.
    for (Candidate& candidate : verifiers) {
        candidate.weight += candidate.locked;  // below the supply
    }
    std::erase_if(verifiers, [&](const Candidate& candidate) {
        return candidate.weight < needed.grains || candidate.account == task.submitter;
    });
    return is_any_free && is_consented(params, task.spec, verifiers);
}

}  // namespace assay::contracts
