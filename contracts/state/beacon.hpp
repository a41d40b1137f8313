// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/transaction.hpp>

/// The records of the beacon: who contributes to it, and the round that is open (BCN rules).
namespace assay::contracts {

/// A contributor's place: what it has committed to, and the bond that answers for opening it.
struct Seat {
    AccountId account;
    Hash256 commitment;   ///< beacon_commitment(account, secret)
    Height committed_at;
    Amount bond;          ///< still locked
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

/// A round that waits for its contributions.
struct Round {
    Height opened_at;
    Hash256 block_hash;  ///< of the block that opened it
    std::vector<Contribution> contributions;  ///< in the order of their accounts, not of their arrival
    bool operator==(const Round&) const = default;
    static constexpr auto fields() {
        return Fields<&Round::opened_at, &Round::block_hash, &Round::contributions>{};
    }
};

struct Beacon {
    std::uint64_t rounds = 0;  ///< how many have closed
    Hash256 seed;              ///< of the last of them; zero before
    std::vector<AccountId> withheld;  ///< who lost its seat in the last of them (BCN-8)
    std::vector<Seat> seats;          ///< in the order of their accounts
    std::optional<Round> round;       ///< the open one
    bool operator==(const Beacon&) const = default;
    static constexpr auto fields() {
        return Fields<&Beacon::rounds, &Beacon::seed, &Beacon::withheld, &Beacon::seats, &Beacon::round>{};
    }
};

/// Who may be drawn, and how likely.
struct Candidate {
    AccountId account;
    std::uint64_t weight = 0;
    Terms terms{};  ///< a solver's and a verifier's
    std::uint64_t locked = 0;  ///< stake that is not free and has no weight, but a voice (TRM-3)
    bool operator==(const Candidate&) const = default;
    static constexpr auto fields() {
        return Fields<&Candidate::account, &Candidate::weight, &Candidate::terms, &Candidate::locked>{};
    }
};

/// BCN-4: what a round draws for and from, fixed when it opens: before anybody can know its seed.
struct Drawing {
    std::vector<TaskId> tasks;
    std::vector<Candidate> verifiers;
    std::vector<Candidate> whistleblowers;
    std::vector<Candidate> solvers;
    static constexpr auto fields() {
        return Fields<&Drawing::tasks, &Drawing::verifiers, &Drawing::whistleblowers, &Drawing::solvers>{};
    }
};

}  // namespace assay::contracts
