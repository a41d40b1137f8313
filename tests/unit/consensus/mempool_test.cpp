// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include <consensus/mempool.hpp>
#include <contracts/state/tx_error.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

using namespace assay;
using namespace assay::consensus;
using namespace assay::solo::test;
using contracts::TxError;

namespace {

/// nullopt when it was taken in.
std::optional<Refusal> refusal(Mempool& pool, const Bytes& tx) {
    const auto result = pool.add(tx);
    return result ? std::nullopt : std::optional(result.error());
}

TxError rejected_with(Mempool& pool, const Bytes& tx) {
    const auto why = refusal(pool, tx);
    REQUIRE(why.has_value());
    REQUIRE(why->reason == RefusalReason::kRejected);
    return TxError{why->code};
}

/// Calls `on_recheck` in its first check of what already waits.
struct Interrupted : ToyMachine {
    consensus::CheckResult check(ByteView tx, const Hash256& hash, consensus::CheckKind kind) const override {
        if (kind == consensus::CheckKind::kRecheck && on_recheck) {
            std::exchange(on_recheck, {})();
        }
        return ToyMachine::check(tx, hash, kind);
    }
    mutable std::function<void()> on_recheck;
};

void run_block(ToyMachine& machine, const std::vector<Bytes>& txs) {
    consensus::FinalizeRequest block;
    block.height = {machine.info().height.value + 1};
    block.txs = txs;
    machine.finalize(block);
    machine.commit();
}

}  // namespace

TEST_CASE("a sender's transactions enter in nonce order without gaps or replacements") {
    ToyMachine machine;
    Mempool pool(machine, {});
    CHECK(rejected_with(pool, toy_tx(1, 1)) == TxError::kNonceTooHigh);
    CHECK_FALSE(refusal(pool, toy_tx(1, 0)).has_value());
    CHECK(rejected_with(pool, toy_tx(1, 2)) == TxError::kNonceTooHigh);
    CHECK(rejected_with(pool, toy_tx(1, 0, 0, 9)) == TxError::kNonceTooLow);
    CHECK_FALSE(refusal(pool, toy_tx(1, 1)).has_value());
    CHECK_FALSE(refusal(pool, toy_tx(2, 0)).has_value());
    CHECK(refusal(pool, toy_tx(1, 1))->reason == RefusalReason::kAlreadyKnown);
    CHECK(pool.size().txs == 3);
    CHECK(pool.size().bytes == 12);
    CHECK(pool.next_nonce(toy_sender(1)) == 2);
    CHECK_FALSE(pool.next_nonce(toy_sender(9)).has_value());
    CHECK(pool.contains(contracts::tx_hash(toy_tx(1, 1))));
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{toy_tx(1, 0), toy_tx(1, 1), toy_tx(2, 0)});
    CHECK(pool.candidates(11).size() == 2);
    CHECK(rejected_with(pool, toy_tx(3, 0, 1)) == TxError::kUndecodable);
}

TEST_CASE("limits in transactions, bytes and per sender refuse and a block makes room") {
    ToyMachine machine;
    Mempool count(machine, {.txs_max = 2, .bytes_max = 1'000, .sender_txs_max = 10});
    CHECK_FALSE(refusal(count, toy_tx(1, 0)).has_value());
    CHECK_FALSE(refusal(count, toy_tx(2, 0)).has_value());
    CHECK(refusal(count, toy_tx(3, 0))->reason == RefusalReason::kFull);
    Mempool bytes(machine, {.txs_max = 10, .bytes_max = 7, .sender_txs_max = 10});
    CHECK_FALSE(refusal(bytes, toy_tx(1, 0)).has_value());
    CHECK(refusal(bytes, toy_tx(2, 0))->reason == RefusalReason::kFull);
    Mempool sender(machine, {.txs_max = 10, .bytes_max = 1'000, .sender_txs_max = 1});
    CHECK_FALSE(refusal(sender, toy_tx(1, 0)).has_value());
    CHECK(refusal(sender, toy_tx(1, 1))->reason == RefusalReason::kFull);
    CHECK_FALSE(refusal(sender, toy_tx(2, 0)).has_value());

    run_block(machine, {toy_tx(1, 0)});
    count.update({toy_tx(1, 0)});
    CHECK(count.size().txs == 1);
    CHECK_FALSE(refusal(count, toy_tx(3, 0)).has_value());
}

TEST_CASE("a recheck that refuses the first of a sender drops what followed it of that sender") {
    ToyMachine machine;
    Mempool pool(machine, {});
    CHECK_FALSE(refusal(pool, toy_tx(1, 0)).has_value());
    CHECK_FALSE(refusal(pool, toy_tx(1, 1, 2)).has_value());
    CHECK_FALSE(refusal(pool, toy_tx(1, 2)).has_value());
    CHECK_FALSE(refusal(pool, toy_tx(2, 0)).has_value());
    run_block(machine, {toy_tx(1, 0)});
    pool.update({toy_tx(1, 0)});
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{toy_tx(2, 0)});
    CHECK_FALSE(pool.next_nonce(toy_sender(1)).has_value());
    CHECK_FALSE(refusal(pool, toy_tx(1, 1)).has_value());
}

TEST_CASE("what is submitted while an update checks enters, unless it follows what is dropped") {
    Interrupted machine;
    Mempool pool(machine, {});
    for (const Bytes& tx : {toy_tx(1, 0), toy_tx(1, 1, 2), toy_tx(2, 0)}) {
        CHECK_FALSE(refusal(pool, tx).has_value());
    }
    run_block(machine, {toy_tx(1, 0)});
    machine.on_recheck = [&] {
        CHECK_FALSE(refusal(pool, toy_tx(1, 2)).has_value());
        CHECK_FALSE(refusal(pool, toy_tx(2, 1)).has_value());
    };
    pool.update({toy_tx(1, 0)});
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{toy_tx(2, 0), toy_tx(2, 1)});
    CHECK(pool.size().bytes == 8);
    CHECK(pool.next_nonce(toy_sender(2)) == 2);
    CHECK_FALSE(pool.next_nonce(toy_sender(1)).has_value());
}

TEST_CASE("a block in another order than the pool, with transactions that it does not have, drops its own") {
    ToyMachine machine;
    Mempool pool(machine, {});
    for (const Bytes& tx : {toy_tx(1, 0), toy_tx(2, 0), toy_tx(3, 0), toy_tx(1, 1)}) {
        CHECK_FALSE(refusal(pool, tx).has_value());
    }
    const std::vector<Bytes> block{toy_tx(1, 0), toy_tx(3, 0), toy_tx(4, 0), toy_tx(2, 0, 0, 9)};
    run_block(machine, block);
    pool.update(block);
    // Sender 2 used the nonce of what waited here for something else.
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{toy_tx(1, 1)});
    CHECK(pool.size().bytes == 4);
    CHECK_FALSE(pool.contains(contracts::tx_hash(toy_tx(3, 0))));
    CHECK(pool.next_nonce(toy_sender(1)) == 2);
}

TEST_CASE("against random submissions and blocks the pool holds what a plain model holds") {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&random](std::uint32_t n) { return static_cast<std::uint8_t>(random() % n); };
        ToyMachine machine;
        Mempool pool(machine, {.txs_max = 12, .bytes_max = 1'000, .sender_txs_max = 5});
        std::vector<Bytes> model;
        const auto expected_nonce = [&](std::uint8_t sender) {
            std::uint64_t nonce = machine.nonce_of(sender);
            for (const Bytes& tx : model) {
                nonce = tx[0] == sender ? tx[1] + 1U : nonce;
            }
            return nonce;
        };
        for (int step = 0; step < 400; ++step) {
            if (below(10) > 0) {
                const std::uint8_t sender = below(4);
                const auto base = static_cast<std::uint8_t>(expected_nonce(sender));
                const Bytes tx =
                    toy_tx(sender, static_cast<std::uint8_t>(base + below(2)), below(8) == 0 ? 2 : 0, below(3));
                const auto of_sender =
                    std::count_if(model.begin(), model.end(), [&](const Bytes& other) { return other[0] == sender; });
                const bool fits = model.size() < 12 && of_sender < 5 && tx[1] == base;
                REQUIRE(pool.add(tx).has_value() == fits);
                if (fits) {
                    model.push_back(tx);
                }
            } else {
                std::vector<Bytes> block(
                    model.begin(), model.begin() + below(static_cast<std::uint32_t>(model.size()) + 1)
                );
                run_block(machine, block);
                pool.update(block);
                std::vector<Bytes> kept;
                std::map<std::uint8_t, bool> refused;  // whether the first of a sender is
                for (auto it = model.begin() + static_cast<std::ptrdiff_t>(block.size()); it != model.end(); ++it) {
                    if (!refused.emplace((*it)[0], (*it)[2] == 2).first->second) {
                        kept.push_back(*it);
                    }
                }
                model = std::move(kept);
            }
            REQUIRE(pool.candidates(10'000) == model);
            REQUIRE(pool.size().txs == model.size());
            REQUIRE(pool.size().bytes == model.size() * 4);
        }
    }
}

TEST_CASE("submissions on several threads while blocks commit leave no gap and no used nonce") {
    ToyMachine machine;
    Mempool pool(machine, {.blocks_max = 1'000});
    std::atomic<bool> stop = false;
    std::vector<std::thread> submitters;
    for (std::uint8_t sender = 0; sender < 3; ++sender) {
        submitters.emplace_back([&pool, &stop, sender] {
            for (unsigned nonce = 0; nonce < 250 && !stop;) {
                nonce += pool.add(toy_tx(sender, static_cast<std::uint8_t>(nonce))).has_value() ? 1U : 0U;
            }
        });
    }
    std::vector<std::uint64_t> next(3, 0);
    bool in_order = true;
    const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while ((next[0] < 250 || next[1] < 250 || next[2] < 250) && std::chrono::steady_clock::now() < give_up_at) {
        const auto txs = pool.candidates(40);
        for (const Bytes& tx : txs) {
            in_order = in_order && tx[1] == next[tx[0]];
            ++next[tx[0]];
        }
        run_block(machine, txs);
        pool.update(txs);
    }
    stop = true;
    for (std::thread& submitter : submitters) {
        submitter.join();
    }
    CHECK(in_order);
    CHECK(next == std::vector<std::uint64_t>{250, 250, 250});
}

TEST_CASE("POOL-1: what waits of a sender is covered together, not one by one") {
    ToyMachine machine;
    machine.has_prices = true;
    machine.balance = 3 * 10 * ToyMachine::kTxGas;
    Mempool pool(machine, {});
    for (std::uint8_t nonce = 0; nonce < 3; ++nonce) {
        CHECK_FALSE(refusal(pool, toy_tx(1, nonce, 0, 10)).has_value());
    }
    CHECK(rejected_with(pool, toy_tx(1, 3, 0, 1)) == TxError::kInsufficientBalance);
    CHECK_FALSE(refusal(pool, toy_tx(2, 0, 0, 10)).has_value());
    // The block took ten of thirty; what waits needs twenty, and then the sender has only ten left.
    machine.balance = 10 * ToyMachine::kTxGas;
    run_block(machine, {toy_tx(1, 0, 0, 10)});
    pool.update({toy_tx(1, 0, 0, 10)});
    CHECK(pool.next_nonce(toy_sender(1)) == 2);
    CHECK(pool.size().txs == 2);
}

TEST_CASE("POOL-1: between a commit and the pool's update nothing is counted twice") {
    ToyMachine machine;
    machine.has_prices = true;
    machine.balance = 10 * ToyMachine::kTxGas;
    Mempool pool(machine, {});
    CHECK_FALSE(refusal(pool, toy_tx(1, 0, 0, 10)).has_value());
    run_block(machine, {toy_tx(1, 0, 0, 10)});
    CHECK_FALSE(refusal(pool, toy_tx(1, 1, 0, 10)).has_value());
    pool.update({toy_tx(1, 0, 0, 10)});
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{toy_tx(1, 1, 0, 10)});
}

TEST_CASE("POOL-2: the same nonce for an eighth more replaces, for less it does not") {
    ToyMachine machine;
    machine.has_prices = true;
    Mempool pool(machine, {.turnover_max = 2});
    CHECK_FALSE(refusal(pool, toy_tx(1, 0, 0, 80)).has_value());
    CHECK_FALSE(refusal(pool, toy_tx(1, 1, 0, 80)).has_value());
    CHECK(rejected_with(pool, toy_tx(1, 0, 0, 89)) == TxError::kNonceTooLow);
    CHECK_FALSE(refusal(pool, toy_tx(1, 0, 0, 90)).has_value());
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{toy_tx(1, 0, 0, 90), toy_tx(1, 1, 0, 80)});
    CHECK_FALSE(pool.contains(contracts::tx_hash(toy_tx(1, 0, 0, 80))));
    CHECK(pool.size().bytes == 8);
    CHECK_FALSE(refusal(pool, toy_tx(1, 1, 0, 100)).has_value());
    CHECK(refusal(pool, toy_tx(1, 1, 0, 200))->reason == RefusalReason::kFull);  // two between two blocks
    pool.update({});
    CHECK_FALSE(refusal(pool, toy_tx(1, 1, 0, 200)).has_value());
}

TEST_CASE("POOL-2: a full pool evicts the last of the sender that pays least, for one that pays an eighth more") {
    ToyMachine machine;
    machine.has_prices = true;
    Mempool pool(machine, {.txs_max = 4});
    // The filler's last pays well, which does not help what stands before it.
    for (const Bytes& tx : {toy_tx(1, 0, 0, 16), toy_tx(1, 1, 0, 16), toy_tx(1, 2, 0, 200), toy_tx(2, 0, 0, 20)}) {
        CHECK_FALSE(refusal(pool, tx).has_value());
    }
    CHECK(refusal(pool, toy_tx(3, 0, 0, 17))->reason == RefusalReason::kFull);
    CHECK_FALSE(refusal(pool, toy_tx(3, 0, 0, 18)).has_value());
    CHECK(pool.size().txs == 4);
    CHECK(pool.next_nonce(toy_sender(1)) == 2);
    CHECK(
        pool.candidates(1'000) ==
        std::vector<Bytes>{toy_tx(2, 0, 0, 20), toy_tx(3, 0, 0, 18), toy_tx(1, 0, 0, 16), toy_tx(1, 1, 0, 16)}
    );
    // A well-paid follower is worth no more than what stands before it.
    const auto why = refusal(pool, toy_tx(1, 2, 0, 250));
    REQUIRE(why.has_value());
    CHECK(why->reason == RefusalReason::kFull);
}

TEST_CASE("POOL-3: what is below the base fee waits, for fifty blocks and no longer") {
    ToyMachine machine;
    machine.has_prices = true;
    Mempool pool(machine, {});
    CHECK_FALSE(refusal(pool, toy_tx(1, 0, 3, 10)).has_value());
    for (int block = 0; block < 50; ++block) {
        CHECK(pool.contains(contracts::tx_hash(toy_tx(1, 0, 3, 10))));
        pool.update({});
    }
    CHECK(pool.size().txs == 1);
    pool.update({});
    CHECK(pool.size().txs == 0);
    CHECK(pool.size().bytes == 0);
}

TEST_CASE("POOL-4: answers to duties come first, the oldest before the others, whatever the rest pays") {
    ToyMachine machine;
    machine.has_prices = true;
    Mempool pool(machine, {});
    const Bytes rich = toy_tx(1, 0, 0, 200);
    const Bytes first = toy_tx(2, 7, 4);
    const Bytes second = toy_tx(2, 3, 4);
    for (const Bytes& tx : {rich, first, second}) {
        REQUIRE(!refusal(pool, tx));
    }
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{first, second, rich});
    // Answers that have to wait leave no less for the others.
    CHECK(pool.candidates(8) == std::vector<Bytes>{first, second, rich});
    CHECK(pool.candidates(4) == std::vector<Bytes>{first, rich});
    CHECK(pool.size().txs == 3);
    CHECK(pool.contains(contracts::tx_hash(first)));
    CHECK(pool.next_nonce(toy_sender(2)) == std::nullopt);  // an answer has no nonce
}

TEST_CASE("POOL-4: of answers to one duty the last waits, in the place of the first") {
    ToyMachine machine;
    Mempool pool(machine, {});
    const Bytes first = toy_tx(2, 7, 4, 1);
    const Bytes other = toy_tx(3, 7, 4, 1);
    const Bytes later = toy_tx(2, 7, 4, 2);
    for (const Bytes& tx : {first, other, later}) {
        REQUIRE(!refusal(pool, tx));
    }
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{later, other});
    CHECK_FALSE(pool.contains(contracts::tx_hash(first)));
    CHECK(refusal(pool, later)->reason == RefusalReason::kAlreadyKnown);
}

TEST_CASE("POOL-4: after a block what it had goes, and what nobody owes any more") {
    ToyMachine machine;
    Mempool pool(machine, {});
    const Bytes in_block = toy_tx(2, 7, 4);
    const Bytes over = toy_tx(2, 1, 4);
    const Bytes owed = toy_tx(3, 9, 4);
    for (const Bytes& tx : {in_block, over, owed}) {
        REQUIRE(!refusal(pool, tx));
    }
    machine.owed_from = 5;
    run_block(machine, {in_block});
    pool.update({in_block});
    CHECK(pool.candidates(1'000) == std::vector<Bytes>{owed});
    CHECK(pool.size().bytes == 4);
    CHECK(rejected_with(pool, over) == TxError::kNotOwed);
}

TEST_CASE("POOL-4: a pool full of other transactions takes answers in, as many as it takes of those") {
    ToyMachine machine;
    Mempool pool(machine, {.txs_max = 2, .turnover_max = 1});
    REQUIRE(!refusal(pool, toy_tx(1, 0)));
    REQUIRE(!refusal(pool, toy_tx(1, 1)));
    CHECK(refusal(pool, toy_tx(1, 2))->reason == RefusalReason::kFull);
    CHECK(!refusal(pool, toy_tx(2, 1, 4)));
    CHECK(!refusal(pool, toy_tx(2, 2, 4)));
    CHECK(refusal(pool, toy_tx(2, 3, 4))->reason == RefusalReason::kFull);
    CHECK(!refusal(pool, toy_tx(2, 1, 4, 1)));                                 // in the place of the first
    CHECK(refusal(pool, toy_tx(2, 1, 4, 2))->reason == RefusalReason::kFull);  // one turnover a block
}
