// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/schedule/scenarios.hpp>

#include <array>
#include <cstdint>

namespace assay::schedule {
namespace {

constexpr std::uint32_t kMachines = 64;

Link link(double delay_ms, double gigabits) { return {delay_ms / 1e3, gigabits * 1e9 / 8.0}; }

// Machines of one site are consecutive. `same` is the link inside a site, `between` that of two sites.
template <class Between>
Network sites(std::uint32_t machines_each, const Link& same, const Between& between) {
    Network out(kMachines, same);
    for (std::uint32_t a = 0; a < kMachines; ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            if (a / machines_each != b / machines_each) {
                out.set(a, b, between(b / machines_each, a / machines_each));
            }
        }
    }
    return out;
}

// 8 instances of 4, and 32 machines alone.
Network spot() {
    Network out(kMachines, link(0.0, 1.25));
    for (std::uint32_t a = 0; a < 32; ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            if (a / 4 == b / 4) {
                out.set(a, b, link(0.0, 100.0));
            }
        }
    }
    return out;
}

struct Far {
    double delay_ms;
    double gigabits;
};
// The upper triangle without the diagonal, row by row.
template <std::size_t N>
Link far_link(const std::array<Far, N>& table, std::uint32_t count, std::uint32_t a, std::uint32_t b) {
    const Far& far = table[a * count - a * (a + 1) / 2 + (b - a - 1)];
    return link(far.delay_ms, far.gigabits);
}

// Virginia, Oregon, California, Ohio.
constexpr std::array<Far, 6> kRegions = {{{67, 1.15}, {59, 1.05}, {11, 1.12}, {12, 1.25}, {49, 1.10}, {52, 1.02}}};

// Oregon, Virginia, Ohio, Tokyo, Seoul, London, Frankfurt, Ireland.
constexpr std::array<Far, 28> kCities = {{
    {67, 0.79},   {49, 1.10},   {96, 0.523},  {124, 0.46},  {136, 0.42}, {143, 0.404}, {124, 0.482},
    {11, 1.12},   {143, 0.524}, {172, 0.500}, {76, 1.16},   {90, 1.02},  {67, 1.05},   {130, 0.694},
    {159, 0.529}, {86, 1.05},   {99, 0.799},  {77, 1.14},   {34, 1.10},  {210, 0.366}, {223, 0.36},
    {199, 0.465}, {238, 0.342}, {235, 0.358}, {228, 0.335}, {14, 1.14},  {12, 1.09},   {24, 1.08},
}};

}  // namespace

Scenario scenario(int number) {
    switch (number) {
        case 0:
            return {"data centre", sites(8, link(0.0, 100.0), [](auto, auto) { return link(0.0, 3.125); })};
        case 1:
            return {"spot instances", spot()};
        case 2:
            return {"two universities", sites(32, link(1.0, 5.0), [](auto, auto) { return link(11.0, 1.12); })};
        case 3:
            return {
                "four regions", sites(16, link(5.0, 2.0), [](auto a, auto b) { return far_link(kRegions, 4, a, b); })};
        default:
            return {
                "eight cities", sites(8, link(5.0, 2.0), [](auto a, auto b) { return far_link(kCities, 8, a, b); })};
    }
}

Crossing scenario_crossing() {
    // 1.3 G parameters of 4 bytes, of which a stage has an eighth.
    constexpr double kGradients = 1.3e9 * 4.0 / 8.0;
    // 2,024 x 2,048 values of 2 bytes for each of an eighth of 10^6 tokens in rows of 2,048. The authors divide by 2^30
    // and take the result for 10^9 bytes.
    constexpr double kActivations = 2024.0 * 2048.0 * 2.0 * (1.25e5 / 2048.0) / (1024.0 * 1024.0 * 1024.0) * 1e9;
    return {
        .exchange_rounds = 2.0,
        .exchange_bytes = 2.0 * kGradients,
        .handover_rounds = 2.0,
        .handover_bytes = 2.0 * kActivations,
        .delays = Delays::kAdd};
}

}  // namespace assay::schedule
