// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <core/crypto/keys.hpp>
#include <core/merkle/tree.hpp>
#include <tests/simulation/session.hpp>

/// What members show each other at the end of a segment (STM-3).
namespace assay::simulation {

using group::Told;

/// STM-3: at the end of a segment members show each other what they were told.
void Session::finish(std::size_t rank) {
    Rank& own = ranks_[rank];
    own.is_done = true;
    own.since_ms = events_.now();
    for (std::size_t other = 0; other < ranks_.size(); ++other) {
        if (other != rank) {
            post(rank, other, [this, rank, other, heard = own.heard] {
                ranks_[other].shown[rank] = heard;
                compare(other, rank);
            });
        }
    }
    const auto shown = own.shown;
    for (const auto& [other, messages] : shown) {
        compare(rank, other);
    }
}

void Session::compare(std::size_t rank, std::size_t with) {
    Rank& own = ranks_[rank];
    if (!own.is_done) {
        return;
    }
    own.since_ms = events_.now();
    for (const auto& theirs : own.shown.at(with)) {
        const auto ours = std::find_if(own.heard.begin(), own.heard.end(), [&](const auto& told) {
            return told->author == theirs->author && told->statement.step == theirs->statement.step &&
                   told->message == theirs->message && told->statement.root != theirs->statement.root;
        });
        const bool differs = theirs->author != with && ours != own.heard.end();
        const auto found = differs ? group::find_equivocation({*ours, theirs}) : std::nullopt;
        if (found) {
            find(own, *found);
        }
    }
    if (own.shown.size() + 1 == ranks_.size() && !own.has_shown) {
        show_evidence(rank);
    }
}

void Session::find(Rank& rank, const group::Equivocation& found) {
    const AccountId& author = ranks_[found.author].fellow->account();
    rank.found.emplace(found.author, found);
    rank.fellow->find(terms_.task, author, found);
    if (rank.fellow->wrong() == Wrong::kNothing) {
        caught_.insert(author);
    }
}

/// STM-3: who was told neither of two values learns of them so. Who slanders shows what it made up as well.
void Session::show_evidence(std::size_t rank) {
    Rank& own = ranks_[rank];
    own.has_shown = true;
    std::vector<group::Equivocation> found;
    for (const auto& [author, evidence] : own.found) {
        found.push_back(evidence);
    }
    if (const auto forged = forge_evidence(rank)) {
        found.insert(found.begin(), *forged);
        ++company_.counts["evidence that a member made up"];
    }
    for (std::size_t other = 0; other < ranks_.size(); ++other) {
        if (other != rank) {
            post(rank, other, [this, rank, other, found] {
                ranks_[other].has_evidence_of.insert(rank);
                look_at(other, found);
            });
        }
    }
    if (rank == 0 && is_finished(own)) {
        end(Phase::kFinished, std::nullopt);
    }
}

/// What a member has said, and another value that its signature does not say.
std::optional<group::Equivocation> Session::forge_evidence(std::size_t rank) const {
    const Rank& own = ranks_[rank];
    if (own.fellow->wrong() != Wrong::kSlanders || own.heard.empty()) {
        return std::nullopt;
    }
    const Told& right = *own.heard.front();
    Told wrong = right;
    std::vector<Hash256> leaves;
    for (std::size_t i = 0; i < wrong.values.size(); ++i) {
        wrong.values[i].data[0] ^= 1U;
        leaves.push_back(dispute::piece_leaf(wrong.piece(i)));
    }
    wrong.statement.root = merkle::root_of(leaves);
    return group::Equivocation{
        .author = right.author,
        .one = right.stated(0),
        .one_signature = right.signature,
        .other = wrong.stated(0),
        .other_signature = wrong.signature};
}

void Session::look_at(std::size_t rank, const std::vector<group::Equivocation>& shown) {
    Rank& own = ranks_[rank];
    own.since_ms = events_.now();
    const group::Occasion occasion{
        .task = Hash256{terms_.task.data},
        .before = terms_.before,
        .session = session_,
        .first_step = terms_.first_step};
    const auto is_signed = [&](std::uint32_t author, const dispute::Statement& statement, const Signature& signature) {
        const Hash256 digest = dispute::statement_digest(terms_.chain_id, statement);
        return crypto::verify_signature(ranks_[author].fellow->account(), digest.view(), signature);
    };
    for (const group::Equivocation& each : shown) {
        const bool is_new = each.author < ranks_.size() && each.author != rank && !own.found.contains(each.author);
        if (is_new && group::is_proven(each, occasion, is_signed)) {
            find(own, each);
            if (rank == 0) {
                ++company_.counts["equivocators shown to a lead that was told neither value"];
            }
        }
    }
    if (rank == 0 && is_finished(own)) {
        end(Phase::kFinished, std::nullopt);
    }
}

/// Whether it has compared with all others, and has seen what they found.
bool Session::is_finished(const Rank& rank) const {
    return rank.has_shown && rank.has_evidence_of.size() + 1 == ranks_.size();
}

}  // namespace assay::simulation
