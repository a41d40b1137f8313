// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <verifier/plan/layout.hpp>
#include <verifier/schedule/arrange.hpp>
#include <verifier/schedule/network.hpp>
#include <verifier/schedule/overhead.hpp>
#include <verifier/schedule/profile.hpp>

namespace assay::schedule {

struct Machine {
    std::string name;
    double multiply_adds_per_s = 0.0;  ///< of the canonical engine; more than 0
    double memory_bytes = 0.0;
    Overhead overhead{};  ///< of what it sends and receives
    std::string host{};   ///< machines with one name here share its cores; empty: it has its own
    double cores = 0.0;   ///< of the host; with a name, more than 0
};

/// The network as formulas see it: links carry no more than the processors at their ends do, which send and receive at
/// once, and no more than their part of what all share.
Network as_processed(const Network& network, const std::vector<Machine>& machines);

/// The kinds of plans that are compared.
enum class Kind : std::uint8_t {
    kOne = 0,  ///< one machine alone
    kData = 1,
    kZero1 = 2,
    kZero2 = 3,
    kZero3 = 4,
    kPipeline = 5,
    kDataPipeline = 6,
    kTensor = 7,  ///< inside sites, alone or with data parallelism and stages
    kTurns = 8,   ///< each machine trains by itself, and all average every H steps: another program
};
inline constexpr std::uint32_t kKinds = 9;

/// What a step waits for most.
enum class Wait : std::uint8_t { kCompute = 0, kExchange = 1, kHandover = 2, kTensor = 3 };

/// A way to divide a step, and what it is predicted to take.
struct Prediction {
    Kind kind = Kind::kOne;
    /// With the shares of the batch in rows, and of stages and columns by speed, if they are not alike.
    plan::Layout layout;
    bool has_given_shares = false;          ///< of stages or columns: those that were asked for
    std::vector<std::uint32_t> machines{};  ///< of each rank; of each local replica
    double compute_s = 0.0;                 ///< with the pipeline's bubble
    double exchange_s = 0.0;                ///< of gradients, or of parameters between local replicas, for one step
    double handover_s = 0.0;                ///< between stages
    double tensor_s = 0.0;                  ///< inside tensor-parallel groups
    double memory_bytes = 0.0;              ///< of the machine that needs most
    Wait wait = Wait::kCompute;
    std::vector<std::uint32_t> bottleneck{};  ///< the machine, or the two machines of the link, that `wait` is about

    std::optional<double> timed_s{};  ///< of a step by the plan itself (time_plans), in which the others overlap

    double total_s() const { return timed_s.value_or(compute_s + exchange_s + handover_s + tensor_s); }
    bool can_start() const { return kind != Kind::kTurns; }
};

struct ChoiceOptions {
    std::uint32_t micro_batches = 8;                     ///< of a pipeline, at most
    std::uint32_t turn_steps = 100;                      ///< that a local replica trains on its own
    std::uint32_t fragments = 1;                         ///< of which it sends one at a time
    double sent_bits = 8.0;                              ///< that it sends of each parameter after them
    Link site{.delay_s = 0.001, .bytes_per_s = 1.25e9};  ///< machines of a site have links at least as good
    std::uint64_t seed = 1;
};

/// Why nothing fits: the plan that needs the least memory.
struct Shortage {
    plan::Layout layout;
    double needed_bytes = 0.0;   ///< of each machine
    double largest_bytes = 0.0;  ///< what the last of as many machines has, the largest first
};

struct Choice {
    std::vector<Prediction> best{};        ///< of each kind that fits, in the order of Kind
    std::optional<std::size_t> fastest{};  ///< index in `best` among those that can be started; set unless it is empty
    std::optional<Shortage> shortage{};    ///< set if nothing fits
};

/// Compares the kinds of plans for machines with these links. There are 1 to plan::kMaxRanks machines, as many as the
/// network has.
Choice choose(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& network,
    const ChoiceOptions& options
);

/// What crosses between the machines of a stage and between stages.
Crossing crossing_of(const StepProfile& profile, const plan::Layout& layout);
/// The same of `count` local replicas, for one step of `turn_steps`: after those each sends all others what it sends of
/// one fragment.
Crossing crossing_of_turns(const StepProfile& profile, const ChoiceOptions& options, std::uint32_t count);

/// The share of a pipeline's time in which a stage has nothing to do.
double bubble(std::uint32_t stages, std::uint32_t micro_batches);

/// The batch's rows divided in proportion to speeds, by largest remainders.
std::vector<std::uint32_t> divide_rows(std::uint32_t rows, const std::vector<double>& speeds);

/// Sets of `size` machines with links between all of them that are at least as good as `site`.
std::vector<std::vector<std::uint32_t>> tensor_groups(
    const std::vector<Machine>& machines, const Network& network, const Link& site, std::uint32_t size
);

/// Predicts one plan over a network as_processed(). `arrangement` says which group has which stage and replica; a group
/// has `layout.tensor` machines. What the layout gives no shares is divided by speed, if machines have the memory and
/// the slowest of them gains a tenth; shares that are alike leave it so.
Prediction predict(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& network,
    const ChoiceOptions& options, plan::Layout layout, const std::vector<std::vector<std::uint32_t>>& groups,
    const Arrangement& arrangement
);
/// Predicts this plan alone, with the machines as its ranks in their order, of which there are as many. Shares and
/// micro-batches are the layout's, if it has any.
Prediction predict_given(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& links, ChoiceOptions options,
    const plan::Layout& layout
);
/// Predicts local replicas on these machines over a network as_processed(): those of the program, if it has any, or its
/// batch divided among them.
Prediction predict_turns(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& network,
    const ChoiceOptions& options, std::vector<std::uint32_t> replicas
);

}  // namespace assay::schedule
