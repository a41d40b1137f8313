// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/history.hpp>

/// What a node lists for explorers and auditors besides the records of the state. No rule reads any of it.
namespace assay::node {

/// A page of a listing. `next` is the `from` of the next page; nullopt on the last page.
template <class T>
struct Page {
    std::vector<T> items;
    std::optional<std::uint64_t> next;
};

/// Which end of a listing comes first. A page's `next` belongs to the order that gave it.
enum class Order : std::uint8_t { kOldest = 1, kNewest = 2 };

/// Money that an account received: from an escrow, a bond or the treasury, or by another account's transfer.
struct Payment {
    Height height;
    Hash256 tx;  ///< that caused it; zero if a deadline or a draw did
    /// Of the task that paid it; nullopt if it was a transfer.
    std::optional<contracts::TaskId> task;
    std::optional<contracts::Reason> reason;  ///< nullopt: a transfer
    AccountId from;                           ///< of a transfer; else zero
    Amount amount;
    static constexpr auto fields() {
        return Fields<
            &Payment::height, &Payment::tx, &Payment::task, &Payment::reason, &Payment::from, &Payment::amount>{};
    }
};

/// A validator's record after a block that changed its power, its key, its jail, its ban or what it was slashed.
struct ValidatorChange {
    Height height;
    AccountId account;
    std::uint64_t power = 0;
    Height jailed_until;  ///< 0: not jailed
    bool is_banned = false;
    Amount slashed;  ///< total so far
    static constexpr auto fields() {
        return Fields<
            &ValidatorChange::height, &ValidatorChange::account, &ValidatorChange::power,
            &ValidatorChange::jailed_until, &ValidatorChange::is_banned, &ValidatorChange::slashed>{};
    }
};

/// What a validator was punished for (VAL-5, VAL-7). No record of a task has it.
struct ValidatorPenalty {
    Height height;
    AccountId account;
    bool is_double_sign = false;  ///< slashed and banned; otherwise it missed too many blocks in a row, and was jailed
    Amount amount;                ///< slashed, and burned
    Height jailed_until;          ///< 0 of a ban, which does not end
    static constexpr auto fields() {
        return Fields<
            &ValidatorPenalty::height, &ValidatorPenalty::account, &ValidatorPenalty::is_double_sign,
            &ValidatorPenalty::amount, &ValidatorPenalty::jailed_until>{};
    }
};

/// What gas cost in a block (FEE-2), and how much of it the block's transactions used.
struct BlockFees {
    Height height;
    std::optional<Amount> base_fee;  ///< in grains; nullopt: gas_price_min
    std::uint64_t gas = 0;
    static constexpr auto fields() { return Fields<&BlockFees::height, &BlockFees::base_fee, &BlockFees::gas>{}; }
};

/// What an id names.
enum class NameKind : std::uint8_t { kAccount = 1, kBlock = 2, kTx = 3, kTask = 4, kDispute = 5, kValidator = 6 };

/// Something whose id, or whose title, begins with what was searched for.
struct Named {
    NameKind kind = NameKind::kAccount;
    Bytes id;             ///< 32 bytes; 20 of a validator's consensus address
    Height height{};      ///< of a block, or of a transaction's block
    AccountId owner{};    ///< of a consensus address
    std::string title{};  ///< of a task that was found by it
};

/// The first `bits` bits of an id. `bytes` has the bits that do not fill the last byte in that byte's upper ones; the
/// others of it are zero.
struct IdPrefix {
    Bytes bytes;
    std::uint32_t bits = 0;
};

}  // namespace assay::node
