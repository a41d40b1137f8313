// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/engine/whole_outputs.hpp>
#include <tests/unit/engine/equality.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <verifier/engine/fused/executor.hpp>
#include <verifier/engine/fused/planning.hpp>
#include <verifier/engine/fused/thread_pool.hpp>
#include <verifier/engine/torch/runtime.hpp>

namespace assay::test {

using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;
using canonical::Tensor;
using engine::KernelChoice;
using engine::ProductChoice;
using engine::RecordChoice;

namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        out += kDigits[bytes[i] >> 4U];
        out += kDigits[bytes[i] & 15U];
    }
    return out;
}

// The first elements that differ: "[3, 17] 3f800000, not 3f800001".
std::string compare(const Tensor& expected, const Tensor& found) {
    if (expected == found) {
        return {};
    }
    if (expected.dtype != found.dtype || expected.shape != found.shape) {
        return "another type";
    }
    const std::size_t size = canonical::size_of(expected.dtype);
    std::size_t at = 0;
    while (std::memcmp(expected.data.data() + at * size, found.data.data() + at * size, size) == 0) {
        ++at;
    }
    const auto element = [&](const Tensor& tensor) { return hex(std::span(tensor.data).subspan(at * size, size)); };
    std::ostringstream out;
    out << '[' << at / expected.shape.cols << ", " << at % expected.shape.cols << "] " << element(found) << ", not "
        << element(expected);
    return out.str();
}

std::vector<std::uint32_t> nodes_where(const Graph& graph, bool (*is_wanted)(const Graph&, std::uint32_t)) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i + 1 < graph.size(); ++i) {
        if (is_wanted(graph, i)) {
            out.push_back(i);
        }
    }
    return out;
}

bool reads(const Node& reader, std::uint32_t node) {
    return std::any_of(reader.inputs.begin(), reader.inputs.end(), [node](const Input& input) {
        return input.source == Source::kNode && input.index == node;
    });
}

// A quantised operand that is kept would have to be kept as integers, which no product reads.
bool is_no_operand(const Graph& graph, std::uint32_t node) {
    const auto multiplies = [node](const Node& reader) { return reader.op == Op::kContract && reads(reader, node); };
    return graph[node].op != Op::kQuantise || std::none_of(graph.begin(), graph.end(), multiplies);
}

bool has_no_reader(const Graph& graph, std::uint32_t node) {
    return std::none_of(graph.begin(), graph.end(), [node](const Node& reader) { return reads(reader, node); });
}

void report(const Case& c, const Outcome& expected, const Outcome& found, const std::string& who) {
    const std::string different = difference(c, expected, found);
    INFO(who);
    CHECK(different == std::string{});
}

}  // namespace

std::string test_device() {
    const char* device = std::getenv("ASSAY_TEST_DEVICE");
    return device == nullptr ? "cpu" : device;
}

namespace {

// Before any case: CTest takes what this prints as the reason to skip the test.
const bool kHasDevice = [] {
    if (test_device() != "cpu" && !engine::has_cuda()) {
        std::puts("skipped: libtorch finds no CUDA device");
        std::exit(0);
    }
    return true;
}();

}  // namespace

std::vector<engine::EngineOptions> all_engines() {
    if (test_device() != "cpu") {
        std::vector<engine::EngineOptions> out;
        for (const auto kernels : {KernelChoice::kAutomatic, KernelChoice::kLibrary}) {
            for (const auto choice :
                 {ProductChoice::kAutomatic, ProductChoice::kFloats, ProductChoice::kDoubles,
                  ProductChoice::kResidues}) {
                out.push_back(
                    {.device = test_device(), .threads = 1, .portable = true, .products = choice, .kernels = kernels}
                );
            }
        }
        out.push_back({.device = test_device(), .threads = 1, .portable = true, .recording = RecordChoice::kNever});
        return out;
    }
    return {
        {.device = "cpu", .threads = 1, .portable = false},
        {.device = "cpu", .threads = 2, .portable = false},
        {.device = "cpu", .threads = 1, .portable = true},
        {.device = "cpu", .threads = 2, .portable = true},
        {.device = "cpu", .threads = 1, .portable = true, .products = ProductChoice::kResidues},
        {.device = "cpu",
         .threads = 1,
         .portable = true,
         .products = ProductChoice::kResidues,
         .kernels = KernelChoice::kOwn},
        {.device = "cpu",
         .threads = 1,
         .portable = true,
         .kernels = KernelChoice::kOwn,
         .recording = RecordChoice::kAlways}};
}

std::string name_of(const engine::EngineOptions& options) {
    static const std::map<ProductChoice, std::string> kNames{
        {ProductChoice::kAutomatic, ""},
        {ProductChoice::kMeasured, "measured"},
        {ProductChoice::kFloats, "floats"},
        {ProductChoice::kDoubles, "doubles"},
        {ProductChoice::kResidues, "residues"}};
    const std::string& choice = kNames.at(options.products);
    return options.device + (options.portable ? " portable, " : " host, ") + std::to_string(options.threads) +
           " threads" + (choice.empty() ? "" : ", " + choice) +
           (options.kernels == KernelChoice::kOwn       ? ", own kernels"
            : options.kernels == KernelChoice::kLibrary ? ", no kernels"
                                                        : "") +
           (options.recording == RecordChoice::kAlways  ? ", recorded"
            : options.recording == RecordChoice::kNever ? ", not recorded"
                                                        : "");
}

Outcome by_definition(const Case& c) {
    Outcome out;
    const auto keep = [&](std::uint32_t, const Tensor& output) {
        out.outputs.push_back(output);
        return true;
    };
    if (auto next = canonical::execute_graph(c.graph, c.context, *c.rows, c.state, keep)) {
        out.next = *std::move(next);
    }
    return out;
}

namespace {

Outcome observed(const Case& c, const engine::EngineOptions& options, const engine::Tamper& tamper) {
    Outcome out;
    out.outputs.resize(c.graph.size() - 1);
    engine::Engine engine(c.graph, c.rows, options);
    engine.set_state(c.state);
    WholeOutputs outputs(c.graph, [&](std::uint32_t node, const Tensor& output) {
        out.outputs[node] = output;
        return true;
    });
    if (engine.run_step(c.context, tamper, &outputs)) {
        out.next = engine.state();
    }
    CHECK(outputs.is_right());
    CHECK(std::none_of(out.outputs.begin(), out.outputs.end(), [](const Tensor& each) { return each.data.empty(); }));
    return out;
}

}  // namespace

Outcome by_nodes(const Case& c, const engine::EngineOptions& options) {
    return observed(c, options, [](std::uint64_t, std::uint32_t, Tensor&) {});
}

Outcome by_observer(const Case& c, const engine::EngineOptions& options) { return observed(c, options, {}); }

Outcome by_step(const Case& c, const engine::EngineOptions& options) {
    Outcome out;
    engine::Engine engine(c.graph, c.rows, options);
    engine.set_state(c.state);
    if (engine.run_step(c.context)) {
        out.next = engine.state();
    }
    return out;
}

std::optional<Outcome> by_plan(
    const Case& c, std::span<const std::uint32_t> kept, int threads, std::uint64_t recomputed_work
) {
    std::vector<canonical::TensorType> types;
    for (const Tensor& tensor : c.state) {
        types.push_back({tensor.dtype, tensor.shape});
    }
    const engine::fused::PlanInput input{.graph = c.graph, .state = types, .kept = kept, .threads = threads};
    auto plan = engine::fused::make_plan(input);
    if (!plan) {
        return std::nullopt;
    }
    if (recomputed_work != 0) {
        plan = engine::fused::make_recomputing_plan(input, *plan, recomputed_work);
        REQUIRE(plan.has_value());
    }
    engine::fused::ThreadPool pool(threads);
    engine::fused::Executor executor(*std::move(plan), c.rows, pool);
    for (std::size_t i = 0; i < c.state.size(); ++i) {
        executor.set_state(i, c.state[i]);
    }
    Outcome out;
    if (executor.run_step(c.context)) {
        std::vector<Tensor>& next = out.next.emplace();
        for (std::size_t i = 0; i < c.state.size(); ++i) {
            next.push_back(executor.state(i));
        }
    }
    out.outputs.resize(c.graph.size() - 1);
    for (const std::uint32_t node : kept) {
        out.outputs[node] = executor.kept(node);
    }
    return out;
}

std::string difference(const Case& c, const Outcome& expected, const Outcome& found) {
    for (std::size_t i = 0; i < std::min(expected.outputs.size(), found.outputs.size()); ++i) {
        if (found.outputs[i].data.empty()) {
            continue;
        }
        if (const std::string different = compare(expected.outputs[i], found.outputs[i]); !different.empty()) {
            const Node& node = c.graph[i];
            std::ostringstream out;
            out << canonical::to_string(node.op) << " (node " << i << ", [" << node.shape.rows << ", "
                << node.shape.cols << "]) at " << different;
            return out.str();
        }
    }
    if (expected.next.has_value() != found.next.has_value()) {
        return found.next ? "did not diverge" : "diverged";
    }
    for (std::size_t i = 0; expected.next && i < expected.next->size(); ++i) {
        if (const std::string different = compare((*expected.next)[i], (*found.next)[i]); !different.empty()) {
            return "state " + std::to_string(i) + " at " + different;
        }
    }
    return {};
}

void check_everywhere(const Case& c) { check_everywhere(c, by_definition(c)); }

bool check_everywhere(const Case& c, const Outcome& expected) {
    for (const auto& options : all_engines()) {
        report(c, expected, by_nodes(c, options), name_of(options));
        report(c, expected, by_observer(c, options), name_of(options) + ", observed");
        report(c, expected, by_step(c, options), name_of(options) + ", unwatched");
    }
    if (test_device() != "cpu") {
        return true;
    }
    bool is_planned = true;
    for (const int threads : {1, 2}) {
        const std::string count = std::to_string(threads) + " threads";
        for (const auto is_kept : {is_no_operand, has_no_reader}) {
            for (const std::uint64_t recomputed_work : {0U, 64U, ~0U}) {
                const auto found =
                    is_planned ? by_plan(c, nodes_where(c.graph, is_kept), threads, recomputed_work) : std::nullopt;
                is_planned = found.has_value();
                if (found) {
                    report(
                        c, expected, *found,
                        (is_kept == has_no_reader ? "fused, sinks kept, " : "fused, all kept, ") + count +
                            ", recomputed up to " + std::to_string(recomputed_work)
                    );
                }
            }
        }
    }
    return is_planned;
}

Input output_of(const Graph& graph, std::size_t node) {
    return {Source::kNode, static_cast<std::uint32_t>(node), graph[node].dtype, graph[node].shape};
}

Input state_of(const std::vector<Tensor>& state, std::size_t index) {
    return {Source::kState, static_cast<std::uint32_t>(index), state[index].dtype, state[index].shape};
}

Case make_case(Graph nodes, std::vector<Tensor> state) {
    if (state.empty()) {
        state.push_back(canonical::make_tensor(DType::kF32, {1, 1}));
    }
    Case out;
    out.rows = std::make_shared<canonical::test::CountingRows>(canonical::DatasetShape{1, 1});
    Node commit{Op::kCommit, DType::kF32, {}, {}, {}, {}};
    for (std::size_t i = 0; i < state.size(); ++i) {
        commit.inputs.push_back(state_of(state, i));
    }
    nodes.push_back(std::move(commit));
    out.graph = std::move(nodes);
    out.state = std::move(state);
    return out;
}

}  // namespace assay::test
