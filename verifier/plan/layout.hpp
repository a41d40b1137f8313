// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <verifier/plan/index_set.hpp>

namespace assay::plan {

/// What of the optimizer's work data-parallel ranks divide (ZeRO, arXiv 1910.02054).
enum class Zero : std::uint8_t {
    kNone = 0,        ///< every rank has everything
    kOptimizer = 1,   ///< the optimizer's slots
    kGradients = 2,   ///< and the gradients
    kParameters = 3,  ///< and the parameters
};

/// In which order the stages of a pipeline take micro-batches.
enum class Pipeline : std::uint8_t {
    kOneForwardOneBackward,  ///< each backward pass as soon as it can be made (PipeDream-Flush, arXiv 2104.04473)
    kGPipe,                  ///< all forward passes, then all backward passes (arXiv 1811.06965)
};

/// How the ranks of a cell divide a step. Rank `(stage * data + d) * tensor + t` is the t-th part of every product in
/// replica d of that stage.
struct Layout {
    std::uint32_t data = 1;    ///< parts of the batch
    std::uint32_t tensor = 1;  ///< parts of each layer's weights (Megatron-LM)
    std::uint32_t stages = 1;  ///< of a pipeline
    Zero zero = Zero::kNone;
    /// How much of the batch each of the `data` parts gets, at most kShareMax and not all 0; empty: the same.
    std::vector<std::uint32_t> shares{};
    /// How much of the step's multiply-adds (WRK-1) each of several stages gets, and how much of each layer's columns
    /// each of several parts does: about, since stages consist of nodes and attention of heads. Each is 1 to kShareMax;
    /// empty: the same.
    std::vector<std::uint32_t> stage_shares{};
    std::vector<std::uint32_t> tensor_shares{};
    /// Parts of a replica's rows that the stages of a pipeline work on at the same time. More than 1 only with several
    /// stages, without tensor parallelism, and with no more of ZeRO than kOptimizer.
    std::uint32_t micro_batches = 1;
    Pipeline pipeline = Pipeline::kOneForwardOneBackward;
    /// Ranks that train local replicas at the same time (plan::find_turns), and divide no step. If it is more than 1,
    /// everything else is as in a layout of one rank.
    std::uint32_t turns = 1;

    std::uint32_t ranks() const { return data * tensor * stages * turns; }
    std::uint32_t data_index(std::uint32_t rank) const { return rank / tensor % data; }
    std::uint32_t tensor_index(std::uint32_t rank) const { return rank % tensor; }
    std::uint32_t stage_index(std::uint32_t rank) const { return rank / (data * tensor); }
    /// Whether the fields are as they have to be, with at most kMaxRanks ranks and kMaxMicroBatches micro-batches.
    bool is_valid() const;
    /// One entry for each part of the batch.
    std::vector<std::uint32_t> data_shares() const;
    /// The same of the stages.
    std::vector<std::uint32_t> shares_of_stages() const;
    /// Whether something is divided into unequal parts.
    bool has_shares() const { return !shares.empty() || !stage_shares.empty() || !tensor_shares.empty(); }
    /// This layout with all parts alike.
    Layout without_shares() const;
    bool operator==(const Layout&) const = default;
};

inline constexpr std::uint32_t kMaxMicroBatches = 64;
/// So that rows are cut by shares in 64 bits, whatever the size of the batch.
inline constexpr std::uint32_t kShareMax = 1U << 24U;

/// Reads a layout's name: parts joined by '+' or written one after the other, each of them `dp`, `tp` or `pp` with a
/// number of parts, or `zero1`, `zero2`, `zero3`. One part without a number takes what is left of `ranks`: "dp" and
/// "zero2" over 4 ranks are 4 parts of the batch, "dp2tp2" are two parts of two, "dp2tp" the same. `1f1b` and
/// `gpipe` with a number cut the batch into micro-batches for the stages: "pp4+1f1b8"; "pp+1f1b8" over one rank has
/// none. `turns` stands alone: the ranks train local replicas.
///
/// After a colon stand the shares of what the part before it divides, which give its number too: "dp:5,3", "zero1:5,3",
/// "tp:5,3", "pp:5,3+1f1b4", "pp:5,3+dp2". Those at the end of a name are of the batch if that is divided, wherever
/// `dp` stands: "dp2pp2+1f1b4:5,3".
///
/// Returns nothing if the name is another, or its parts do not make `ranks`, of which there are at most kMaxRanks.
std::optional<Layout> decode_layout(std::string_view name, std::uint32_t ranks);
/// The layout with that name for the most of `machines` for which it can be made; for one rank if for none.
Layout largest_layout(std::string_view name, std::size_t machines);
/// Returns a name that decode_layout() reads.
std::string to_string(const Layout& layout);

}  // namespace assay::plan
