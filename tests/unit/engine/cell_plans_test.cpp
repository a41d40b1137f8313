// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/engine/cell_runs.hpp>

using namespace assay;
using namespace assay::test;
using canonical::Tensor;

namespace {

constexpr std::uint32_t kRanks = 8;

// 3, 5, 2, 4, 1 and again.
std::vector<std::uint32_t> unequal(std::uint32_t parts) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t part = 0; part < parts; ++part) {
        out.push_back(1 + (2 * part + 2) % 5);
    }
    return out;
}

// The same layouts, and each with unequal parts of what `shares` are for, if it has several.
std::vector<plan::Layout> with_unequal(
    const std::vector<plan::Layout>& layouts, std::uint32_t plan::Layout::*parts,
    std::vector<std::uint32_t> plan::Layout::*shares
) {
    std::vector<plan::Layout> out = layouts;
    for (plan::Layout layout : layouts) {
        if (layout.*parts > 1) {
            layout.*shares = unequal(layout.*parts);
            out.push_back(layout);
        }
    }
    return out;
}

// With each level of ZeRO, with unequal parts, and, where stages may take micro-batches, with three of them in either
// order.
std::vector<plan::Layout> variants_of(const plan::Layout& base) {
    std::vector<plan::Layout> out{base};
    for (std::uint8_t level = 1; level <= 3 && base.data > 1; ++level) {
        out.push_back(base);
        out.back().zero = static_cast<plan::Zero>(level);
    }
    out = with_unequal(out, &plan::Layout::data, &plan::Layout::shares);
    out = with_unequal(out, &plan::Layout::tensor, &plan::Layout::tensor_shares);
    out = with_unequal(out, &plan::Layout::stages, &plan::Layout::stage_shares);
    for (std::size_t i = out.size(); i > 0; --i) {
        plan::Layout layout = out[i - 1];
        layout.micro_batches = 3;
        for (const auto order : {plan::Pipeline::kOneForwardOneBackward, plan::Pipeline::kGPipe}) {
            layout.pipeline = order;
            if (layout.is_valid()) {
                out.push_back(layout);
            }
        }
    }
    return out;
}

// The layouts of at most kRanks ranks, but for other shares and other numbers of micro-batches.
std::vector<plan::Layout> all_layouts() {
    std::vector<plan::Layout> out;
    for (std::uint32_t data = 1; data <= kRanks; ++data) {
        for (std::uint32_t tensor = 1; data * tensor <= kRanks; ++tensor) {
            for (std::uint32_t stages = 1; data * tensor * stages <= kRanks; ++stages) {
                const auto variants = variants_of({.data = data, .tensor = tensor, .stages = stages});
                out.insert(out.end(), variants.begin(), variants.end());
            }
        }
    }
    return out;
}

}  // namespace

// The test command takes every 60th, others for each model; the long tier takes all of them for all models.
TEST_CASE("NUM-1: every plan of up to eight ranks has one machine's state" * doctest::test_suite("full")) {
    const std::vector<plan::Layout> layouts = all_layouts();
    CHECK(layouts.size() == 405);
    const std::size_t stride = std::getenv("ASSAY_ALL_PLANS") == nullptr ? 60 : 1;
    std::size_t first = 0;
    for (const SmallModel& model : clipped_models()) {
        std::vector<plan::Layout> chosen;
        for (std::size_t i = first % stride; i < layouts.size(); i += stride) {
            REQUIRE(layouts[i].is_valid());
            chosen.push_back(layouts[i]);
        }
        check_layouts(model, chosen);
        first += 17;
    }
}

TEST_CASE("NUM-1: a rank that joins, one that leaves and one that dies in mid-step change no bit of any model") {
    constexpr std::uint64_t kSteps = 6;
    for (const SmallModel& model : clipped_models()) {
        CAPTURE(model.name);
        std::vector<Tensor> state = model.initial();
        const std::vector<Tensor> expected = run_alone(model, state, kSteps);
        std::uint64_t step = 0;
        const auto go_on = [&](const char* name, std::uint32_t ranks, std::uint64_t steps) {
            const CellRun run = run_cell(model, *plan::decode_layout(name, ranks), state, step, steps);
            REQUIRE(run.fault == std::string{});
            state = run.state;
            step += steps;
        };
        go_on("dp:1,2", 2, 1);
        go_on("zero3", 3, 1);  // one joined
        go_on("tp", 2, 1);     // one left

        const plan::Layout layout = *plan::decode_layout("zero2", 3);
        const CellRun whole = run_cell(model, layout, state, step, 1);
        REQUIRE(whole.exchanges[1] > 2);
        const Death death{.rank = 1, .exchanges = whole.exchanges[1] * 3 / 2};  // in the middle of the second step
        const CellRun broken = run_cell(model, layout, state, step, 2, death);
        CHECK(broken.fault.find("rank 1 died") != std::string::npos);
        go_on("pp", 2, 2);  // the two that are left, from the state that was kept

        go_on("zero1+dp2tp2", 4, 1);
        REQUIRE(step == kSteps);
        CHECK(state == expected);
    }
}
