// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/terms.hpp>

/// Records of the beacon: its contributors and the open round (BCN rules).
namespace assay::contracts {

/// A contributor's seat: its commitment, and the bond that is slashed if it does not reveal its secret.
struct Seat {
    AccountId account;
    Hash256 commitment;  ///< beacon_commitment(account, secret)
    Height committed_at;
    Amount bond;  ///< still locked
    bool operator==(const Seat&) const = default;
    static constexpr auto fields() {
        return Fields<&Seat::account, &Seat::commitment, &Seat::committed_at, &Seat::bond>{};
    }
};

struct Contribution {
    AccountId account;
    Hash256 secret;
    bool operator==(const Contribution&) const = default;
    static constexpr auto fields() { return Fields<&Contribution::account, &Contribution::secret>{}; }
};

/// A round that is collecting contributions.
struct Round {
    Height opened_at;
    Hash256 block_hash;                       ///< hash of the block that opened it
    std::vector<Contribution> contributions;  ///< ordered by account, not by arrival
    bool operator==(const Round&) const = default;
    static constexpr auto fields() { return Fields<&Round::opened_at, &Round::block_hash, &Round::contributions>{}; }
};

struct Beacon {
    std::uint64_t rounds = 0;         ///< number of closed rounds
    Hash256 seed;                     ///< seed of the last closed round; zero before the first
    std::vector<AccountId> withheld;  ///< accounts that lost their seats in the last closed round (BCN-8)
    std::vector<Seat> seats;          ///< ordered by account
    std::optional<Round> round;       ///< the open round, if any
    bool operator==(const Beacon&) const = default;
    static constexpr auto fields() {
        return Fields<&Beacon::rounds, &Beacon::seed, &Beacon::withheld, &Beacon::seats, &Beacon::round>{};
    }
};

/// An account that can be drawn, with its weight.
struct Candidate {
    AccountId account;
    std::uint64_t weight = 0;
    Terms terms{};  ///< of a solver or a verifier
    std::uint64_t locked =
        0;  ///< stake that is not free: it adds no weight to draws, but counts for the quorum (TRM-3)
    bool operator==(const Candidate&) const = default;
    static constexpr auto fields() {
        return Fields<&Candidate::account, &Candidate::weight, &Candidate::terms, &Candidate::locked>{};
    }
};

/// BCN-4: the tasks and candidates of a round's draws. Fixed when the round opens, before anyone can know its seed.
struct Drawing {
    std::vector<TaskId> tasks;
    std::vector<Candidate> verifiers;
    std::vector<Candidate> whistleblowers;
    std::vector<Candidate> solvers;
    static constexpr auto fields() {
        return Fields<&Drawing::tasks, &Drawing::verifiers, &Drawing::whistleblowers, &Drawing::solvers>{};
    }
};

/// BCN-1: "assay/secret" over account and secret.
Hash256 beacon_commitment(const AccountId& account, const Hash256& secret) noexcept;

}  // namespace assay::contracts
