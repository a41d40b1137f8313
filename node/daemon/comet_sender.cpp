// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/comet_sender.hpp>

#include <exception>
#include <utility>

#include <client/http/http.hpp>

namespace assay::node {
namespace {

/// How long transactions gather while others were sent just before.
constexpr std::chrono::milliseconds kGather{10};
constexpr std::chrono::milliseconds kRetryAfter{200};
constexpr std::chrono::seconds kStopGrace{3};
/// How long an answer of the engine shows that it is there.
constexpr std::chrono::seconds kTrust{1};

}  // namespace

CometSender::CometSender(
    const client::EngineRpc& rpc, cometbft::Outbox& outbox, std::function<void(const std::string&)> on_note
)
    : rpc_(rpc), outbox_(outbox), on_note_(std::move(on_note)), thread_([this] { run(); }) {}

CometSender::~CometSender() { stop(); }

void CometSender::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (!std::exchange(stopping_, true)) {
            give_up_at_ = Clock::now() + kStopGrace;
        }
        changed_.notify_all();
    }
    outbox_.stop();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void CometSender::run() {
    Clock::time_point due = Clock::now();
    while (outbox_.await(due)) {
        due = Clock::now() + kGather;
        if (const auto parcel = outbox_.take()) {
            send(*parcel);
            outbox_.finish();
        }
    }
}

void CometSender::send(const cometbft::Outbox::Parcel& parcel) {
    while (!try_send(parcel)) {
        if (!wait_to_retry()) {
            outbox_.clear();
            return;
        }
    }
}

bool CometSender::try_send(const cometbft::Outbox::Parcel& parcel) {
    try {
        const client::Broadcast answer = rpc_.broadcast(parcel.bytes);
        note_answer(true);
        // What it refuses is a transaction that has left the mempool meanwhile; what it knows was sent before.
        return answer.outcome != client::Broadcast::Outcome::kFull;
    } catch (const http::NetError&) {
        note_answer(false);
        return false;
    } catch (const std::exception& error) {
        note_answer(true);
        if (!std::exchange(has_noted_, true) && on_note_) {
            on_note_(
                std::string("warning: transactions wait here and are not passed on to other nodes: ") + error.what()
            );
        }
        return true;
    }
}

void CometSender::note_answer(bool is_there) {
    const std::lock_guard lock(mutex_);
    is_there_ = is_there;
    asked_at_ = Clock::now();
}

bool CometSender::wait_to_retry() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kRetryAfter, [this] { return stopping_; });
    // An engine that does not answer while the node stops has ended before it.
    return !stopping_ || (is_there_ && Clock::now() < give_up_at_);
}

bool CometSender::is_engine_there() {
    const auto is_fresh = [this] {
        const std::lock_guard lock(mutex_);
        return is_there_ && Clock::now() - asked_at_ < kTrust;
    };
    if (is_fresh()) {
        return true;
    }
    const std::lock_guard probing(probing_);
    if (is_fresh()) {
        return true;
    }
    try {
        rpc_.call("health");
        note_answer(true);
    } catch (const http::NetError&) {
        note_answer(false);
        return false;
    } catch (const std::exception&) {
        note_answer(true);
    }
    return true;
}

}  // namespace assay::node
