// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/publisher.hpp>

#include <exception>
#include <utility>
#include <variant>

#include <contracts/params/spec.hpp>
#include <core/base/assert.hpp>
#include <verifier/stores/location.hpp>

namespace assay::worker {

Publisher::Publisher(
    const artifacts::ContentStore& store, Reporter& reporter, std::vector<std::string> locations,
    std::optional<stores::Credentials> credentials
)
    : store_(store),
      reporter_(reporter),
      locations_(std::move(locations)),
      credentials_(std::move(credentials)),
      thread_([this] { run(); }) {}

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

std::optional<std::string> Publisher::publish(const Hash256& artifact) {
    const std::lock_guard lock(mutex_);
    if (const auto found = done_.find(artifact); found != done_.end()) {
        return found->second;
    }
    if (wanted_.insert(artifact).second) {
        queue_.push_back(artifact);
        changed_.notify_all();
    }
    return std::nullopt;
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
        lock.unlock();
        std::string where = publish_to_all(artifact);
        lock.lock();
        wanted_.erase(artifact);
        done_[artifact] = std::move(where);
    }
}

std::string Publisher::publish_to_all(const Hash256& artifact) {
    std::string out;
    for (const std::string& location : locations_) {
        if (const auto where = publish_to(location, artifact)) {
            out += (out.empty() ? "" : " ") + *where;
        }
    }
    return out;
}

std::optional<std::string> Publisher::publish_to(const std::string& location, const Hash256& artifact) {
    const std::string name = to_hex(artifact.view());
    try {
        const auto decoded = stores::decode_location(location);
        ASSERT(decoded.has_value());  // the command line has taken it
        const auto to = stores::open_store(*decoded, credentials_);
        to->set_stop([this] { return is_stopped(); });
        const auto path = store_.path(artifact);
        // The hashes first: who finds the file finds them as well.
        if (const auto leaves = store_.leaves(artifact)) {
            to->put({artifact, true}, leaves->path(), {});
        }
        to->put({artifact, false}, path, {});
        const std::string where = to->finish();
        reporter_.notice(
            "published " + name + " to " + where, {{"event", "published"}, {"artifact", name}, {"location", where}}
        );
        return where;
    } catch (const std::exception& error) {
        reporter_.trouble("artifact " + name + " is not published to " + location + ": " + error.what());
    }
    return std::nullopt;
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
    return contracts::is_location(all) && stores::split_locations(all).size() == locations.size() + 1;
}

}  // namespace assay::worker
