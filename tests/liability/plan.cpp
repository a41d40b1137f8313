// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/plan.hpp>

#include <contracts/duties/lane.hpp>
#include <contracts/tasks/seats.hpp>
#include <contracts/validators/validators.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/ed25519.hpp>

namespace assay::liability {

const char* to_string(PlanKind kind) noexcept {
    switch (kind) {
        case PlanKind::kNone:
            return "no plan";
        case PlanKind::kLiar:
            return "liar";
        case PlanKind::kSpammer:
            return "spammer";
        case PlanKind::kDrafter:
            return "drafter";
        case PlanKind::kWithholder:
            return "withholder";
        case PlanKind::kBait:
            return "bait";
        case PlanKind::kSquatter:
            return "squatter";
        case PlanKind::kWaiter:
            return "waiter";
        case PlanKind::kCrowder:
            return "crowder";
        case PlanKind::kFiller:
            return "filler";
        case PlanKind::kSyndicate:
            return "syndicate";
        case PlanKind::kScapegoat:
            return "scapegoat";
        case PlanKind::kVoters:
            return "voters";
        case PlanKind::kKeeper:
            return "keeper";
        case PlanKind::kTeaser:
            return "teaser";
        case PlanKind::kReader:
            return "reader";
        case PlanKind::kThief:
            return "thief";
        case PlanKind::kMob:
            return "mob";
    }
    return "";
}

std::uint64_t Member::balance(const Stage& stage) const {
    const auto person = stage.chain.world.people.find(id_);
    return person == stage.chain.world.people.end() ? 0 : person->second.balance;
}

bool Member::send(
    const Stage& stage, const contracts::Action& action, std::uint64_t fee, const std::optional<AccountId>& owner
) const {
    const contracts::Params& params = stage.node.state()->params();
    const std::uint64_t imposed = contracts::imposed_gas(action, params) * params.gas_price_min.grains;
    const contracts::TxBody body{chain_id_, id_, stage.node.next_nonce(id_), Amount{fee + imposed}, action, owner};
    return stage.node.submit(codec::encode(contracts::sign_tx(body, key_))).has_value();
}

bool Member::send_once(const Stage& stage, const contracts::Action& action, const std::optional<AccountId>& owner) {
    constexpr std::uint64_t kAgainAfter = 10;
    std::uint64_t& sent_at = sent_at_[codec::encode(action)];
    if ((sent_at != 0 && stage.node.height() < sent_at + kAgainAfter) || !send(stage, action, kFee, owner)) {
        return false;
    }
    sent_at = stage.node.height();
    return true;
}

std::optional<sealed::TaskSecret> Member::open_share(const sealed::TaskKey& key, const Bytes& share) const {
    return sealed::open_share(key_, key, share);
}

std::optional<sealed::WrongShare> Member::report_share(const Bytes& share) const {
    return sealed::make_wrong_share(key_, share, {});
}

Signature Member::sign_seats(const contracts::SeatsTerms& terms) const {
    return key_.sign(contracts::seats_claim(chain_id_, terms).view());
}

Signature Member::sign_statement(const dispute::Statement& statement) const {
    return key_.sign(dispute::statement_digest(chain_id_, statement).view());
}

void Member::bond(const Stage& stage, contracts::Role role, std::uint64_t grains) {
    if (!stage.chain.world.stakes.contains({role, id_})) {
        send_once(stage, contracts::Bond{role, {grains}});
    }
}

void Member::register_validator(const Stage& stage, std::uint8_t secret) {
    crypto::Ed25519Key::Seed seed{};
    seed.fill(secret);
    const crypto::Ed25519Key key(seed);
    const Hash256 claim = contracts::consensus_key_claim(chain_id_, id_);
    send_once(
        stage,
        contracts::RegisterValidator{
            contracts::ConsensusKey{key.public_key()}, contracts::ConsensusSignature{key.sign(claim.view())}}
    );
}

std::unique_ptr<Plan> make_plan(PlanKind kind, std::uint64_t seed, std::vector<Member> members) {
    switch (kind) {
        case PlanKind::kNone:
            return nullptr;
        case PlanKind::kSpammer:
        case PlanKind::kDrafter:
        case PlanKind::kSquatter:
        case PlanKind::kWaiter:
        case PlanKind::kCrowder:
        case PlanKind::kFiller:
            return make_sender(kind, seed, std::move(members));
        case PlanKind::kScapegoat:
            return make_scapegoat(seed, std::move(members));
        case PlanKind::kThief:
            return make_thief(seed, std::move(members));
        case PlanKind::kMob:
            return make_mob(seed, std::move(members));
        case PlanKind::kVoters:
            return make_voters(seed, std::move(members));
        case PlanKind::kKeeper:
        case PlanKind::kTeaser:
        case PlanKind::kReader:
            return make_reader_or_keeper(kind, seed, std::move(members));
        case PlanKind::kLiar:
        case PlanKind::kWithholder:
        case PlanKind::kBait:
        case PlanKind::kSyndicate:
            return make_swindler(kind, seed, std::move(members));
    }
    return nullptr;
}

}  // namespace assay::liability
