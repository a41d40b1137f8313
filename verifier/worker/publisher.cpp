// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/publisher.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

#include <contracts/params/spec.hpp>
#include <core/base/assert.hpp>
#include <verifier/stores/location.hpp>

namespace assay::worker {

Patience patience_at(std::uint64_t height, std::uint64_t deadline, std::uint64_t span, std::uint32_t after) noexcept {
    constexpr std::uint64_t kBlocksEach = 2;
    const std::uint64_t due = deadline - std::min(deadline, kBlocksEach * after);
    const std::uint64_t left = due - std::min(due, height);
    return left <= span / 16 ? Patience::kNone : left <= span / 4 ? Patience::kOnePass : Patience::kCopies;
}

Publisher::Publisher(const artifacts::ContentStore& store, Reporter& reporter, PublisherOptions options)
    : store_(store), reporter_(reporter), options_(std::move(options)), thread_([this] { run(); }) {}

Publisher::~Publisher() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool Publisher::is_stopped() const {
    const std::lock_guard lock(mutex_);
    return stop_;
}

std::optional<std::string> Publisher::publish(const Hash256& artifact, Patience patience) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = items_.try_emplace(artifact);
    Item& item = found->second;
    if (is_new) {
        queue_.push_back(artifact);
        changed_.notify_all();
    }
    item.asked_at = std::chrono::steady_clock::now();
    const bool is_waiting = patience == Patience::kCopies    ? !(item.is_tried && is_enough(item))
                            : patience == Patience::kOnePass ? !item.is_tried
                                                             : false;
    if (is_waiting && !item.is_dropped) {
        if (std::exchange(item.is_over, false)) {  // nobody had asked for long
            queue_.push_back(artifact);
            changed_.notify_all();
        }
        return std::nullopt;
    }
    item.is_dropped = true;
    changed_.notify_all();
    std::string out;
    for (const auto& [number, where] : item.there) {
        out += (out.empty() ? "" : " ") + where;
    }
    return out;
}

std::uint32_t Publisher::copies(const Hash256& artifact) const {
    const std::lock_guard lock(mutex_);
    const auto found = items_.find(artifact);
    return found == items_.end() ? 0 : static_cast<std::uint32_t>(found->second.there.size());
}

bool Publisher::is_done(const Item& item) const {
    constexpr std::chrono::minutes kForgotten{10};  // the task has ended meanwhile
    return is_enough(item) || item.is_dropped || std::chrono::steady_clock::now() - item.asked_at > kForgotten;
}

void Publisher::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
        if (stop_) {
            return;
        }
        const Hash256 artifact = queue_.front();
        queue_.pop_front();
        for (;;) {
            lock.unlock();
            pass(artifact);
            lock.lock();
            Item& item = items_.at(artifact);
            item.is_tried = true;
            const auto is_over = [&] { return stop_ || is_done(item); };
            if (is_over() || changed_.wait_for(lock, options_.retry_after, is_over)) {
                item.is_over = true;
                break;
            }
        }
    }
}

void Publisher::pass(const Hash256& artifact) {
    for (std::size_t i = 0; i < options_.locations.size(); ++i) {
        {
            const std::lock_guard lock(mutex_);
            if (stop_ || items_.at(artifact).there.contains(i)) {
                continue;
            }
        }
        if (const auto where = publish_to(options_.locations[i], artifact)) {
            const std::lock_guard lock(mutex_);
            items_.at(artifact).there[i] = *where;
        }
    }
}

std::optional<std::string> Publisher::publish_to(const std::string& location, const Hash256& artifact) {
    const std::string name = to_hex(artifact.view());
    try {
        const auto decoded = stores::decode_location(location);
        ASSERT(decoded.has_value());  // the command line has taken it
        const auto to = stores::open_store(*decoded, options_.credentials);
        to->set_stop([this] { return is_stopped(); });
        const auto path = store_.path(artifact);
        // The hashes first: who finds the file finds them as well.
        if (const auto leaves = store_.leaves(artifact)) {
            to->put({artifact, true}, leaves->path(), {});
        }
        to->put({artifact, false}, path, {});
        const std::string where = to->finish();
        failing_.erase(location);
        reporter_.notice(
            "published " + name + " to " + where, {{"event", "published"}, {"artifact", name}, {"location", where}}
        );
        return where;
    } catch (const std::exception& error) {
        note_failure(location, "artifact " + name + " is not published to " + location + ": " + error.what());
    }
    return std::nullopt;
}

void Publisher::note_failure(const std::string& location, const std::string& text) {
    if (failing_.insert(location).second) {
        reporter_.trouble(text);
    }
}

bool Publisher::fits(const std::string& server, const std::vector<std::string>& locations) {
    std::string all = server;
    for (const std::string& location : locations) {
        auto decoded = stores::decode_location(location);
        if (!decoded) {
            return false;
        }
        if (auto* ipfs = std::get_if<stores::IpfsLocation>(&*decoded)) {
            ipfs->index = Hash256{};
            ipfs->api.clear();  // finish() leaves it out
        }
        all += " " + stores::encode_location(*decoded);
    }
    const auto named = static_cast<std::size_t>(std::count(all.begin(), all.end(), ' ')) + 1;
    return contracts::is_location(all) && stores::split_locations(all).size() == named;
}

}  // namespace assay::worker
