// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <node/rpc/render.hpp>
#include <tests/unit/rpc/fake_node.hpp>

using namespace assay;
using namespace assay::contracts;
using assay::rpc::Json;
using assay::rpc::test::id;
using assay::rpc::test::key;

namespace {

std::string address(std::uint8_t seed) { return crypto::to_address(key(seed).account()); }

}  // namespace

TEST_CASE("each event of a history has its name and its members beside the record's") {
    using namespace contracts::history;
    const AccountId who = key(4).account();
    const std::vector<std::pair<HistoryEvent, Json>> table{
        {Submitted{Amount{9}, Amount{5}}, {{"escrow", "9"}, {"room", "5"}}},
        {SolverDrawn{who}, {{"solver", address(4)}}},
        {Accepted{Amount{8}, {who}}, {{"bond", "8"}, {"seats", {address(4)}}, {"environment", nullptr}}},
        {Cut{2, who}, {{"first", 2}, {"member", address(4)}}},
        {Accused{id<DisputeId>(6), 2, who, key(5).account(), std::nullopt},
         {{"dispute", to_hex(id<DisputeId>(6).view())},
          {"segment", 2},
          {"accuser", address(4)},
          {"member", address(5)},
          {"answers", nullptr}}},
        {MemberConvicted{who, Reason::kFalseStatement}, {{"member", address(4)}, {"reason", "false_statement"}}},
        {Reseated{3, {who, key(5).account()}}, {{"from", 3}, {"seats", {address(4), address(5)}}}},
        {Demanded{who, key(5).account(), true}, {{"accuser", address(4)}, {"member", address(5)}, {"is_out", true}}},
        {CheckpointPosted{3, id<Hash256>(1), Environment{std::nullopt, {"a=1"}}, SealedFile{id<Hash256>(2), 9}},
         {{"checkpoint", 3},
          {"state_root", to_hex(id<Hash256>(1).view())},
          {"environment", {{"image", nullptr}, {"labels", {"a=1"}}}},
          {"sealed", {{"root", to_hex(id<Hash256>(2).view())}, {"size", 9}}}}},
        {Completed{}, Json::object()},
        {VerifierDrawn{2, who}, {{"segment", 2}, {"verifier", address(4)}}},
        {VerdictCommitted{2}, {{"segment", 2}}},
        {VerdictPublished{2, {id<Hash256>(1), id<Hash256>(2), std::nullopt, std::nullopt, 0b101}, true},
         {{"segment", 2},
          {"end_root", to_hex(id<Hash256>(1).view())},
          {"probe_root", to_hex(id<Hash256>(2).view())},
          {"measurement", nullptr},
          {"failed_checks", {0, 2}},
          {"accepts", true}}},
        {DisputeOpened{id<DisputeId>(5), 2}, {{"dispute", to_hex(id<DisputeId>(5).view())}, {"segment", 2}}},
        {DisputeMoved{id<DisputeId>(5), 1, dispute::Level::kTiles, true},
         {{"dispute", to_hex(id<DisputeId>(5).view())},
          {"round", 1},
          {"level", dispute::to_string(dispute::Level::kTiles)},
          {"by_responder", true}}},
        {DisputeEnded{id<DisputeId>(5), true, Reason::kLostDispute},
         {{"dispute", to_hex(id<DisputeId>(5).view())}, {"claim_refuted", true}, {"reason", "lost_dispute"}}},
        {CommitteeDrawn{2, {1, 4}, {who, who}},
         {{"sitting", 2}, {"segments", {1, 4}}, {"seats", {address(4), address(4)}}}},
        {CommitteeEnded{true}, {{"is_available", true}}},
        {Paid{who, Amount{7}, Reason::kReward}, {{"to", address(4)}, {"amount", "7"}, {"reason", "reward"}}},
        {Slashed{who, Amount{7}, Amount{4}, Reason::kUnavailable},
         {{"from", address(4)}, {"amount", "7"}, {"burned", "4"}, {"reason", "unavailable"}}},
        {StateChanged{TaskState::kConvicted}, {{"state", "convicted"}}},
        {Diverged{2, 9, id<Hash256>(1)},
         {{"checkpoint", 2}, {"step", 9}, {"state_root", to_hex(id<Hash256>(1).view())}, {"sealed", nullptr}}},
        {LotteryDrawn{id<Hash256>(1)}, {{"lottery", to_hex(id<Hash256>(1).view())}}},
        {WatcherDrawn{2, who, key(5).account()}, {{"segment", 2}, {"verifier", address(4)}, {"watcher", address(5)}}},
        {VerdictDisclosed{2, who, {id<Hash256>(1), std::nullopt}, false},
         {{"segment", 2},
          {"verifier", address(4)},
          {"end_root", to_hex(id<Hash256>(1).view())},
          {"probe_root", nullptr},
          {"measurement", nullptr},
          {"forced", false}}},
        {VerdictChallenged{id<DisputeId>(5), 2, who},
         {{"dispute", to_hex(id<DisputeId>(5).view())}, {"segment", 2}, {"verifier", address(4)}}},
        {Tainted{id<TaskId>(9)}, {{"ancestor", to_hex(id<TaskId>(9).view())}}},
        {ProfilerDrawn{who}, {{"profiler", address(4)}}},
        {ProfileCommitted{}, Json::object()},
        {ProfilePublished{{id<Hash256>(1), {}, id<Hash256>(2), {}}},
         {{"start_root", to_hex(id<Hash256>(1).view())},
          {"segments", Json::array()},
          {"reference_root", to_hex(id<Hash256>(2).view())},
          {"reference", {{"parameters", 0}, {"other", 0}}}}},
        {ProfileChallenged{id<DisputeId>(5), who, ProfilePart::kReplayed, 2},
         {{"dispute", to_hex(id<DisputeId>(5).view())},
          {"profiler", address(4)},
          {"part", "replayed"},
          {"segment", 2}}},
        {ProfilingEnded{ProfilingOutcome::kBounded, {3, 4}, {50, 60}},
         {{"outcome", "bounded"},
          {"threshold", {{"parameters", 3}, {"other", 4}}},
          {"reference", {{"parameters", 50}, {"other", 60}}}}},
        {Scored{0x3fc00000U}, {{"score", 1.5}}},
        {RoundClosed{8, id<Hash256>(1), 3, {{who, Amount{7}}}},
         {{"round", 8},
          {"seed", to_hex(id<Hash256>(1).view())},
          {"contributors", 3},
          {"withheld", {{{"contributor", address(4)}, {"burned", "7"}}}}}},
        {Attested{}, Json::object()},
        {KeepingBegun{Amount{8}, Amount{9}, 12}, {{"fee", "8"}, {"bond", "9"}, {"shows", 12}}},
        {ShowDrawn{3, Height{40}}, {{"show", 3}, {"due", 40}}},
        {ResultShown{3}, {{"show", 3}}},
        {KeepingEnded{true}, {{"is_whole", true}}},
        {KeysShared{sealed::TaskKey{id<Hash256>(3).data}, {{who, {1}, {2, 3}}}},
         {{"key", to_hex(id<Hash256>(3).view())},
          {"shares", {{{"to", address(4)}, {"of_task", "01"}, {"of_checkpoints", "0203"}}}}}},
        {KeysRefused{}, Json::object()},
    };
    REQUIRE(table.size() == std::variant_size_v<HistoryEvent>);
    for (const auto& [each, members] : table) {
        const auto& event = each;  // clang 14 captures no structured binding
        HistoryRecord record{id<TaskId>(1), 12, Height{34}, id<Hash256>(5), who, event};
        Json expected = members;
        expected["task"] = to_hex(id<TaskId>(1).view());
        CAPTURE(event_name(event));
        expected["index"] = 12;
        expected["height"] = 34;
        expected["tx"] = to_hex(id<Hash256>(5).view());
        expected["actor"] = address(4);
        expected["event"] = event_name(event);
        expected["raw"] = to_hex(codec::encode(record));
        CHECK(rpc::render(record) == expected);
    }
    const Json by_deadline = rpc::render(HistoryRecord{id<TaskId>(1), 0, Height{1}, {}, {}, Completed{}});
    CHECK(by_deadline.at("tx").is_null());
    CHECK(by_deadline.at("actor").is_null());
    CHECK(rpc::render(HistoryEvent{Paid{{}, Amount{7}, Reason::kTax}}).at("to").is_null());
}
