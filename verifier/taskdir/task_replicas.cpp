// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_replicas.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace assay::taskdir {
namespace {

constexpr std::uint32_t kAnyNumber = 0xffffffffU;
constexpr std::uint32_t kStreamedFragments = 4;

const char* explain(program::LocalError error) {
    switch (error) {
        case program::LocalError::kCount:
            return "a round, which is count times turn_steps, would have more than 2^24 steps";
        case program::LocalError::kRate:
        case program::LocalError::kBlock:
        case program::LocalError::kBits:
            return "a number is out of range";
        case program::LocalError::kState:
            return "the model trains nothing, or its state has integers that change";
        case program::LocalError::kLimits:
            return "the program would have too many state tensors or nodes: take fewer replicas";
        case program::LocalError::kNames:
            return "the model has tensors with names that local replicas need: begin none with accumulated.";
        case program::LocalError::kFragments:
            return "there are fewer trained parameters than fragments, or more than 2^24 steps until all are exchanged";
    }
    return "";
}

}  // namespace

Exchange read_exchange(const TomlSection& section) {
    const std::string name =
        section.choice_or("exchange", {"dense", "dgc", "diloco", "sparseloco", "streaming"}, "dense");
    if (name == "dgc") {
        return Exchange::kDgc;
    }
    if (name == "diloco") {
        return Exchange::kDiloco;
    }
    if (name == "streaming") {
        return Exchange::kStreaming;
    }
    return name == "sparseloco" ? Exchange::kSparseLoco : Exchange::kDense;
}

program::Replicas read_replicas(
    const TomlSection& section, Exchange exchange, const Model& model, const program::OptimizerConfig& optimizer
) {
    program::Replicas replicas;
    section.allow({"count", "exchange", "block", "dense_below"});
    replicas.count = section.number("count", 1U, program::kMaxReplicas);
    const bool is_dgc = exchange == Exchange::kDgc;
    for (const char* const key : {"block", "dense_below"}) {
        if (!is_dgc && section.has(key)) {
            section.fail(key, "is for the exchange dgc");
        }
    }
    section.read("block", 1U, canonical::kMaxDimension, replicas.block);
    section.read("dense_below", 0U, kAnyNumber, replicas.dense_below);
    using enum program::OptimizerKind;
    if (is_dgc && optimizer.kind != kSgd && optimizer.kind != kSgdMomentum) {
        section.fail(
            "exchange", "dgc is for the optimizer sgd without nesterov: each replica keeps a momentum of its own"
        );
    } else if (is_dgc && optimizer.accumulation > 1) {
        section.fail("exchange", "dgc accumulates gradients itself: leave [optimizer] accumulation out");
    }
    replicas.exchange = is_dgc ? program::ExchangeKind::kDgc : program::ExchangeKind::kDense;
    const std::uint32_t batch_size = std::visit([](const auto& config) { return config.batch_size; }, model);
    if (std::holds_alternative<OnnxModel>(model)) {
        section.fail("count", "replicas are for the built-in model families, not for ONNX files");
    } else if (batch_size % replicas.count != 0) {
        section.fail("count", "must divide [model] batch_size, which is " + std::to_string(batch_size));
    }
    return replicas;
}

program::LocalReplicas read_local_replicas(
    const TomlSection& section, Exchange exchange, const contracts::TaskSpec& spec
) {
    program::LocalReplicas local;
    section.allow(
        {"count", "exchange", "turn_steps", "outer_rate", "outer_momentum", "sent", "block", "kept_share", "fragments",
         "mixing"}
    );
    const bool is_streaming = exchange == Exchange::kStreaming;
    for (const char* const key : {"fragments", "mixing"}) {
        if (!is_streaming && section.has(key)) {
            section.fail(key, "is for the exchange streaming");
        }
    }
    if (is_streaming) {
        local.fragments = kStreamedFragments;
        section.read("fragments", 2U, kAnyNumber, local.fragments);
    }
    section.read("mixing", {.min = 0.0, .max = 1.0, .below = true}, local.mixing);
    const bool is_sparse = exchange == Exchange::kSparseLoco;
    if (is_sparse) {
        local.sent = program::SentForm::kSparse;
        local.outer_rate = 1.0F;
        local.outer_momentum = 0.0F;
    }
    for (const char* const key : {"block", "kept_share"}) {
        if (!is_sparse && section.has(key)) {
            section.fail(key, "is for the exchange sparseloco");
        }
    }
    if (is_sparse && section.has("sent")) {
        section.fail("sent", "is for the exchanges diloco and streaming");
    } else if (!is_sparse) {
        const std::string sent = section.choice_or("sent", {"int8", "int4", "f32"}, "int8");
        local.sent = sent == "f32" ? program::SentForm::kWhole : program::SentForm::kIntegers;
        local.bits = sent == "int4" ? 4 : 8;
    }
    local.count = section.number("count", 2U, program::kMaxReplicas);
    local.turn_steps = std::max(spec.checkpoint_interval, 1U);
    section.read("turn_steps", 1U, kAnyNumber, local.turn_steps);
    section.read("outer_rate", {.min = 0.0}, local.outer_rate);
    section.read("outer_momentum", {.min = 0.0, .max = 1.0, .below = true}, local.outer_momentum);
    section.read("block", 1U, canonical::kMaxDimension, local.block);
    section.read("kept_share", {.min = 0.0, .max = 1.0, .below = true}, local.kept_share);
    return local;
}

bool add_local_replicas(program::Program& program, const program::LocalReplicas& local, Findings& findings) {
    auto made = program::with_local_replicas(program, local);
    if (!made) {
        findings.error("replicas", explain(made.error()));
        return false;
    }
    program = *std::move(made);
    return true;
}

void check_rounds(const program::LocalReplicas& local, const contracts::TaskSpec& spec, Findings& findings) {
    const std::uint64_t round = std::uint64_t{local.count} * local.turn_steps;
    if (spec.steps % round != 0) {
        findings.warning(
            "steps", "end in the middle of a round, which has " + std::to_string(round) +
                         " steps: what replicas learn in the last " + std::to_string(spec.steps % round) + " is lost"
        );
    }
    if (spec.steps / round % local.fragments != 0) {
        findings.warning(
            "steps", "are no multiple of those of " + std::to_string(local.fragments) +
                         " rounds, in which each fragment is exchanged once: some are exchanged less often than others"
        );
    }
    if (spec.checkpoint_interval % local.turn_steps != 0) {
        findings.warning(
            "checkpoint_interval",
            "is no multiple of [replicas] turn_steps, " + std::to_string(local.turn_steps) +
                ": machines that train replicas at the same time have no state in the middle of a turn"
        );
    }
}

}  // namespace assay::taskdir
