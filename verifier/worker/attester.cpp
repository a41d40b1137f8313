// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/attester.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <contracts/availability/availability.hpp>
#include <verifier/roles/verifier.hpp>
#include <core/dispute/player.hpp>
#include <core/sealed/files/check.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/worker/offers.hpp>

namespace assay::worker {
namespace {

std::size_t place_of(const contracts::Committee& committee, const AccountId& account) {
    const auto member = std::find_if(committee.members.begin(), committee.members.end(), [&](const auto& each) {
        return each.account == account;
    });
    return static_cast<std::size_t>(std::distance(committee.members.begin(), member));
}

/// What their replays read, and what these are compared with.
std::set<std::uint32_t> checkpoints_of(const contracts::Task& task) {
    std::set<std::uint32_t> out;
    for (const std::uint32_t segment : task.committee->segments) {
        out.insert(contracts::checkpoint_before(segment));
        out.insert(std::min(segment, task.checkpoints - 1));
    }
    return out;
}

}  // namespace

bool Attester::is_due(const contracts::Task& task) const {
    const bool is_open = context_.journal.breaker().has_value() || context_.closed();
    return std::holds_alternative<roles::intent::Attest>(
        roles::decide_member({.task = task, .self = context_.chain.self(), .is_breaker_open = is_open})
    );
}

void Attester::want(const contracts::Task& task) {
    if (!is_due(task)) {
        return;
    }
    context_.want(task, artifacts::Urgency::kDuty);
    for (const std::uint32_t index : checkpoints_of(task)) {
        context_.want_checkpoint(task.id, index);
    }
}

bool Attester::has_checkpoint(
    const contracts::Task& task, const TaskArtifacts& artifacts, std::uint32_t index,
    std::optional<std::vector<canonical::Tensor>>& state
) {
    const std::size_t place = place_of(*task.committee, context_.chain.self());
    const bool is_asked = contracts::asked_tile(task, place).checkpoint == index;
    if (had_[task.id].contains(index) && !is_asked) {
        return true;
    }
    auto found = context_.state_at(artifacts, index);
    if (!found) {
        context_.decline(task.id, found.error());
        return false;
    }
    had_[task.id].insert(index);
    if (is_asked) {
        state = *std::move(found);
    }
    return true;
}

std::optional<contracts::DrawnOpening> Attester::open(const contracts::Task& task) {
    const auto artifacts = context_.artifacts(task);
    if (!artifacts || memory_of(*artifacts, context_.options.engine) > memory_max(context_.options)) {
        return std::nullopt;  // who attests may be drawn to replay
    }
    std::optional<std::vector<canonical::Tensor>> state;
    for (const std::uint32_t index : checkpoints_of(task)) {
        if (!has_checkpoint(task, *artifacts, index, state)) {
            return std::nullopt;
        }
    }
    const contracts::DrawnTile asked = contracts::asked_tile(task, place_of(*task.committee, context_.chain.self()));
    const std::uint64_t tiles = canonical::tile_count((*state)[asked.tensor].shape);
    return dispute::open_tile(*state, asked.tensor, asked.number % tiles);
}

bool Attester::has_sealed(const contracts::Task& task, const char* what, const artifacts::Reference& file) {
    auto& had = had_sealed_[task.id];
    if (had.contains(file.name)) {
        return true;
    }
    const auto found = context_.obtain_sealed(task.id, what, file);
    if (!found) {
        context_.decline(task.id, found.error());
        return false;
    }
    const auto root = sealed::check_sealed(artifacts::StoredSource(*found), {.threads = threads_of(context_.options)});
    if (!root || *root != file.name) {
        artifacts::ContentStore::quarantine(*found);  // our disk has damaged it
        return false;
    }
    had.insert(file.name);
    return true;
}

std::optional<contracts::DrawnOpening> Attester::open_sealed(const contracts::Task& task) {
    bool has_all = true;
    for (const auto& [artifact, size_max] : artifacts_of(task.spec)) {
        const contracts::SealedFile& file = *artifacts::sealed_of(task.spec, artifact.sha256);
        has_all = has_sealed(task, "an artifact", artifacts::reference_to(file, artifact.location)) && has_all;
    }
    const contracts::DrawnTile asked = contracts::asked_tile(task, place_of(*task.committee, context_.chain.self()));
    std::optional<artifacts::Reference> drawn;
    for (const std::uint32_t index : checkpoints_of(task)) {
        const contracts::Checkpoint& checkpoint = context_.chain.checkpoint(task.id, index);
        if (!checkpoint.sealed) {
            return std::nullopt;  // the node does not tell what the chain has (PRV-6)
        }
        const auto file = artifacts::reference_to(*checkpoint.sealed, checkpoint.location);
        has_all = has_sealed(task, "the checkpoint", file) && has_all;
        drawn = index == asked.checkpoint ? std::optional(file) : drawn;
    }
    const auto found =
        has_all && drawn ? std::optional(context_.obtain_sealed(task.id, "the checkpoint", *drawn)) : std::nullopt;
    if (!found || !*found) {
        return std::nullopt;
    }
    auto piece =
        artifacts::open_drawn_piece(**found, drawn->name, asked.tensor, asked.number, threads_of(context_.options));
    return piece ? std::optional(contracts::DrawnOpening(*std::move(piece))) : std::nullopt;
}

bool Attester::attend(const contracts::Task& task) {
    if (!is_due(task)) {
        return false;
    }
    auto opening = task.spec.privacy ? open_sealed(task) : open(task);
    if (!opening) {
        return false;
    }
    const std::uint32_t checkpoint =
        contracts::asked_tile(task, place_of(*task.committee, context_.chain.self())).checkpoint;
    const bool sent =
        context_.chain.send(contracts::AttestAvailability{.task = task.id, .opening = *std::move(opening)});
    if (sent) {
        context_.reporter.event(
            {{"event", "attested"},
             {"task", to_hex(task.id.view())},
             {"checkpoint", checkpoint},
             {"sitting", task.committee->sitting}}
        );
    }
    return sent;
}

}  // namespace assay::worker
