// SPDX-License-Identifier: Apache-2.0
#include <contracts/duties/answers.hpp>

#include <variant>

#include <contracts/state/params.hpp>

namespace assay::contracts {

namespace {

// DTY-1: the greatest sizes.
constexpr std::size_t kPlain = 1'024;     ///< names and hashes, and a location
constexpr std::size_t kOpening = 6'144;   ///< with a tile and its paths, or with a report
constexpr std::size_t kChildren = 9'216;  ///< with 256 hashes

/// DTY-1. Every action has a line here, so that a new one says whether it answers a duty.
struct BytesMax {
    using Size = std::optional<std::size_t>;

    Size operator()(const AcceptTask&) const { return kPlain; }
    Size operator()(const DeclineTask&) const { return kPlain; }
    Size operator()(const PostCheckpoint&) const { return kPlain; }
    Size operator()(const CompleteTask&) const { return kPlain; }
    Size operator()(const DeclareDivergence&) const { return kOpening; }
    Size operator()(const CommitVerdict&) const { return kPlain; }
    Size operator()(const PublishVerdict&) const { return kOpening; }
    Size operator()(const DiscloseVerdict&) const { return kPlain; }
    Size operator()(const CommitProfile&) const { return kPlain; }
    Size operator()(const PublishProfile&) const { return kOpening; }
    Size operator()(const AttestAvailability&) const { return kOpening; }
    Size operator()(const Contribute&) const { return kPlain; }
    Size operator()(const RevealMove&) const { return kChildren; }
    Size operator()(const SelectMove&) const { return kPlain; }
    Size operator()(const ProveMove&) const { return kMinTxSize; }  // PAR-7: the largest that somebody can owe

    Size operator()(const Transfer&) const { return {}; }
    Size operator()(const Bond&) const { return {}; }
    Size operator()(const Unbond&) const { return {}; }
    Size operator()(const SubmitTask&) const { return {}; }
    Size operator()(const CancelTask&) const { return {}; }
    Size operator()(const OpenDispute&) const { return {}; }
    Size operator()(const ChallengeVerdict&) const { return {}; }
    Size operator()(const ChallengeProfile&) const { return {}; }
    Size operator()(const RegisterValidator&) const { return {}; }
    Size operator()(const Unjail&) const { return {}; }
    Size operator()(const RegisterTerms&) const { return {}; }
    Size operator()(const JoinBeacon&) const { return {}; }
    Size operator()(const LeaveBeacon&) const { return {}; }
};

}  // namespace

std::optional<std::size_t> answer_bytes_max(const Action& action) noexcept { return std::visit(BytesMax{}, action); }

}  // namespace assay::contracts
