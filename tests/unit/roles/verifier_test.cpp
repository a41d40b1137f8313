// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>

#include <doctest/doctest.h>

#include <verifier/roles/verifier.hpp>

namespace assay::roles {
namespace {

using contracts::TaskState;
using contracts::VerdictStatus;

const TaskId kTask{{9}};
const Hash256 kClaimed{{1}};
const Hash256 kOther{{2}};
const Hash256 kThird{{3}};

VerifierView view_of(VerdictStatus status, Replays replays) {
    VerifierView view;
    view.task.id = kTask;
    view.task.state = TaskState::kVerifying;
    view.assignment.segment = 2;
    view.assignment.status = status;
    view.task.assignments = {view.assignment};
    view.task.lottery = Hash256{{4}};
    view.claimed = kClaimed;
    view.replays = replays;
    return view;
}

Replays after(std::optional<Hash256> first, std::optional<Hash256> second = std::nullopt) {
    Replays replays;
    replays.first = first;
    replays.second = second;
    return replays;
}

Replays missing(std::uint32_t failures) {
    Replays replays;
    replays.fetch_failures = failures;
    replays.missing_checkpoint = 1;
    return replays;
}

TEST_CASE("two agreeing replays, and nothing less, are a rejection") {
    CHECK(finding_of(after({}), kClaimed) == Finding::kUnknown);
    CHECK(finding_of(after(kClaimed), kClaimed) == Finding::kAccept);
    CHECK(finding_of(after(kOther), kClaimed) == Finding::kDoubt);
    CHECK(finding_of(after(kOther, kOther), kClaimed) == Finding::kReject);
    CHECK(finding_of(after(kOther, kClaimed), kClaimed) == Finding::kUnable);
    CHECK(finding_of(after(kOther, kThird), kClaimed) == Finding::kUnable);
    Replays unable = after(kOther, kOther);
    unable.unable = true;
    CHECK(finding_of(unable, kClaimed) == Finding::kUnable);
    CHECK(finding_of(missing(100), kClaimed) == Finding::kMissing);
}

TEST_CASE("a verifier replays, commits what it knows, publishes when the lottery is drawn, and discloses") {
    const Intent replay = intent::Replay{kTask, 2};
    const Intent commit = intent::Commit{kTask, 2};
    CHECK(decide_verifier(view_of(VerdictStatus::kDue, after({}))) == replay);
    CHECK(decide_verifier(view_of(VerdictStatus::kDue, after(kOther))) == replay);
    CHECK(decide_verifier(view_of(VerdictStatus::kDue, after(kClaimed))) == commit);
    CHECK(decide_verifier(view_of(VerdictStatus::kDue, after(kOther, kOther))) == commit);

    VerifierView committed = view_of(VerdictStatus::kCommitted, after(kClaimed));
    CHECK(decide_verifier(committed) == Intent{Wait::kUnable});
    committed.has_kept_verdict = true;
    CHECK(decide_verifier(committed) == Intent{intent::Publish{kTask, 2}});
    committed.task.lottery = {};
    CHECK(decide_verifier(committed) == Intent{Wait::kOtherParty});

    VerifierView published = view_of(VerdictStatus::kAccepted, after(kClaimed));
    published.has_kept_verdict = true;
    published.task.state = TaskState::kChallenge;
    CHECK(decide_verifier(published) == Intent{Wait::kNothingDue});
    published.is_challenged = true;
    CHECK(decide_verifier(published) == Intent{intent::Disclose{kTask, 2}});
    published.is_challenged = false;
    published.task.state = TaskState::kDisclosure;
    CHECK(decide_verifier(published) == Intent{intent::Disclose{kTask, 2}});
    published.assignment.forced = false;
    CHECK(decide_verifier(published) == Intent{Wait::kNothingDue});
    published.assignment.forced.reset();
    published.has_kept_verdict = false;
    CHECK(decide_verifier(published) == Intent{Wait::kUnable});
}

TEST_CASE("VER-5: an opening that was lost with the disk is made again by one replay, and given up if that cannot be") {
    const Intent replay = intent::Replay{kTask, 2};
    VerifierView committed = view_of(VerdictStatus::kCommitted, after({}));
    CHECK(decide_verifier(committed) == replay);
    committed.task.lottery = {};  // whether the others have committed or not
    CHECK(decide_verifier(committed) == replay);
    committed.is_breaker_open = true;  // it is promised
    CHECK(decide_verifier(committed) == replay);
    committed.replays = missing(3);
    CHECK(decide_verifier(committed) == replay);
    committed.replays = after(kOther);  // it gave another opening
    CHECK(decide_verifier(committed) == Intent{Wait::kUnable});
    committed.replays = {};
    committed.replays.unable = true;
    CHECK(decide_verifier(committed) == Intent{Wait::kUnable});
    VerifierView published = view_of(VerdictStatus::kRejected, after({}));
    published.task.state = TaskState::kChallenge;
    CHECK(decide_verifier(published) == replay);
    published.task.state = TaskState::kConvicted;
    CHECK(decide_verifier(published) == Intent{Wait::kNothingDue});
}

TEST_CASE("VER-2: a verdict's secrets follow from the key and from everything that tells two verdicts apart") {
    std::array<std::uint8_t, 32> secret{};
    secret[31] = 1;
    const auto key = crypto::SecretKey::from_bytes(secret).value();
    secret[31] = 2;
    const auto other_key = crypto::SecretKey::from_bytes(secret).value();
    const contracts::Assignment assignment = view_of(VerdictStatus::kDue, after({})).assignment;
    contracts::Assignment other_marks = assignment;
    other_marks.offset = 1;
    const VerdictSecrets secrets = verdict_secrets(key, "test-1", kTask, 2, assignment);
    CHECK(secrets == verdict_secrets(key, "test-1", kTask, 2, assignment));
    CHECK(secrets.salt != secrets.decoy_root);
    for (const VerdictSecrets& other :
         {verdict_secrets(other_key, "test-1", kTask, 2, assignment),
          verdict_secrets(key, "test-2", kTask, 2, assignment),
          verdict_secrets(key, "test-1", TaskId{{8}}, 2, assignment),
          verdict_secrets(key, "test-1", kTask, 1U << 16U | 2, assignment),
          verdict_secrets(key, "test-1", kTask, 2, other_marks)}) {
        CHECK(other.salt != secrets.salt);
        CHECK(other.decoy_root != secrets.decoy_root);
    }
}

TEST_CASE("our own failure is never a verdict") {
    Replays failed;
    failed.unable = true;
    CHECK(decide_verifier(view_of(VerdictStatus::kDue, failed)) == Intent{Wait::kUnable});
    CHECK(decide_verifier(view_of(VerdictStatus::kDue, after(kOther, kThird))) == Intent{Wait::kUnable});
}

TEST_CASE("DSP-46: a rejection needs no free stake") {
    VerifierView view = view_of(VerdictStatus::kDue, after(kOther, kOther));
    CHECK(decide_verifier(view) == Intent{intent::Commit{kTask, 2}});
}

TEST_CASE("AVL-1: an artifact that cannot be had is asked for again, and without it there is no verdict") {
    VerifierView view = view_of(VerdictStatus::kDue, missing(1));
    CHECK(decide_verifier(view) == Intent{intent::Replay{kTask, 2}});
    view.replays = missing(100);
    CHECK(decide_verifier(view) == Intent{intent::Replay{kTask, 2}});
}

TEST_CASE("a verdict kept from before a restart is committed as it is") {
    VerifierView view = view_of(VerdictStatus::kDue, after({}));
    view.has_kept_verdict = true;
    CHECK(decide_verifier(view) == Intent{intent::Commit{kTask, 2}});
}

TEST_CASE("VER-14: an opening of another commitment than the chain has is not published") {
    contracts::VerdictOpening kept;
    kept.verdict.end_root = kClaimed;
    contracts::Assignment assignment = view_of(VerdictStatus::kDue, after({})).assignment;
    CHECK(is_opening_of(assignment, kTask, kept));
    assignment.status = VerdictStatus::kCommitted;
    assignment.commitment = contracts::verdict_commitment(kTask, 2, assignment.verifier, kept);
    CHECK(is_opening_of(assignment, kTask, kept));
    kept.salt = kOther;  // made again after the disk was lost
    CHECK_FALSE(is_opening_of(assignment, kTask, kept));
    assignment.status = VerdictStatus::kAccepted;
    CHECK_FALSE(is_opening_of(assignment, kTask, kept));
}

TEST_CASE("an open breaker stops verdicts that are not committed yet") {
    VerifierView view = view_of(VerdictStatus::kDue, after({}));
    view.is_breaker_open = true;
    CHECK(decide_verifier(view) == Intent{Wait::kBreaker});
    view = view_of(VerdictStatus::kCommitted, after(kClaimed));
    view.is_breaker_open = true;
    view.has_kept_verdict = true;
    CHECK(decide_verifier(view) == Intent{intent::Publish{kTask, 2}});
}

TEST_CASE("a verifier has nothing to do outside verification or once it has published") {
    for (const auto status : {VerdictStatus::kAccepted, VerdictStatus::kRejected, VerdictStatus::kMissed}) {
        VerifierView done = view_of(status, after({}));
        done.has_kept_verdict = true;
        CHECK(decide_verifier(done) == Intent{Wait::kNothingDue});
    }
    VerifierView view = view_of(VerdictStatus::kDue, after({}));
    for (const auto state : {TaskState::kCompleted, TaskState::kChallenge, TaskState::kConvicted}) {
        view.task.state = state;
        CHECK(decide_verifier(view) == Intent{Wait::kNothingDue});
    }
}

TEST_CASE("AVL-3: a member of the committee that sits attests once, unless its breaker is open") {
    const AccountId self{{5}};
    MemberView view;
    view.self = self;
    view.task.id = kTask;
    view.task.state = TaskState::kCompleted;
    CHECK(decide_member(view) == Intent{Wait::kNothingDue});
    view.task.committee.emplace();
    view.task.committee->members = {{.account = AccountId{{4}}}, {.account = self}};
    CHECK(decide_member(view) == Intent{intent::Attest{kTask}});
    view.is_breaker_open = true;
    CHECK(decide_member(view) == Intent{Wait::kBreaker});
    view.is_breaker_open = false;
    view.task.committee->members[1].has_attested = true;
    CHECK(decide_member(view) == Intent{Wait::kNothingDue});
    view.task.committee->members.pop_back();
    CHECK(decide_member(view) == Intent{Wait::kNothingDue});
    view.task.committee->members[0].account = self;
    view.task.committee->state = contracts::CommitteeState::kWithheld;
    CHECK(decide_member(view) == Intent{Wait::kNothingDue});
    view.task.committee->state = contracts::CommitteeState::kSitting;
    view.task.state = TaskState::kConvicted;
    CHECK(decide_member(view) == Intent{Wait::kNothingDue});
}

}  // namespace
}  // namespace assay::roles
