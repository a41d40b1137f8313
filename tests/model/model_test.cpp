// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include <tests/model/run.hpp>
#include <tests/shard.hpp>

/// ASSAY_FLAW=n plays one mistake; ASSAY_SEED=n runs one seed; ASSAY_MODEL_TXS=n goes on until so many transactions
/// have run, or the shard's part of them (tests/shard.hpp).

using namespace assay;
using namespace assay::model;

namespace {

constexpr int kBlocks = 320;
constexpr std::uint64_t kSeedsForFlaw = 90;  ///< a statement that misled verifiers takes the most
constexpr std::uint64_t kQuickTxs = 45'000;
constexpr std::uint64_t kLongTxs = 1'000'000;

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void add(Coverage& to, const Coverage& more) {
    for (const auto& [name, count] : more) {
        to[name] += count;
    }
}

/// What a long run has to reach at least once: every action, task state, reason, status and level; every refusal but
/// those that would be a bug of ours or take more accounts than there are.
std::vector<std::string> what_to_reach() {
    std::vector<std::string> names;
    const auto name_all = [&](const char* kind, auto first, auto last, auto... left_out) {
        using E = decltype(first);
        for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
            const auto e = static_cast<E>(i);
            if (is_valid(e) && ((e != left_out) && ...)) {
                names.push_back(std::string(kind) + " " + to_string(e));
            }
        }
    };
    using contracts::Reason;
    using contracts::TaskState;
    name_all("task", TaskState::kOpen, TaskState::kKept, TaskState{});
    for (const Reason reason : {Reason::kLostDispute,     Reason::kFalseAccusation,
                                Reason::kDisputeTimeout,  Reason::kUnavailable,
                                Reason::kMissedDeadline,  Reason::kMissedVerdict,
                                Reason::kWrongVerdict,    Reason::kBrokenCommitment,
                                Reason::kUndisclosed,     Reason::kContradiction,
                                Reason::kBeyondTolerance, Reason::kBeyondBudget,
                                Reason::kUnserved,        Reason::kRoom,
                                Reason::kFalseStatement,  Reason::kDemand,
                                Reason::kNotShown,        Reason::kKeysWithheld,
                                Reason::kWrongKeys,       Reason::kWrongChunk}) {
        names.push_back(std::string("slash ") + to_string(reason));
    }
    for (const Reason reason :
         {Reason::kReward, Reason::kVerificationFee, Reason::kRefund, Reason::kWonDispute, Reason::kTax,
          Reason::kJackpot, Reason::kProfilingFee, Reason::kRoom, Reason::kAttestation, Reason::kRetention}) {
        names.push_back(std::string("payment ") + to_string(reason));
    }
    // The toy program has no sum long enough for partials.
    name_all("move at", dispute::Level::kSteps, dispute::Level::kProof, dispute::Level::kPartials);
    name_all(
        "profiling", contracts::ProfilingOutcome::kBounded, contracts::ProfilingOutcome::kNotSeparated,
        contracts::ProfilingOutcome{}
    );
    for (const char* name :
         {"dispute refuted lost_dispute",
          "dispute refuted dispute_timeout",
          "dispute upheld false_accusation",
          "dispute upheld dispute_timeout",
          "dispute refuted undisclosed",
          "dispute refuted forced_error",
          "dispute upheld moot",
          "event scored",
          "score refuted lost_dispute",
          "score upheld false_accusation",
          "event tainted",
          "event diverged",
          "event watcher_drawn",
          "event committee_drawn",
          "event attested",
          "committee available",
          "committee withheld",
          "refusal tile_invalid",
          "refusal not_on_committee",
          "refusal retention_unfit",
          "refusal not_asked",
          "refusal not_private",
          "refusal keys_missing",
          "refusal share_invalid",
          "refusal sealed_mismatch",
          "refusal keys_right",
          "refusal chunk_right",
          "event keys_shared",
          "event keys_refused",
          "drawn in vain",
          "keys shared with a solver",
          "keys shared with verifiers",
          "keys shared with watchers",
          "key shared with profilers",
          "profilers drawn in vain",
          "profiler shows wrong keys",
          "profile committed without the key",
          "committed without keys",
          "attested by a piece",
          "segments of several committees",
          "result shown by a piece",
          "event result_shown",
          "refusal already_attested",
          "beacon withheld",
          "beacon closed by secrets",
          "beacon alone",
          "validator jailed",
          "validator banned",
          "refusal not_owed",
          "refusal answered",
          "refusal duties_full",
          "answer refused: too_large",
          "answer refused: fee_too_low",
          "answer refused: proof_invalid",
          "answer overtaken",
          "dispute with a place",
          "dispute whose place is taken",
          "dispute without a place",
          "no room for the draw of a task open",
          "no room for the draw of a task profiling",
          "no room for the draw of a task completed",
          "window stands still: challenge",
          "window stands still: profiling",
          "window stood still long enough",
          "event cut",
          "group",
          "dispute survives a cut",
          "deadline shortens",
          "start taken over",
          "refusal seats_invalid",
          "refusal seats_not_signed",
          "refusal not_next",
          "group that computes together",
          "turn taken over of who keeps it",
          "accused",
          "accused of what needs no dispute",
          "answered by an accusation",
          "accusation that was answered has ended",
          "blame was passed on",
          "blame was not passed on",
          "clock stood still",
          "event member_convicted",
          "event reseated",
          "event demanded",
          "member joined",
          "member left out",
          "demand",
          "seats given at once",
          "seats given from the next segment on",
          "accuse refused: already_disputed",
          "accuse refused: insufficient_stake",
          "accuse refused: not_answerable",
          "accuse refused: not_stated",
          "accuse refused: not_together",
          "accuse refused: segment_unknown",
          "accuse refused: task_state",
          "report_equivocation refused: no_evidence",
          "report_equivocation refused: not_stated",
          "report_equivocation refused: not_together",
          "reseat refused: not_solver",
          "reseat refused: seats_invalid",
          "reseat refused: seats_not_signed",
          "reseat refused: segment_unknown",
          "demand refused: not_solver",
          "demand refused: not_together",
          "demand refused: segment_unknown",
          "refusal not_together",
          "refusal not_stated",
          "refusal no_evidence",
          "refusal not_answerable",
          "refusal not_in_set",
          "refusal change_invalid",
          "refusal proposal_passed",
          "refusal proposal_unknown",
          "proposal replaced",
          "proposal expired",
          "proposal lost its majority",
          "passed: params",
          "passed: upgrade",
          "passed: halt",
          "parameters changed",
          "halt",
          "upgrade"}) {
        names.emplace_back(name);
    }
    for (const char* action :
         {"transfer",
          "bond",
          "unbond",
          "submit_task",
          "accept_task",
          "post_checkpoint",
          "complete_task",
          "cancel_task",
          "commit_verdict",
          "publish_verdict",
          "open_dispute",
          "reveal_move",
          "select_move",
          "prove_move",
          "attest_availability",
          "declare_divergence",
          "disclose_verdict",
          "challenge_verdict",
          "register_validator",
          "unjail",
          "register_terms",
          "commit_profile",
          "publish_profile",
          "challenge_profile",
          "join_beacon",
          "contribute",
          "leave_beacon",
          "decline_task",
          "accuse",
          "report_equivocation",
          "reseat",
          "demand",
          "propose_params",
          "propose_upgrade",
          "propose_halt",
          "vote",
          "name_operator",
          "show_result",
          "share_keys",
          "report_wrong_keys",
          "report_wrong_chunk"}) {
        names.push_back(std::string("action ") + action);
    }
    for (const char* action :
         {"post_checkpoint", "complete_task", "declare_divergence", "commit_verdict", "publish_verdict",
          "disclose_verdict", "commit_profile", "publish_profile", "attest_availability", "show_result", "share_keys",
          "contribute", "reveal_move", "select_move", "prove_move"}) {
        names.push_back(std::string("answer ") + action);
    }
    return names;
}

void report(std::uint64_t seed, Workshop& shop, const Run& run) {
    std::cout << "ASSAY_SEED=" << seed << ": " << run.failure->what << std::endl;
    FAIL_CHECK(
        "ASSAY_SEED=" << seed << ", block " << run.failure->block + 1 << ": " << run.failure->what << "\nshrunk to:\n"
                      << shrink(shop, seed, run)
    );
}

}  // namespace

TEST_CASE("BLK-2: the chain does what a plain model of the rules does, whatever a crowd sends") {
    Workshop shop;
    const std::uint64_t only = number_of("ASSAY_SEED", 0);
    const test::Shard shard = test::shard_from_environment();
    const std::uint64_t wanted = test::part_of(shard, number_of("ASSAY_MODEL_TXS", kQuickTxs));
    Coverage coverage;
    std::uint64_t txs = 0;
    std::uint64_t seeds = 0;
    for (std::uint64_t seed = only == 0 ? test::first_seed_of(shard) : only; txs < wanted; ++seed) {
        CAPTURE(seed);
        const Run run = play(shop, seed, kBlocks);
        txs += run.txs;
        ++seeds;
        add(coverage, run.coverage);
        if (run.failure) {
            report(seed, shop, run);
            break;
        }
        if (seeds % 8 == 1) {
            const Run again = replay(Crowd(shop, seed), run.blocks);
            CHECK(again.app_hash == run.app_hash);
        }
        if (only != 0) {
            break;
        }
    }
    std::cout << txs << " transactions under " << seeds << " seeds\n";
    if (wanted != kQuickTxs || only != 0) {
        for (const auto& [name, count] : coverage) {
            std::cout << "  " << name << ": " << count << "\n";
        }
    }
    if (only != 0 || txs < kQuickTxs) {  // a small shard need not reach everything
        return;
    }
    for (const char* name :
         {"task settled", "task convicted", "move at proof", "profiling bounded", "payment jackpot",
          "answer reveal_move", "answer share_keys", "answer overtaken", "refusal answered", "refusal duties_full",
          "dispute with a place", "no room for the draw of a task completed", "event cut"}) {
        CAPTURE(name);
        CHECK(coverage[name] > 0);
    }
    if (txs >= kLongTxs) {
        for (const std::string& name : what_to_reach()) {
            CAPTURE(name);
            CHECK(coverage[name] > 0);
        }
    }
}

TEST_CASE("BLK-2: a model with a mistake is found out, and by which transactions") {
    Workshop shop;
    const auto only = static_cast<int>(number_of("ASSAY_FLAW", 0));
    std::vector<Flaw> flaws;
    for (int flaw = only == 0 ? 1 : only; flaw < (only == 0 ? kFlaws : only + 1); ++flaw) {
        flaws.push_back(static_cast<Flaw>(flaw));
    }
    for (std::uint64_t seed = 1; seed <= kSeedsForFlaw && !flaws.empty(); ++seed) {
        flaws = find_unnoticed(shop, seed, kBlocks, flaws);
    }
    for (const Flaw flaw : flaws) {
        CAPTURE(static_cast<int>(flaw));
        FAIL_CHECK("nothing that a crowd sent has shown this mistake");
    }
    std::uint64_t seed = 1;
    Run run = play(shop, seed, kBlocks, Flaw::kWinnersShare);
    while (!run.failure && seed < 30) {
        run = play(shop, ++seed, kBlocks, Flaw::kWinnersShare);
    }
    REQUIRE(run.failure.has_value());
    const std::string shrunk = shrink(shop, seed, run, Flaw::kWinnersShare);
    CHECK(static_cast<std::uint64_t>(std::count(shrunk.begin(), shrunk.end(), '\n')) < run.txs / 4);
}
