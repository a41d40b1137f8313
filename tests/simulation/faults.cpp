// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/faults.hpp>

namespace assay::simulation {
namespace {

/// When something fails, of a world that is bad for so long.
std::uint64_t some_time(Events& events, std::uint64_t faults_ms) { return 3'000 + events.below(faults_ms - 5'000); }

void plan_weather(Events& events) {
    events.weather.loss_percent = static_cast<std::uint32_t>(events.below(15));
    events.weather.twice_percent = static_cast<std::uint32_t>(events.below(10));
    events.weather.slow_percent = static_cast<std::uint32_t>(events.below(10));
    events.weather.delay_max_ms = 20 + events.below(200);
}

void plan_islands(Events& events, std::uint64_t faults_ms, std::size_t places) {
    for (std::uint64_t n = events.below(6); n > 0; --n) {
        events.after(some_time(events, faults_ms), [&events, places] {
            events.island.clear();
            for (std::size_t place = 0; place < places; ++place) {
                if (events.chance(35)) {
                    events.island.insert(static_cast<int>(place));
                }
            }
            events.after(1'000 + events.below(12'000), [&events] { events.island.clear(); });
        });
    }
}

void plan_workers_faults(Events& events, std::uint64_t faults_ms, std::vector<std::unique_ptr<Worker>>& workers) {
    for (std::uint64_t n = events.below(8); n > 0; --n) {
        const std::size_t which = events.below(workers.size());
        const std::uint64_t span = events.below(events.chance(20) ? 40'000 : 4'000);
        events.after(some_time(events, faults_ms), [&events, &workers, which, span] {
            workers[which]->is_down = true;
            events.after(span, [&workers, which] { workers[which]->is_down = false; });
        });
    }
    for (std::uint64_t n = events.chance(40) ? 1 + events.below(3) : 0; n > 0; --n) {
        const std::size_t which = events.below(workers.size());
        events.after(some_time(events, faults_ms), [&workers, which] { workers[which]->lose_disk(); });
    }
}

}  // namespace

std::uint64_t plan_faults(
    Events& events, std::vector<std::unique_ptr<Replica>>& replicas, std::vector<std::unique_ptr<Worker>>& workers
) {
    const std::uint64_t faults_ms = 50'000 + events.below(130'000);
    events.after(faults_ms, [&events] {
        events.weather = {};
        events.island.clear();
    });
    if (events.chance(20)) {
        return faults_ms;
    }
    plan_weather(events);
    for (std::uint64_t n = events.below(8); n > 0; --n) {
        const std::size_t which = events.below(replicas.size());
        const auto death = static_cast<Death>(events.below(3));
        events.after(some_time(events, faults_ms), [&replicas, which, death] { replicas[which]->die(death); });
    }
    plan_islands(events, faults_ms, replicas.size() + workers.size());
    plan_workers_faults(events, faults_ms, workers);
    return faults_ms;
}

}  // namespace assay::simulation
