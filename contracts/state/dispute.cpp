// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/dispute.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

struct DisputeName {
    TaskId task;
    std::uint32_t segment = 0;
    AccountId challenger;
    std::optional<DisputedVerdict> verdict;
    static constexpr auto fields() {
        return Fields<&DisputeName::task, &DisputeName::segment, &DisputeName::challenger, &DisputeName::verdict>{};
    }
};

struct ProfileDisputeName {
    DisputeName dispute;
    DisputedProfile profile;
    static constexpr auto fields() { return Fields<&ProfileDisputeName::dispute, &ProfileDisputeName::profile>{}; }
};

struct AccusationName {
    TaskId task;
    std::uint32_t segment = 0;
    AccountId accused;
    std::uint8_t kind = 2;  // other than that of an option
    AccountId accuser;
    std::optional<DisputeId> answers;
    static constexpr auto fields() {
        return Fields<
            &AccusationName::task, &AccusationName::segment, &AccusationName::accused, &AccusationName::kind,
            &AccusationName::accuser, &AccusationName::answers>{};
    }
};

}  // namespace

DisputeId dispute_id(
    const TaskId& task, std::uint32_t segment, const AccountId& challenger,
    const std::optional<DisputedVerdict>& verdict
) noexcept {
    static const crypto::TaggedHash kTag("assay/dispute");
    return retag<DisputeId>(kTag(codec::encode(DisputeName{task, segment, challenger, verdict})));
}

DisputeId dispute_id(
    const TaskId& task, std::uint32_t segment, const AccountId& challenger, const DisputedProfile& profile
) noexcept {
    static const crypto::TaggedHash kTag("assay/dispute");
    const ProfileDisputeName name{{task, segment, challenger, std::nullopt}, profile};
    return retag<DisputeId>(kTag(codec::encode(name)));
}

DisputeId accusation_id(
    const TaskId& task, std::uint32_t segment, const AccountId& accused, const AccountId& accuser,
    const std::optional<DisputeId>& answers
) noexcept {
    static const crypto::TaggedHash kTag("assay/dispute");
    const AccusationName name{
        .task = task, .segment = segment, .accused = accused, .accuser = accuser, .answers = answers};
    return retag<DisputeId>(kTag(codec::encode(name)));
}

Hash256 claim_hash(const dispute::Claim& claim) noexcept {
    static const crypto::TaggedHash kTag("assay/claim");
    return kTag(codec::encode(claim));
}

DisputeState Dispute::state() const noexcept {
    const auto* ended = end();
    if (ended == nullptr) {
        return game() ? DisputeState::kActive : DisputeState::kAwaiting;
    }
    switch (ended->outcome) {
        case DisputeOutcome::kRefuted:
            return DisputeState::kRefuted;
        case DisputeOutcome::kUpheld:
            return DisputeState::kUpheld;
        case DisputeOutcome::kMoot:
            return DisputeState::kMoot;
        case DisputeOutcome::kForced:
            break;
    }
    return DisputeState::kForced;
}

Height Dispute::deadline() const noexcept {
    const auto* awaiting = std::get_if<AwaitingDisclosure>(&phase);
    if (awaiting != nullptr) {
        return awaiting->deadline;
    }
    return game() ? game()->deadline : Height{};
}

Hash256 challenge_seal(const DisputeId& dispute, const Hash256& found) noexcept {
    static const crypto::TaggedHash kTag("assay/seal");  // DSP-41
    return kTag(dispute.view(), found.view());
}

}  // namespace assay::contracts
