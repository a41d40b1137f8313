// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include <core/crypto/hash.hpp>
#include <tools/spec/files.hpp>

namespace assay::spec {
namespace {

constexpr std::size_t kShown = 2;  ///< cases whose bytes are published

Json cases_json(Cases& cases, std::size_t limit) {
    Json out;
    out["first"] = Json::array();
    std::vector<crypto::Sha256> hashes(std::size(kCaseCounts));
    for (std::size_t i = 0; i < limit; ++i) {
        const Bytes bytes = cases.next();
        if (i < kShown) {
            out["first"].push_back(to_hex(bytes));
        }
        for (std::size_t k = 0; k < hashes.size(); ++k) {
            if (i < kCaseCounts[k]) {
                hashes[k].update(bytes);
            }
        }
    }
    for (std::size_t k = 0; k < hashes.size() && kCaseCounts[k] <= limit; ++k) {
        out[std::to_string(kCaseCounts[k])] = to_hex(hashes[k].finish().view());
    }
    return out;
}

}  // namespace

Json conformance_json(const Schema& schema, std::size_t limit) {
    std::vector<std::string> names;
    for (const auto& [name, factory] : schema.cases) {
        names.push_back(name);
    }
    std::vector<Json> made(names.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < names.size(); i = next++) {
            const auto cases = schema.cases.at(names[i])();
            made[i] = cases_json(*cases, limit);
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
        threads.emplace_back(work);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    Json out = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i) {
        out[names[i]] = std::move(made[i]);
    }
    return out;
}

}  // namespace assay::spec
