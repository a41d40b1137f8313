// SPDX-License-Identifier: Apache-2.0
// Hash tables that the node has or could have (ADR 50): node::SlotTable (slots of the last state) beside Boost's and
// the standard library's, and Boost's for hashes of transactions beside the standard library's.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <nlohmann/json.hpp>

#include <consensus/seeded_hash.hpp>
#include <node/state/slot_table.hpp>
#include <tools/bench/commands.hpp>
#include <tools/bench/measure.hpp>

namespace assay::bench {
namespace {

using consensus::SeededHash;
using nlohmann::json;

constexpr std::size_t kKeyBytes = 34;    ///< of an account's slot
constexpr std::size_t kValueBytes = 24;  ///< likewise
constexpr double kNanoseconds = 1e9;

struct TablesOptions {
    std::size_t entries = 100'000;
    int rounds = 7;
};

std::vector<Hash256> make_digests(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Hash256> out(count);
    for (Hash256& digest : out) {
        for (std::uint8_t& byte : digest.data) {
            byte = static_cast<std::uint8_t>(random());
        }
    }
    return out;
}

std::vector<Bytes> make_keys(const std::vector<Hash256>& digests) {
    std::vector<Bytes> out;
    for (const Hash256& digest : digests) {
        Bytes key(kKeyBytes - digest.data.size(), 1);
        append(key, digest.view());
        out.push_back(std::move(key));
    }
    return out;
}

/// One kind of table: each function returns how many of the operations found something, so that none is left out.
struct Subject {
    std::string name;
    std::function<std::size_t()> fill;
    std::function<std::size_t()> hit;
    std::function<std::size_t()> miss;
};

template <class Table, class Insert, class Contains, class Keys>
Subject subject(std::string name, const Keys& keys, const Keys& others, Insert insert, Contains contains) {
    const auto table = std::make_shared<std::unique_ptr<Table>>();
    const auto count = [table, contains](const Keys& wanted) {
        std::size_t found = 0;
        for (const auto& key : wanted) {
            found += contains(**table, key) ? 1U : 0U;
        }
        return found;
    };
    return {
        std::move(name),
        [table, insert, &keys] {
            *table = std::make_unique<Table>();
            for (const auto& key : keys) {
                insert(**table, key);
            }
            return keys.size();
        },
        [count, &keys] { return count(keys); }, [count, &others] { return count(others); }};
}

/// Nanoseconds of an operation for each subject, and how much the first one takes of the time of each other.
json compare(const std::vector<Subject>& subjects, const TablesOptions& options) {
    struct Operation {
        const char* name;
        std::function<std::size_t()> Subject::*run;
        std::size_t expected;
    };
    const Operation operations[] = {
        {"fill", &Subject::fill, options.entries},
        {"hit", &Subject::hit, options.entries},
        {"miss", &Subject::miss, 0}};
    std::map<std::string, std::map<std::string, std::vector<double>>> times;
    for (int round = 0; round < options.rounds; ++round) {
        for (const Operation& operation : operations) {
            for (const Subject& each : subjects) {
                const Stopwatch watch;
                const std::size_t found = (each.*operation.run)();
                times[operation.name][each.name].push_back(
                    watch.seconds() * kNanoseconds / static_cast<double>(options.entries)
                );
                if (found != operation.expected) {
                    throw std::runtime_error(each.name + " found " + std::to_string(found) + " entries");
                }
            }
        }
    }
    json out;
    for (const auto& [operation, by_name] : times) {
        const double first = spread(by_name.at(subjects.front().name)).at("median");
        for (const auto& [name, values] : by_name) {
            json figures = {{"ns", spread(values)}};
            figures["ratio"] = first / figures["ns"]["median"].get<double>();
            out[operation][name] = std::move(figures);
        }
    }
    return out;
}

template <class Set>
Subject digest_set(std::string name, const std::vector<Hash256>& keys, const std::vector<Hash256>& others) {
    return subject<Set>(
        std::move(name), keys, others, [](Set& set, const Hash256& key) { set.insert(key); },
        [](const Set& set, const Hash256& key) { return set.contains(key); }
    );
}

template <class Map>
Subject slot_map(std::string name, const std::vector<Bytes>& keys, const std::vector<Bytes>& others) {
    return subject<Map>(
        std::move(name), keys, others,
        [](Map& map, const Bytes& key) { map.insert_or_assign(key, Bytes(kValueBytes, 7)); },
        [](const Map& map, const Bytes& key) {
            const auto it = map.find(key);
            // A reader gets the value, as from SlotTable.
            return it != map.end() && std::optional<Bytes>(it->second)->size() == kValueBytes;
        }
    );
}

template <class Map>
Subject pointer_map(std::string name, const std::vector<Hash256>& keys, const std::vector<Hash256>& others) {
    return subject<Map>(
        std::move(name), keys, others,
        [](Map& map, const Hash256& key) { map.insert_or_assign(key, std::make_shared<int>(1)); },
        [](const Map& map, const Hash256& key) { return map.find(key) != map.end(); }
    );
}

json run_tables_bench(const TablesOptions& options) {
    const std::vector<Hash256> digests = make_digests(options.entries, 1);
    const std::vector<Hash256> other_digests = make_digests(options.entries, 2);
    const std::vector<Bytes> keys = make_keys(digests);
    const std::vector<Bytes> other_keys = make_keys(other_digests);
    using Slots = std::optional<Bytes>;
    using Pointer = std::shared_ptr<int>;
    json out = {{"bench", "tables"}, {"entries", options.entries}};
    out["seen transactions"] = compare(
        {digest_set<boost::unordered_flat_set<Hash256, SeededHash>>("unordered_flat_set", digests, other_digests),
         digest_set<std::unordered_set<Hash256, SeededHash>>("std::unordered_set", digests, other_digests)},
        options
    );
    out["slots of the last state"] = compare(
        {subject<node::SlotTable>(
             "SlotTable", keys, other_keys,
             [](node::SlotTable& table, const Bytes& key) { table.put(key, Bytes(kValueBytes, 7)); },
             [](const node::SlotTable& table, const Bytes& key) { return table.find(key).has_value(); }
         ),
         slot_map<boost::unordered_flat_map<Bytes, Slots, SeededHash>>("unordered_flat_map", keys, other_keys),
         slot_map<std::unordered_map<Bytes, Slots, SeededHash>>("std::unordered_map", keys, other_keys)},
        options
    );
    out["verified transactions"] = compare(
        {pointer_map<boost::unordered_flat_map<Hash256, Pointer, SeededHash>>(
             "unordered_flat_map", digests, other_digests
         ),
         pointer_map<std::unordered_map<Hash256, Pointer, SeededHash>>("std::unordered_map", digests, other_digests)},
        options
    );
    return out;
}

}  // namespace

void add_tables_command(Commands& commands) {
    const auto held = std::make_shared<TablesOptions>();
    CLI::App* const tables =
        commands.add("tables", "The node's tables beside those of Boost and of the library", [held] {
            return run_tables_bench(*held).dump(2);
        });
    tables->add_option("--entries", held->entries, "In a table")->capture_default_str()->check(CLI::PositiveNumber);
    tables->add_option("--rounds", held->rounds, "Of each operation")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
}

}  // namespace assay::bench
