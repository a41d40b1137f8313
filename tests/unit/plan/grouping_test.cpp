// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tests/fuzz/exchange_checks.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/plan/grouping.hpp>
#include <verifier/plan/live_bytes.hpp>

using namespace assay;
using namespace assay::plan;
using canonical::DType;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;
using fuzz::exchange_fault;

namespace {

constexpr GroupLimits kUnlimited{.message_bytes = 1U << 30U, .waiting_bytes = 1U << 30U, .peak_share = 16};
constexpr GroupLimits kNoRoom{.message_bytes = 1U << 30U, .waiting_bytes = 0, .peak_share = 1U << 30U};
constexpr std::uint32_t kSumRows = 64;

Input sums_of(std::uint32_t index) {
    return {.source = Source::kNode, .index = index, .dtype = DType::kI64, .shape = {kSumRows, 1}};
}

/// Sums whose depth two ranks divide, each followed by a node that reads it; or by a node that reads the one before.
struct Sums {
    program::Program program;
    Plan plan;
};
Sums sums(std::uint32_t count, bool is_chain) {
    Sums out;
    out.plan.layout = {.data = 2};
    const Placement both(2, whole({kSumRows, 1}));
    for (std::uint32_t i = 0; i < count; ++i) {
        const canonical::Shape operand{kSumRows, 128};
        out.program.state.push_back({.name = "x" + std::to_string(i), .type = {DType::kI32, operand}});
        out.plan.state.emplace_back(2, whole(operand));
        Input input{.source = Source::kState, .index = i, .dtype = DType::kI32, .shape = operand};
        Node sum{.op = Op::kRowSum, .dtype = DType::kI64, .shape = {kSumRows, 1}, .attributes = {}, .inputs = {input}};
        if (is_chain && i > 0) {
            sum.inputs.push_back(sums_of(2 * i - 1));
        }
        out.program.step.push_back(sum);
        NodePlan divided;
        divided.is_divided = true;
        divided.work = divided.held = both;
        divided.depth = {IndexSet(0, 64), IndexSet(64, 128)};
        divided.finished = {{IndexSet(0, 32), IndexSet(0, 1)}, {IndexSet(32, 64), IndexSet(0, 1)}};
        divided.needs.push_back(out.plan.state.back());
        divided.needs.resize(sum.inputs.size(), both);
        out.plan.nodes.push_back(divided);
        const Input read = sums_of(2 * i);
        out.program.step.push_back(
            {.op = Op::kAdd, .dtype = DType::kI64, .shape = {kSumRows, 1}, .attributes = {}, .inputs = {read, read}}
        );
        NodePlan reader;
        reader.work = reader.held = both;
        reader.needs = {both, both};
        out.plan.nodes.push_back(reader);
    }
    out.program.loss_node = 2 * count - 1;
    Node commit{.op = Op::kCommit, .dtype = DType::kI64, .shape = {}, .attributes = {}, .inputs = {}};
    for (std::uint32_t i = 0; i < count; ++i) {
        commit.inputs.push_back(sums_of(2 * i + 1));
    }
    out.program.step.push_back(commit);
    out.plan.nodes.emplace_back();
    return out;
}

/// Nodes of which each reads the one before, and a tensor of the state that two ranks have halves of. With `are_halved`
/// they keep halves of the nodes too.
Sums layers(std::uint32_t count, bool are_halved) {
    Sums out;
    out.plan.layout = {.data = 2};
    const canonical::Shape shape{kSumRows, 1};
    const Placement both(2, whole(shape));
    const Placement halves{{IndexSet(0, 32), IndexSet(0, 1)}, {IndexSet(32, 64), IndexSet(0, 1)}};
    for (std::uint32_t i = 0; i < count; ++i) {
        out.program.state.push_back({.name = "w" + std::to_string(i), .type = {DType::kI64, shape}});
        out.plan.state.push_back(halves);
        const Input weights{.source = Source::kState, .index = i, .dtype = DType::kI64, .shape = shape};
        const Input before = i == 0 ? weights : sums_of(i - 1);
        out.program.step.push_back(
            {.op = Op::kAdd, .dtype = DType::kI64, .shape = shape, .attributes = {}, .inputs = {before, weights}}
        );
        NodePlan layer;
        layer.work = both;
        layer.held = are_halved ? halves : both;
        layer.needs = {both, both};
        out.plan.nodes.push_back(layer);
    }
    out.program.loss_node = count - 1;
    Node commit{.op = Op::kCommit, .dtype = DType::kI64, .shape = {}, .attributes = {}, .inputs = {}};
    commit.inputs.assign(count, sums_of(count - 1));
    out.program.step.push_back(commit);
    out.plan.nodes.emplace_back();
    return out;
}

std::size_t grouped(Sums& of, const GroupLimits& limits) {
    group_exchanges(of.plan, of.program, limits);
    CHECK(exchange_fault(of.plan, of.program.step) == std::string());
    return of.plan.exchanges[0].size();
}

program::Program clipped_gpt() {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.dataset_rows = 64;
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kAdamW;
    optimizer.clip_norm = 1.0F;
    return program::build_gpt(model, optimizer);
}

/// The plan with each item's exchanges by themselves.
Plan at_once(Plan plan, const canonical::Graph& graph) {
    for (std::vector<Item>& order : plan.order) {
        order.clear();
        for (std::uint32_t node = 0; node + 1 < graph.size(); ++node) {
            order.push_back({node, Item::kWhole});
        }
    }
    exchange_at_once(plan, graph);
    return plan;
}

/// What each rank is sent of an item by each other one; of parts what they are summed up to.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<std::size_t, Block>>> told(
    const Plan& plan, const canonical::Graph& graph, const Sending& sending
) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<std::size_t, Block>>> out;
    const NodePlan& node = plan.nodes[sending.item.node];
    auto all = input_transfers(plan, graph, sending.item);
    if (sending.what != Sent::kInputs) {
        all.assign(1, output_transfers(plan, graph, sending.item));
    }
    for (std::size_t k = 0; k < all.size() && sending.what != Sent::kParts; ++k) {
        for (const Transfer& transfer : all[k]) {
            out[{transfer.from, transfer.to}].emplace_back(k, transfer.block);
        }
    }
    for (std::uint32_t from = 0; from < plan.layout.ranks() && sending.what == Sent::kParts; ++from) {
        for (std::uint32_t to = 0; to < plan.layout.ranks(); ++to) {
            if (from != to && node.work[from] == node.work[to] && !node.finished[to].is_empty()) {
                out[{from, to}].emplace_back(0, node.finished[to]);
            }
        }
    }
    return out;
}

}  // namespace

TEST_CASE("what nobody needs yet is exchanged together, first all parts and then all sums") {
    Sums apart = sums(10, false);
    CHECK(grouped(apart, kUnlimited) == 2);
    const std::vector<Exchange>& exchanges = apart.plan.exchanges[0];
    REQUIRE(exchanges[0].messages.size() == 1);
    CHECK(exchanges[0].after == 10);  // the sums alone are computed before
    CHECK(exchanges[0].messages[0].size() == 10);
    CHECK(exchanges[1].after == 10);
    CHECK(exchanges[1].messages[0].front() == Sending{{0, Item::kWhole}, Sent::kOutput});
    // Where each sum waits for the one before, nothing can be put off.
    Sums chain = sums(10, true);
    CHECK(grouped(chain, kUnlimited) == 20);
}

TEST_CASE("what nodes further on lack of the state is asked for ahead, as far as there is room") {
    const auto exchanges_at = [](const GroupLimits& limits) {
        Sums of = layers(10, false);
        return grouped(of, limits);
    };
    CHECK(exchanges_at(kUnlimited) == 1);
    CHECK(exchanges_at(kNoRoom) == 10);
    // Of each a rank receives 32 values of 8 bytes.
    const std::size_t some = exchanges_at({.message_bytes = 1U << 30U, .waiting_bytes = 800, .peak_share = 1U << 30U});
    CHECK(some > 2);
    CHECK(some < 10);
    CHECK(exchanges_at({.message_bytes = 1, .waiting_bytes = 1U << 30U, .peak_share = 16}) == 10);
    // What is computed cannot be asked for before it is there.
    Sums chain = layers(10, true);
    CHECK(grouped(chain, kUnlimited) == 10);
}

TEST_CASE("a message ends at its limit, and what waits has one") {
    const auto exchanges_at = [](const GroupLimits& limits) {
        Sums of = sums(10, false);
        return grouped(of, limits);
    };
    // A rank sends the other half of the rows: 32 sums of 8 bytes, since their operand is not quantised.
    CHECK(exchanges_at({.message_bytes = 5 * 256, .waiting_bytes = 1U << 30U, .peak_share = 16}) == 4);
    CHECK(exchanges_at({.message_bytes = 1, .waiting_bytes = 1U << 30U, .peak_share = 16}) == 20);
    CHECK(exchanges_at(kNoRoom) == 20);
    const std::size_t some =
        exchanges_at({.message_bytes = 1U << 30U, .waiting_bytes = 4'000, .peak_share = 1U << 30U});
    CHECK(some > 2);
    CHECK(some < 20);
}

TEST_CASE("whatever the layout, nobody reads or sends what is not there, and all ranks have the same exchanges") {
    const program::Program program = clipped_gpt();
    for (const auto& [name, ranks] :
         {std::pair{"dp", 1U},
          {"dp", 3U},
          {"zero1", 4U},
          {"zero2", 2U},
          {"zero3", 4U},
          {"tp", 2U},
          {"dp2tp2", 4U},
          {"pp", 2U},
          {"dp2pp2", 4U},
          {"zero3+dp2tp2pp2", 8U},
          {"dp:3,1", 2U},
          {"pp+1f1b4", 2U},
          {"dp2pp2+gpipe2", 4U}}) {
        const std::string layout = name;
        CAPTURE(layout);
        Plan plan = make_plan(program, *decode_layout(layout, ranks));
        CHECK(exchange_fault(plan, program.step) == std::string());
        for (const GroupLimits& limits : {kUnlimited, kNoRoom}) {
            if (plan.layout.stages == 1) {
                group_exchanges(plan, program, limits);
                CHECK(exchange_fault(plan, program.step) == std::string());
            }
        }
    }
}

TEST_CASE("a rank needs little more memory than by the order of the program") {
    const program::Program program = clipped_gpt();
    for (const auto& [name, ranks] : {std::pair{"dp", 2U}, {"zero1", 2U}, {"zero3", 2U}, {"tp", 2U}}) {
        const std::string layout = name;
        CAPTURE(layout);
        Plan plan = make_plan(program, *decode_layout(layout, ranks));
        const Plan before = at_once(plan, program.step);
        CHECK(plan.exchanges[0].size() * 2 < before.exchanges[0].size());
        for (const std::uint64_t waiting : {std::uint64_t{0}, std::uint64_t{100'000}, std::uint64_t{1'000'000}}) {
            group_exchanges(plan, program, {.message_bytes = 1U << 20U, .waiting_bytes = waiting, .peak_share = 1000});
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                const std::uint64_t least = step_bytes(before, program, rank);
                // Of one node a rank may have what it computes twice: as it is, and as it is sent.
                CHECK(step_bytes(plan, program, rank) <= (least + waiting) * 21 / 20);
            }
        }
    }
}

TEST_CASE("gradients of a small GPT cross in eight exchanges at most") {
    const program::Program program = clipped_gpt();
    for (const char* name : {"dp", "zero1", "zero2"}) {
        const Plan plan = make_plan(program, *decode_layout(name, 2));
        CHECK(plan.exchanges[0].size() <= 8);
        CHECK(at_once(plan, program.step).exchanges[0].size() > 70);
        for (const Exchange& exchange : plan.exchanges[0]) {
            CHECK(exchange.messages.size() == 1);
        }
    }
}

TEST_CASE("STM-3: what a rank tells several others alike is in messages that are alike") {
    const program::Program program = clipped_gpt();
    for (const char* name : {"dp", "zero3", "dp2tp2"}) {
        const Plan plan = make_plan(program, *decode_layout(name, 4));
        std::size_t shared = 0;
        for (const Exchange& exchange : plan.exchanges[0]) {
            for (const std::vector<Sending>& message : exchange.messages) {
                std::map<std::array<std::uint32_t, 3>, std::set<bool>> alike;
                for (const Sending& sending : message) {
                    auto each = told(plan, program.step, sending);
                    for (std::uint32_t from = 0; from < 4; ++from) {
                        for (std::uint32_t a = 0; a < 4; ++a) {
                            for (std::uint32_t b = 0; b < a; ++b) {
                                const bool is_same = each[{from, a}] == each[{from, b}];
                                alike[{from, a, b}].insert(is_same);
                                shared += is_same && !each[{from, a}].empty() ? 1U : 0U;
                            }
                        }
                    }
                }
                CHECK(std::all_of(alike.begin(), alike.end(), [](const auto& each) { return each.second.size() == 1; })
                );
            }
        }
        CHECK(shared > 0);
    }
}
