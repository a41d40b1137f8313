// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

/// Time, chance and the network between the parts of a simulation: one thread, nothing but the seed decides.
namespace assay::simulation {

/// How bad the network is while faults last.
struct Weather {
    std::uint32_t loss_percent = 0;
    std::uint32_t twice_percent = 0;  ///< messages that arrive twice
    std::uint64_t delay_max_ms = 50;  ///< each message takes 1 .. so long, so that later ones overtake
    std::uint32_t slow_percent = 0;   ///< messages that take up to twenty times as long
};

class Events {
  public:
    explicit Events(std::uint64_t seed) : seed_(seed), random_(seed) {}

    std::uint64_t now() const { return now_; }
    std::uint64_t below(std::uint64_t bound) { return (stream_ ? stream_of(*stream_) : random_)() % bound; }
    bool chance(std::uint32_t percent) { return below(100) < percent; }

    void after(std::uint64_t delay_ms, std::function<void()> what) {
        queue_.emplace(std::pair{now_ + delay_ms, ++sequence_}, Event{stream_, std::move(what)});
    }
    /// Runs what is next; false when nothing is.
    bool step() {
        if (queue_.empty()) {
            return false;
        }
        auto next = queue_.extract(queue_.begin());
        now_ = next.key().first;
        stream_ = next.mapped().stream;
        next.mapped().happen();
        return true;
    }

    /// From here on chance comes from this stream, and so it does in every event that follows from this one. Whoever
    /// has a stream to itself is as lucky in one run as in another of the same seed in which somebody else does more.
    void enter_stream(std::uint64_t number) { stream_ = number; }

    Weather weather;
    /// Two places are cut off from each other while exactly one of them is here.
    std::set<int> island;
    bool is_cut(int from, int to) const { return island.contains(from) != island.contains(to); }

    /// Lets `arrive` happen at `to`, later, twice or never. Places are numbers: replicas, then workers.
    void send(int from, int to, const std::function<void()>& arrive) {
        const int copies = chance(weather.twice_percent) ? 2 : 1;
        for (int i = 0; i < copies; ++i) {
            const bool slow = chance(weather.slow_percent);
            const std::uint64_t delay = 1 + below(weather.delay_max_ms * (slow ? 20 : 1));
            if (is_cut(from, to) || chance(weather.loss_percent)) {
                ++lost;
                continue;
            }
            after(delay, arrive);
        }
    }
    std::uint64_t lost = 0;

  private:
    struct Event {
        std::optional<std::uint64_t> stream;
        std::function<void()> happen;
    };

    std::mt19937_64& stream_of(std::uint64_t number) {
        constexpr std::uint64_t kApart = 1'000'003;
        return streams_.try_emplace(number, seed_ * kApart + number + 1).first->second;
    }

    std::uint64_t now_ = 0;
    std::uint64_t sequence_ = 0;
    const std::uint64_t seed_;
    std::mt19937_64 random_;
    std::optional<std::uint64_t> stream_;  ///< none: one chance for all
    std::map<std::uint64_t, std::mt19937_64> streams_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Event> queue_;
};

}  // namespace assay::simulation
