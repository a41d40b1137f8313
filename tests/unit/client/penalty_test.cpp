// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <client/penalty.hpp>

namespace assay::client {
namespace {

using contracts::HistoryEvent;
using contracts::HistoryRecord;
using contracts::Reason;
namespace history = contracts::history;

constexpr contracts::TaskId kTask{{7}};
constexpr AccountId kSolver{{1}};
constexpr AccountId kVerifier{{2}};
constexpr AccountId kChallenger{{3}};
constexpr contracts::DisputeId kDispute{{9}};

/// A history written record by record.
class Book {
  public:
    Book& add(std::uint64_t height, HistoryEvent event, std::uint8_t tx = 1, AccountId actor = kSolver) {
        HistoryRecord record;
        record.task = kTask;
        record.index = static_cast<std::uint32_t>(records_.size());
        record.height = Height{height};
        record.tx = Hash256{{tx}};
        record.actor = actor;
        record.event = std::move(event);
        records_.push_back(std::move(record));
        return *this;
    }
    std::vector<Penalty> penalties() const { return find_penalties(records_); }

  private:
    std::vector<HistoryRecord> records_;
};

TEST_CASE("a lost dispute is explained with its segment, its dispute and who won") {
    Book book;
    book.add(5, history::DisputeOpened{kDispute, 4}, 2)
        .add(9, history::DisputeEnded{kDispute, true, Reason::kLostDispute}, 3)
        .add(9, history::Slashed{kSolver, Amount{100}, Amount{40}, Reason::kLostDispute}, 3)
        .add(9, history::Paid{kChallenger, Amount{45}, Reason::kWonDispute}, 3)
        .add(9, history::Paid{kVerifier, Amount{15}, Reason::kWonDispute}, 3)
        .add(9, history::Slashed{kVerifier, Amount{10}, Amount{10}, Reason::kWrongVerdict}, 3)
        .add(9, history::Paid{kSolver, Amount{7}, Reason::kRefund}, 3);
    const auto found = book.penalties();
    REQUIRE(found.size() == 2);
    CHECK(found[0].index == 2);
    CHECK(found[0].from == kSolver);
    REQUIRE(found[0].winners.size() == 2);
    CHECK(found[0].winners[0].account == kChallenger);
    CHECK(found[0].winners[0].amount == Amount{45});
    CHECK(found[0].winners[1].account == kVerifier);
    CHECK(found[0].paid == Amount{60});
    CHECK(found[0].dispute == kDispute);
    CHECK(found[0].segment == 4U);
    // All of it was burned: the payment that follows is no winner's share.
    CHECK(found[1].winners.empty());
    CHECK(found[1].segment == 4U);
    const auto commands = reproductions(kTask, found[0]);
    CHECK(commands[0] == "assay verify segment " + to_hex(kTask.view()) + " 4");
    CHECK(commands[1] == "assay dispute explain " + to_hex(kDispute.view()));
    CHECK(explain_penalty(kTask, found[0]).find("segment 4") != std::string::npos);
}

TEST_CASE("a refuted verdict is explained as the verifier's") {
    Book book;
    book.add(5, history::VerdictChallenged{kDispute, 4, kVerifier}, 2)
        .add(9, history::DisputeEnded{kDispute, true, Reason::kLostDispute}, 3)
        .add(9, history::Slashed{kVerifier, Amount{10}, Amount{5}, Reason::kLostDispute}, 3)
        .add(9, history::Paid{kChallenger, Amount{5}, Reason::kWonDispute}, 3);
    const auto found = book.penalties();
    REQUIRE(found.size() == 1);
    CHECK(found[0].is_over_verdict);
    CHECK(found[0].segment == 4U);
    CHECK(meaning(found[0]).find("As a verifier") == 0);
}

TEST_CASE("a conviction by distance names the segment of a rejection that stands") {
    constexpr AccountId kLiar{{4}};
    Book book;
    book.add(5, history::VerdictPublished{.segment = 2, .verdict = {}, .accepts = false}, 2, kLiar)
        .add(5, history::VerdictPublished{.segment = 3, .verdict = {}, .accepts = true}, 2, kVerifier)
        .add(6, history::VerdictPublished{.segment = 4, .verdict = {}, .accepts = false}, 3, kVerifier)
        .add(7, history::VerdictChallenged{kDispute, 2, kLiar}, 4)
        .add(8, history::DisputeEnded{kDispute, true, Reason::kLostDispute}, 5)
        .add(9, history::Slashed{kSolver, Amount{100}, Amount{50}, Reason::kBeyondTolerance}, 6)
        .add(9, history::Paid{kVerifier, Amount{50}, Reason::kWonDispute}, 6);
    const auto found = book.penalties();
    REQUIRE(found.size() == 1);
    CHECK(found[0].segment == 4U);
    REQUIRE(found[0].winners.size() == 1);
    CHECK(found[0].winners[0].account == kVerifier);
    CHECK_FALSE(found[0].dispute.has_value());
}

TEST_CASE("AVL-5: what three committees could not fetch is explained with the segments, by a deadline") {
    Book book;
    for (std::uint32_t sitting = 1; sitting <= 3; ++sitting) {
        book.add(5, history::CommitteeDrawn{sitting, {2, 7}, {kVerifier, kVerifier}}, 0)
            .add(9, history::CommitteeEnded{false}, 0);
    }
    book.add(9, history::Slashed{kSolver, Amount{100}, Amount{100}, Reason::kUnavailable}, 0);
    const auto found = book.penalties();
    REQUIRE(found.size() == 1);
    CHECK(found[0].unserved == std::vector<std::uint32_t>{2, 7});
    CHECK_FALSE(found[0].dispute.has_value());
    const std::string text = explain_penalty(kTask, found[0]);
    CHECK(text.find("segments 2, 7") != std::string::npos);
    CHECK(text.find("three committees") != std::string::npos);
    CHECK(text.find("a deadline did it") != std::string::npos);
    CHECK(text.find("assay tx show") == std::string::npos);
    CHECK(text.find("assay query proof --task") != std::string::npos);
    CHECK(to_json(kTask, found[0]).at("tx").is_null());
    CHECK(to_json(kTask, found[0]).at("unserved") == nlohmann::json::array({2, 7}));
}

TEST_CASE("AVL-6: what a committee costs is the solver's, and names who was paid for attesting") {
    Book book;
    book.add(5, history::CommitteeDrawn{1, {2}, {kVerifier, kChallenger}}, 0)
        .add(8, history::Attested{}, 2, kVerifier)
        .add(9, history::Attested{}, 3, kChallenger)
        .add(9, history::CommitteeEnded{true}, 3)
        .add(9, history::Slashed{kSolver, Amount{100}, Amount{96}, Reason::kUnserved}, 3)
        .add(9, history::Paid{kVerifier, Amount{2}, Reason::kAttestation}, 3)
        .add(9, history::Paid{kChallenger, Amount{2}, Reason::kAttestation}, 3);
    const auto found = book.penalties();
    REQUIRE(found.size() == 1);
    CHECK(found[0].winners.size() == 2);
    CHECK(found[0].paid == Amount{4});
    CHECK(meaning(found[0]).find("AVL-6") != std::string::npos);
    Book shared;
    shared.add(4, history::Slashed{kSolver, Amount{10}, Amount{10}, Reason::kUnserved}, 0);
    CHECK(meaning(shared.penalties().at(0)).find("AVL-8") != std::string::npos);
}

TEST_CASE("RET-6: a tile that was not shown in time is explained as what the result's keeper lost its bond for") {
    Book book;
    book.add(5, history::ShowDrawn{0, Height{9}}, 0)
        .add(9, history::KeepingEnded{false}, 0)
        .add(9, history::Slashed{kSolver, Amount{10}, Amount{10}, Reason::kNotShown}, 0)
        .add(9, history::Paid{kChallenger, Amount{7}, Reason::kRefund}, 0);
    const auto found = book.penalties();
    REQUIRE(found.size() == 1);
    CHECK(found[0].from == kSolver);
    CHECK(found[0].winners.empty());
    CHECK(meaning(found[0]).find("RET-6") != std::string::npos);
}

TEST_CASE("PRV-4, PRV-5, PRV-7: a solver that keeps or falsifies what readers need is told which rule it broke") {
    const std::vector<std::pair<Reason, std::string>> rules{
        {Reason::kKeysWithheld, "PRV-4"}, {Reason::kWrongKeys, "PRV-5"}, {Reason::kWrongChunk, "PRV-7"}};
    for (const auto& [reason, rule] : rules) {
        Book book;
        book.add(9, history::Slashed{kSolver, Amount{10}, Amount{10}, reason}, 0);
        const auto found = book.penalties();
        REQUIRE(found.size() == 1);
        CHECK(found[0].from == kSolver);
        CHECK(meaning(found[0]).find(rule) != std::string::npos);
    }
}

TEST_CASE("a missed verdict names the segment when there is no doubt which") {
    Book one;
    one.add(5, history::VerifierDrawn{3, kVerifier})
        .add(5, history::VerifierDrawn{6, kVerifier})
        .add(7, history::VerdictDisclosed{6, kVerifier, {}, false}, 4, kVerifier)
        .add(9, history::Slashed{kVerifier, Amount{10}, Amount{10}, Reason::kMissedVerdict}, 0);
    REQUIRE(one.penalties().size() == 1);
    CHECK(one.penalties()[0].segment == 3U);
    Book two;
    two.add(5, history::VerifierDrawn{3, kVerifier})
        .add(5, history::VerifierDrawn{6, kVerifier})
        .add(9, history::Slashed{kVerifier, Amount{10}, Amount{10}, Reason::kMissedVerdict}, 0);
    CHECK_FALSE(two.penalties()[0].segment.has_value());
}

TEST_CASE("BCN-8: who withheld a secret from a round that the task waited for is among its penalties") {
    Book book;
    book.add(5, history::RoundClosed{2, {}, 1, {{kVerifier, Amount{10}}, {kSolver, Amount{11}}}}, 0)
        .add(5, history::VerifierDrawn{3, kVerifier}, 0);
    const std::vector<Penalty> penalties = book.penalties();
    REQUIRE(penalties.size() == 2);
    CHECK(penalties[0].from == kVerifier);
    CHECK(penalties[1].from == kSolver);
    CHECK(penalties[1].amount == Amount{11});
    CHECK(penalties[1].burned == Amount{11});
    CHECK(penalties[1].reason == Reason::kWithheldSecret);
    CHECK(explain_penalty(kTask, penalties[0]).find("kept the secret") != std::string::npos);
    CHECK_FALSE(reproductions(kTask, penalties[0]).empty());
}

TEST_CASE("every reason for a loss of stake has words of its own and a command") {
    std::vector<std::string> seen;
    for (const Reason reason :
         {Reason::kLostDispute, Reason::kFalseAccusation, Reason::kDisputeTimeout, Reason::kUnavailable,
          Reason::kMissedDeadline, Reason::kMissedVerdict, Reason::kWrongVerdict, Reason::kUnserved,
          Reason::kBrokenCommitment, Reason::kUndisclosed, Reason::kContradiction, Reason::kBeyondTolerance,
          Reason::kBeyondBudget, Reason::kRoom, Reason::kFalseStatement, Reason::kDemand}) {
        Book book;
        book.add(9, history::Slashed{kSolver, Amount{10}, Amount{10}, reason});
        const Penalty penalty = book.penalties().at(0);
        CHECK(std::find(seen.begin(), seen.end(), meaning(penalty)) == seen.end());
        seen.push_back(meaning(penalty));
        CHECK_FALSE(reproductions(kTask, penalty).empty());
    }
}

TEST_CASE("a history without losses has no penalties") {
    Book book;
    book.add(5, history::Completed{}).add(6, history::Paid{kSolver, Amount{5}, Reason::kReward});
    CHECK(book.penalties().empty());
}

}  // namespace
}  // namespace assay::client
