// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <client/engine_rpc.hpp>
#include <consensus/cometbft/outbox.hpp>

namespace assay::node {

/// Gives CometBFT what this node passes on to its peers (CMT-18), from a thread of its own: at once when nothing was
/// sent for a while, and else what has gathered in a few milliseconds.
class CometSender {
  public:
    /// `rpc` and `outbox` must outlive this object. `on_note` is called on the thread with messages for the operator;
    /// it may be empty.
    CometSender(
        const client::EngineRpc& rpc, cometbft::Outbox& outbox, std::function<void(const std::string&)> on_note
    );
    ~CometSender();
    CometSender(const CometSender&) = delete;
    CometSender& operator=(const CometSender&) = delete;

    /// Whether the engine answers: asks it, unless it has answered within the last second. Thread-safe.
    bool is_engine_there();
    /// Sends what is queued, for as long as the engine takes it and three seconds at most, and ends. Idempotent.
    void stop();

  private:
    using Clock = std::chrono::steady_clock;

    void run();
    void send(const cometbft::Outbox::Parcel& parcel);
    /// One attempt. Returns whether it was the last one for this parcel.
    bool try_send(const cometbft::Outbox::Parcel& parcel);
    void note_answer(bool is_there);
    /// Waits before another attempt. Returns false if there shall be none.
    bool wait_to_retry();

    const client::EngineRpc& rpc_;
    cometbft::Outbox& outbox_;
    const std::function<void(const std::string&)> on_note_;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_there_ = false;       ///< the engine's last call was answered
    Clock::time_point asked_at_;  ///< when that was
    bool has_noted_ = false;      ///< the operator was told that the engine refuses
    bool stopping_ = false;
    Clock::time_point give_up_at_ = Clock::time_point::max();
    std::mutex probing_;  ///< held by who asks the engine
    std::thread thread_;
};

}  // namespace assay::node
