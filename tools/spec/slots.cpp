// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/slots.hpp>

#include <algorithm>

#include <contracts/state/beacon.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/stake.hpp>
#include <tools/spec/walk.hpp>

namespace assay::spec {

using namespace contracts;

std::vector<Slot> list_slots(Walker& walker) {
    static const std::vector<Enumerator> kKinds = enumerators<SlotKind>();
    std::vector<Slot> out;
    const auto add = [&]<class T>(SlotKind kind, std::vector<Field> rest, const T*) {
        const auto number = static_cast<std::uint8_t>(kind);
        const auto named =
            std::find_if(kKinds.begin(), kKinds.end(), [&](const Enumerator& e) { return e.number == number; });
        out.push_back({number, named->name, std::move(rest), walker.type<T>()});
    };
    using Accounts = std::vector<AccountId>;
    const Field account{"account", walker.type<AccountId>()};
    const Field task{"task", walker.type<TaskId>()};
    const Field role{"role", walker.type<Role>()};
    const Field queue{"queue", "Queue"};
    const auto is = []<class T>() { return static_cast<const T*>(nullptr); };
    add(SlotKind::kParams, {}, is.template operator()<Params>());
    add(SlotKind::kSupply, {}, is.template operator()<Supply>());
    add(SlotKind::kAccount, {account}, is.template operator()<Account>());
    add(SlotKind::kStake, {role, account}, is.template operator()<Stake>());
    add(SlotKind::kTask, {task}, is.template operator()<Task>());
    add(SlotKind::kCheckpoint, {task, {"index", "u32"}}, is.template operator()<Checkpoint>());
    add(SlotKind::kDispute, {{"dispute", walker.type<DisputeId>()}}, is.template operator()<Dispute>());
    add(SlotKind::kProfile, {task, {"place", "u32"}}, is.template operator()<ProfileReport>());
    add(SlotKind::kValidator, {account}, is.template operator()<Validator>());
    add(SlotKind::kStakers, {role}, is.template operator()<Accounts>());
    add(SlotKind::kBookkeeping, {task}, is.template operator()<TaskBookkeeping>());
    add(SlotKind::kLineage, {task}, is.template operator()<Lineage>());
    add(SlotKind::kTaints, {}, is.template operator()<std::vector<Taint>>());
    add(SlotKind::kTerms, {role, account}, is.template operator()<RegisteredTerms>());
    add(SlotKind::kValidators, {}, is.template operator()<Accounts>());
    add(SlotKind::kConsensusAccount, {{"address", walker.type<ConsensusAddress>()}},
        is.template operator()<AccountId>());
    add(SlotKind::kBeacon, {}, is.template operator()<Beacon>());
    add(SlotKind::kDrawing, {}, is.template operator()<Drawing>());
    add(SlotKind::kBanned, {}, is.template operator()<Accounts>());
    add(SlotKind::kBaseFee, {}, is.template operator()<Amount>());
    add(SlotKind::kAgenda, {{"height", "u64"}}, is.template operator()<std::uint32_t>());
    add(SlotKind::kAgenda, {{"height", "u64"}, {"number", "u32"}}, is.template operator()<Due>());
    add(SlotKind::kBacklog, {}, is.template operator()<Backlog>());
    add(SlotKind::kQueue, {queue}, is.template operator()<QueueEnds>());
    add(SlotKind::kQueue, {queue, {"number", "u64"}}, is.template operator()<Waiting>());
    add(SlotKind::kLane, {}, is.template operator()<Lane>());
    add(SlotKind::kProposal, {{"proposal", walker.type<ProposalId>()}}, is.template operator()<Proposal>());
    add(SlotKind::kProposals, {}, is.template operator()<std::vector<OpenProposal>>());
    add(SlotKind::kOperator, {account}, is.template operator()<AccountId>());
    add(SlotKind::kPlans, {}, is.template operator()<std::vector<Plan>>());
    return out;
}

}  // namespace assay::spec
