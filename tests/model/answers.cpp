// SPDX-License-Identifier: Apache-2.0
#include <tests/model/crowd.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <core/codec/borsh.hpp>

/// Answers to duties, without a fee: right ones, and what somebody could try with them.
namespace assay::model {

using contracts::Action;

namespace {

constexpr std::size_t kRemembered = 40;  ///< answers that may be sent again

/// The same with more bytes than an answer may have, where the action has a field that can be as long as anybody likes.
Action inflate(Action action) {
    const auto lengthen = [](auto& a) {
        using A = std::decay_t<decltype(a)>;
        const auto open = [](dispute::StateOpening& opening) {
            opening.opening.source_path.resize(60);
            opening.opening.tile_path.resize(60);
        };
        if constexpr (std::is_same_v<A, contracts::PostCheckpoint>) {
            a.location = std::string(1'100, 'a');
        } else if constexpr (std::is_same_v<A, contracts::RevealMove>) {
            a.children.resize(300);
        } else if constexpr (std::is_same_v<A, contracts::DiscloseVerdict>) {
            a.opening.marks.resize(40);
        } else if constexpr (std::is_same_v<A, contracts::PublishProfile>) {
            a.report.segments.resize(100);
        } else if constexpr (std::is_same_v<A, contracts::AttestAvailability> || std::is_same_v<A, contracts::ShowResult>) {
            open(a.opening.template emplace<dispute::StateOpening>());
        } else if constexpr (std::is_same_v<A, contracts::ShareKeys>) {
            a.shares.resize(32, a.shares.front());
        } else if constexpr (std::is_same_v<A, contracts::DeclareDivergence>) {
            open(a.opening);
        }
    };
    std::visit(lengthen, action);
    return action;
}

}  // namespace

Sent Crowd::answer(
    const AccountId& sender, const Action& action, std::uint64_t due, const std::optional<AccountId>& owner
) const {
    const auto actor = std::find_if(actors_.begin(), actors_.end(), [&](const Actor& a) { return a.id == sender; });
    Sent sent;
    sent.body = {kChainId, sender, due, {}, action, owner};
    sent.bytes = codec::encode(contracts::sign_tx(sent.body, actor->key));
    return sent;
}

Crowd::Signer Crowd::signer_of(const Actor& actor, const World& world) {
    const auto named = world.operators.find(actor.id);
    if (named != world.operators.end() && chance(40)) {
        return {named->second, actor.id};
    }
    return chance(2) ? Signer{actors_[below(actors_.size())].id, actor.id} : Signer{actor.id, std::nullopt};
}

bool Crowd::answer_duty(
    const Actor& actor, const Signer& signer, const Action& action, const World& world, Sents& out, Sents& late
) {
    if (!answer_bytes(action)) {
        if (chance(2)) {
            out.push_back(answer(signer.id, action, world.people.at(actor.id).nonce, signer.owner));
        }
        return false;
    }
    const auto owed = owed_by(world, params_, actor.id, action);
    const std::uint64_t due = owed ? owed->due : 0;
    // Some stand before what others do in the same block, some behind it.
    Sents& place = chance(30) ? late : out;
    const std::uint64_t way = below(100);
    if (way < 60 && (owed || chance(10))) {
        place.push_back(answer(signer.id, action, due, signer.owner));
        remember(place.back());
        return true;
    }
    if (way < 64) {
        place.push_back(answer(signer.id, action, due, signer.owner));
        place.push_back(place.back());
        return true;
    }
    if (way < 69) {
        place.push_back(answer(signer.id, action, due, signer.owner));  // and once more with a fee
    } else if (way < 72) {
        const std::uint64_t other = chance(30)   ? 0
                                    : chance(30) ? below(400)
                                                 : due + (chance(50) ? 1U : ~std::uint64_t{0});
        place.push_back(answer(signer.id, action, other, signer.owner));
    } else if (way < 75) {
        place.push_back(answer(actors_[below(actors_.size())].id, action, due));
    } else if (way < 77) {
        place.push_back(answer(signer.id, inflate(action), due, signer.owner));
    }
    return false;
}

void Crowd::remember(const Sent& sent) {
    answers_.push_back(sent);
    if (answers_.size() > kRemembered) {
        answers_.pop_front();
    }
}

void Crowd::send_again(Sents& out) {
    if (!answers_.empty() && chance(25)) {
        out.push_back(answers_[below(answers_.size())]);
    }
}

}  // namespace assay::model
