// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/block_waits.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <node/rpc/jsonrpc.hpp>

namespace assay::rpc {

namespace {

using Clock = std::chrono::steady_clock;

/// How soon a stop, a timeout and a client that has gone are noticed while there is no block.
constexpr std::chrono::milliseconds kSlice{100};

}  // namespace

BlockWaits::BlockWaits(node::NodeApi& api) : api_(api), thread_([this] { run(); }) {}

BlockWaits::~BlockWaits() { stop(); }

/// Whether nothing more is to be done for it; the caller holds the lock.
bool BlockWaits::settle(const Entry& entry) const {
    if (entry.exchange->is_over()) {
        return true;
    }
    if (height_ <= entry.wait.after && Clock::now() < entry.wait.until && !stopping_) {
        return false;
    }
    http::HttpResponse response;
    response.body = result_response(entry.wait.id, {{"height", height_.value}});
    entry.exchange->answer(std::move(response));
    return true;
}

void BlockWaits::add(Wait wait, std::shared_ptr<http::HttpExchange> exchange) {
    // Asked outside the lock: a node that is busy keeps nobody else waiting.
    const Height height = api_.wait_for_block(wait.after, std::chrono::milliseconds(0));
    const std::lock_guard lock(mutex_);
    height_ = std::max(height_, height);
    Entry entry{std::move(wait), std::move(exchange)};
    if (!settle(entry)) {
        entries_.push_back(std::move(entry));
        changed_.notify_all();
    }
}

std::size_t BlockWaits::count() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

void BlockWaits::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopping_ || !entries_.empty(); });
        if (stopping_) {
            return;
        }
        auto first = entries_.front().wait.until;
        for (const Entry& entry : entries_) {
            first = std::min(first, entry.wait.until);
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now());
        const Height seen = height_;
        const auto slice = Clock::now() + std::clamp(left, std::chrono::milliseconds(0), kSlice);
        lock.unlock();
        const Height height = api_.wait_for_block(
            seen, std::chrono::ceil<std::chrono::milliseconds>(std::max(slice - Clock::now(), Clock::duration::zero()))
        );
        lock.lock();
        if (height <= seen) {
            // An engine that stops makes nobody wait.
            changed_.wait_until(lock, slice, [this] { return stopping_; });
        }
        height_ = std::max(height_, height);
        entries_.remove_if([this](const Entry& entry) { return settle(entry); });
    }
}

void BlockWaits::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) {
            return;
        }
        stopping_ = true;
        entries_.remove_if([this](const Entry& entry) { return settle(entry); });
        changed_.notify_all();
    }
    thread_.join();
}

}  // namespace assay::rpc
