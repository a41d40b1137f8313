// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/dispute/player.hpp>
#include <core/dispute/work.hpp>
#include <tools/bench/bench.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/process_memory.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/worker/replay.hpp>

/// A false accusation against an honest solver, whose replay answers it: what every party to a dispute computes,
/// without the other party's share. The accuser's choices lead to a product in the middle of the second step.
namespace assay::bench {
namespace {

using nlohmann::json;

constexpr std::uint64_t kRows = 64;
constexpr std::uint32_t kSteps = 4;  // of the segment
constexpr std::uint64_t kSeed = 1;

struct Size {
    const char* name;
    NativeGptConfig config;
    bool tied_head = false;  ///< the head shares the embedding's weight, as GPT-2's does
};

std::vector<Size> sizes() {
    return {
        {"0.8", {}},
        {"10.8", {.layers = 6, .heads = 6, .width = 384, .context = 128, .batch = 2}},
        {"38", {.layers = 12, .heads = 8, .width = 512, .context = 64, .batch = 1}},
    };
}

Size gpt2_small() {
    return {
        .name = "124",
        .config = {.layers = 12, .heads = 12, .width = 768, .context = 128, .vocabulary = 50'257, .batch = 1},
        .tied_head = true};
}

Size size_named(const std::string& name) {
    for (const Size& size : sizes()) {
        if (name == size.name) {
            return size;
        }
    }
    if (name == gpt2_small().name) {
        return gpt2_small();
    }
    throw std::runtime_error("no model is called " + name + "; there are 0.8, 10.8, 38 and 124");
}

program::Program program_of(const Size& size, const std::string& profile) {
    return program_of(size.config, kRows, profile_named(profile), size.tied_head);
}

std::uint64_t outputs_bytes(const canonical::Graph& graph) {
    std::uint64_t total = 0;
    for (const canonical::Node& node : graph) {
        total += node.op == canonical::Op::kCommit ? 0 : node.shape.element_count() * canonical::size_of(node.dtype);
    }
    return total;
}

std::shared_ptr<const worker::TaskArtifacts> artifacts_of(const Size& size, program::Program program) {
    Bytes words(kRows * program.dataset.width * 4);
    const auto vocabulary = static_cast<std::uint64_t>(size.config.vocabulary);
    for (std::size_t i = 0; i < words.size() / 4; ++i) {
        const auto value = static_cast<std::int32_t>(i * 2654435761U / 128U % vocabulary);
        std::memcpy(words.data() + 4 * i, &value, sizeof value);
    }
    artifacts::Dataset dataset = artifacts::pack_rows(std::move(words), program.dataset.width, false);
    program.dataset = dataset.shape();
    auto out = std::make_shared<worker::TaskArtifacts>(worker::TaskArtifacts{
        .task = {},
        .spec = {},
        .program = std::move(program),
        .initial = {},
        .dataset = std::make_shared<const artifacts::Dataset>(std::move(dataset)),
        .dataset_tree = merkle::Tree(std::vector<Hash256>{Hash256{}})});
    out->dataset_tree = dispute::dataset_tree(*out->dataset);
    out->spec.seed = kSeed;
    out->spec.steps = kSteps;
    out->spec.checkpoint_interval = kSteps;
    out->spec.program = artifacts::commit_program(out->program);
    out->spec.dataset_root = out->dataset_tree.root();
    return out;
}

struct Trained {
    std::vector<canonical::Tensor> before;
    Hash256 before_root{};
    Hash256 after_root{};
    double step_s = 0.0;
};

Trained train(const std::shared_ptr<const worker::TaskArtifacts>& artifacts, const engine::EngineOptions& options) {
    Trained out;
    out.before = worker::run_segment(artifacts, 0, {}, options, nullptr).value().state;
    out.before_root = artifacts::state_root_of(out.before);
    worker::Runner runner(artifacts, false, options);
    runner.set_state(out.before);
    std::vector<double> seconds;
    for (std::uint64_t step = 0; step < kSteps; ++step) {
        const Stopwatch watch;
        runner.run(step);
        seconds.push_back(watch.seconds());
    }
    std::sort(seconds.begin(), seconds.end());
    out.step_s = seconds[seconds.size() / 2];
    out.after_root = artifacts::state_root_of(runner.state());
    return out;
}

/// A product near the middle of the graph.
std::uint32_t disputed_node(const canonical::Graph& graph) {
    for (auto node = static_cast<std::uint32_t>(graph.size() / 2); node < graph.size(); ++node) {
        if (graph[node].op == canonical::Op::kContract) {
            return node;
        }
    }
    throw std::runtime_error("the graph has no product in its second half");
}

dispute::Selection choose(
    const dispute::Claim& claim, const dispute::Position& position, const canonical::Graph& graph
) {
    const dispute::Split split = dispute::split(claim, position);
    const std::optional<std::uint32_t> first_node = dispute::first_node_of(position);
    if (!first_node) {
        return {.child = (split.count - 1) / 2, .node = {}};
    }
    const std::uint32_t node = disputed_node(graph);
    dispute::Selection selection{.child = (node - *first_node) >> split.child_height, .node = {}};
    if (split.child_height == 0) {
        std::vector<Hash256> leaves;
        for (const canonical::Node& each : graph) {
            leaves.push_back(dispute::node_hash(each));
        }
        selection.node = dispute::NodeOpening{.node = graph[node], .path = merkle::Tree(std::move(leaves)).path(node)};
    }
    return selection;
}

std::size_t bytes_of(contracts::Action action) {
    contracts::Tx tx;
    tx.body.action = std::move(action);
    return codec::encode(tx).size();
}

/// Plays the dispute; `moves` gets the seconds of each of the responder's moves.
json play(const dispute::Claim& claim, dispute::Replay& replay) {
    dispute::Position position = dispute::start_position(claim);
    std::vector<dispute::NodeReveal> reveals;
    std::size_t bytes = 0;
    json moves = json::array();
    double segment_s = 0.0;
    double answer_s = 0.0;
    const auto note = [&](const char* move, double seconds) {
        moves.push_back({{"move", move}, {"seconds", seconds}});
        (position.level() == dispute::Level::kSteps ? segment_s : answer_s) =
            std::max(position.level() == dispute::Level::kSteps ? segment_s : answer_s, seconds);
    };
    while (!position.is_at_proof()) {
        const Stopwatch watch;
        const contracts::RevealMove reveal{
            .dispute = {}, .round = position.rounds, .children = dispute::make_reveal(claim, position, replay)};
        note(to_string(position.level()), watch.seconds());
        bytes += bytes_of(reveal);
        if (const auto first_node = dispute::first_node_of(position)) {
            reveals.push_back({
                .first_node = *first_node,
                .child_height = dispute::split(claim, position).child_height,
                .children = reveal.children,
            });
        }
        position = dispute::reveal(claim, position, reveal.children).value();
        const contracts::SelectMove select{
            .dispute = {}, .round = position.rounds, .selection = choose(claim, position, replay.graph())};
        bytes += bytes_of(select);
        position = dispute::select(claim, position, select.selection).value();
    }
    const Stopwatch watch;
    const dispute::Proof proof = dispute::make_proof(claim, position, replay, reveals);
    note("proof", watch.seconds());
    bytes += bytes_of(contracts::ProveMove{.dispute = {}, .proof = proof});
    const Stopwatch judging;
    const auto ruling = dispute::judge(claim, position, proof);
    const double judge_us = judging.seconds() * 1e6;
    if (!ruling || *ruling != dispute::Ruling::kClaimHolds) {
        throw std::runtime_error("an honest claim was not upheld");
    }
    return {{"answer_s", answer_s},   {"segment_s", segment_s},    {"moves", std::move(moves)},
            {"onchain_bytes", bytes}, {"rounds", position.rounds}, {"referee_us", judge_us}};
}

/// Bytes of a large tensor that are hashed in a second, on all cores: the speed of SHA-256.
double hashed_bytes_per_s() {
    const canonical::Tensor tensor = canonical::make_tensor(canonical::DType::kF32, {.rows = 8'192, .cols = 8'192});
    const Stopwatch watch;
    artifacts::commit_tensor(tensor);
    return static_cast<double>(tensor.data.size()) / watch.seconds();
}

/// One model, in this process.
json measure(const Size& size, const DisputeOptions& options) {
    const auto artifacts = artifacts_of(size, program_of(size, options.profile));
    const long before = peak_kib();
    const engine::EngineOptions engine{.threads = options.threads};
    Trained trained = train(artifacts, engine);
    json out = {{"step_s", trained.step_s}};
    if (!options.only_trains) {
        const dispute::Claim claim{
            .program = artifacts->spec.program,
            .dataset_root = artifacts->spec.dataset_root,
            .seed = kSeed,
            .first_step = 0,
            .step_count = kSteps,
            .before = trained.before_root,
            .after = trained.after_root};
        worker::EngineReplay replay(artifacts, claim, std::move(trained.before), engine, {});
        out.update(play(claim, replay));
    }
    out["peak_mib"] = static_cast<double>(peak_kib() - before) / 1024.0;
    out["hashed_bytes_per_s"] = options.only_trains ? 0.0 : hashed_bytes_per_s();
    return out;
}

json measure_apart(const Size& size, const DisputeOptions& options) {
    const std::string arguments = "dispute --threads " + std::to_string(options.threads) + " --profile " +
                                  options.profile + " --only " + size.name;
    const json trains = json::parse(output_of(arguments + " --only-trains"));
    json out = json::parse(output_of(arguments));
    const program::Program program = program_of(size, options.profile);
    out["model"] = size.name;
    out["parameters"] = parameters_of(program);
    out["outputs_bytes"] = outputs_bytes(program.step);
    out["work"] = dispute::work_of(program.step);
    // The goal: a move takes two steps at most, and the hashing of one step's outputs.
    const double hashing_s =
        static_cast<double>(outputs_bytes(program.step)) / out.at("hashed_bytes_per_s").get<double>();
    out["goal_s"] = 2.0 * out.at("step_s").get<double>() + hashing_s;
    out["answer_steps"] = out.at("answer_s").get<double>() / out.at("step_s").get<double>();
    out["training_mib"] = trains.at("peak_mib");
    out["memory_over_training"] = out.at("peak_mib").get<double>() / trains.at("peak_mib").get<double>();
    return out;
}

/// What GPT-2 small takes by the speeds of the largest model that was measured.
json extrapolated(const json& largest, const std::string& profile) {
    const program::Program program = program_of(gpt2_small(), profile);
    const double steps = static_cast<double>(dispute::work_of(program.step)) / largest.at("work").get<double>();
    const double outputs = static_cast<double>(outputs_bytes(program.step)) / largest.at("outputs_bytes").get<double>();
    const double step_s = largest.at("step_s").get<double>();
    const double hashing_s = std::max(0.0, largest.at("answer_s").get<double>() - step_s);
    return {
        {"model", gpt2_small().name},
        {"parameters", parameters_of(program)},
        {"outputs_bytes", outputs_bytes(program.step)},
        {"step_s", steps * step_s},
        {"answer_s", steps * step_s + outputs * hashing_s},
        {"answer_steps", 1.0 + outputs * hashing_s / (steps * step_s)},
        {"formula",
         "answer_s = (work / work of the largest measured) * its step_s + (outputs_bytes / its outputs_bytes) * (its "
         "answer_s - its step_s)"},
        {"is_extrapolated", true}};
}

}  // namespace

json run_dispute_bench(const DisputeOptions& options) {
    if (!options.only.empty()) {
        return measure(size_named(options.only), options);
    }
    json out = json::array();
    const auto add = [&](const Size& size) {
        std::fprintf(stderr, "dispute: %s\n", size.name);
        out.push_back(measure_apart(size, options));
    };
    for (const Size& size : sizes()) {
        add(size);
    }
    json estimate = extrapolated(out.back(), options.profile);
    if (options.full) {
        add(gpt2_small());
        for (const char* key : {"step_s", "answer_s"}) {
            estimate["measured_over_this"][key] = out.back().at(key).get<double>() / estimate.at(key).get<double>();
        }
    }
    out.push_back(estimate);
    return out;
}

}  // namespace assay::bench
