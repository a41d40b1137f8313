// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/peer_audit.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/members.hpp>
#include <core/crypto/random.hpp>
#include <verifier/group/first_wrong.hpp>
#include <verifier/roles/answers.hpp>
#include <verifier/worker/answers.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/told.hpp>

namespace assay::worker {
namespace {

// Nobody else can know which segments are replayed.
bool is_chosen(std::uint32_t every) {
    std::array<std::uint8_t, 8> bytes{};
    crypto::fill_random(bytes);
    std::uint64_t number = 0;
    for (const std::uint8_t byte : bytes) {
        number = number << 8U | byte;
    }
    return number % every == 0;
}

}  // namespace

PeerAudit::~PeerAudit() { abort(); }

void PeerAudit::abort() {
    if (running_ != nullptr) {
        running_->stop = true;
        running_.reset();
    }
}

void PeerAudit::forget(const contracts::TaskId& task) {
    choices_.erase(task);
    if (running_ != nullptr && running_->task == task) {
        abort();
    }
}

void PeerAudit::choose(const contracts::Task& task) {
    // What ended before this worker began is left to the others.
    const auto [place, is_new] = choices_.try_emplace(task.id);
    Choice& choice = place->second;
    const std::uint32_t ended = task.checkpoints == 0 ? 0 : task.checkpoints - 1;
    for (; !is_new && choice.considered < ended && !choice.segment; ++choice.considered) {
        if (is_chosen(context_.options.audit_every)) {
            choice.segment = choice.considered + 1;
        }
    }
    if (is_new) {
        choice.considered = ended;
    }
}

void PeerAudit::attend(const contracts::Task& task) {
    if (context_.options.audit_every == 0) {
        return;
    }
    if (running_ != nullptr && running_->found.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
        conclude();
    }
    choose(task);
    Choice& choice = choices_.at(task.id);
    if (choice.segment && running_ == nullptr) {
        begin(task, *choice.segment);
    }
}

void PeerAudit::begin(const contracts::Task& task, std::uint32_t segment) {
    const auto artifacts = context_.artifacts(task);
    const auto checkpoint = context_.chain.rpc().checkpoint(task.id, segment - 1);
    if (!artifacts || !checkpoint) {
        return;  // another time
    }
    auto before = context_.state_at(*artifacts, segment - 1);
    if (!before) {
        if (before.error().defect != Defect::kPending) {
            context_.reporter.trouble(
                "task " + to_hex(task.id.view()) + ": segment " + std::to_string(segment) +
                " is not audited: " + before.error().reason
            );
            choices_.at(task.id).segment.reset();
        }
        return;
    }
    choices_.at(task.id).segment.reset();
    dispute::Claim claim = contracts::base_claim(task.spec, segment);
    claim.before = checkpoint->state_root;
    running_ = std::make_unique<Audit>();
    running_->task = task.id;
    running_->segment = segment;
    running_->found = std::async(
        std::launch::async,
        [task, claim, artifacts, state = *std::move(before), told = context_.statements->of(task.id),
         engine = context_.options.engine, home = context_.options.home, chain_id = context_.chain.chain_id(),
         self = context_.chain.self(), stop = &running_->stop]() mutable -> std::optional<contracts::Accuse> {
            EngineReplay replay(
                artifacts, claim, std::move(state), engine, EngineReplay::Storage{.directory = home, .stop = stop}
            );
            const auto wrong = group::find_first_wrong(*told, claim, replay, collecting(replay));
            return wrong ? roles::accuse(
                               task, chain_id, self, claim, {.stated = wrong->stated, .signature = wrong->signature},
                               replay
                           )
                         : std::nullopt;
        }
    );
}

void PeerAudit::conclude() {
    const std::unique_ptr<Audit> ended = std::move(running_);
    try {
        const std::optional<contracts::Accuse> found = ended->found.get();
        context_.reporter.event(
            {{"event", "audited"},
             {"task", to_hex(ended->task.view())},
             {"segment", ended->segment},
             {"wrong", found ? to_hex(found->member.view()) : std::string()}}
        );
        const auto task = found ? context_.chain.rpc().task(ended->task) : std::nullopt;
        if (task && !contracts::is_culprit(*task, found->member) && context_.chain.send(*found)) {
            context_.reporter.event(event_of(*found, ended->segment));
        }
    } catch (const http::NetError&) {
        throw;
    } catch (const client::RpcError&) {
        throw;
    } catch (const JournalError&) {
        throw;
    } catch (const std::exception& error) {
        context_.reporter.trouble(
            "task " + to_hex(ended->task.view()) + ": segment " + std::to_string(ended->segment) +
            " could not be audited: " + error.what()
        );
    }
}

}  // namespace assay::worker
