// SPDX-License-Identifier: Apache-2.0
#include <contracts/params/retention.hpp>

#include <contracts/state/task.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint64_t kPricedBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kPricedBlocks = 1'000;

}  // namespace

Amount show_draws_deposit(const Params& params) noexcept {
    // PAR-14: at most 2^8 draws of a price below 2^30
    return Amount{checked_mul<std::uint64_t>(params.draw_price.grains, params.retention_shows).value()};
}

Amount retention_fee_min(const Params& params, const TaskSpec& spec, std::uint32_t blocks) noexcept {
    // RET-1
    constexpr Amount kMost{~std::uint64_t{0}};
    const auto stored = checked_mul_div(spec.program.memory, blocks, kPricedBytes);
    const auto price = stored ? checked_mul_div(*stored, params.retention_price.grains, kPricedBlocks) : stored;
    const auto shows = checked_mul<std::uint64_t>(params.attest_fee.grains, params.retention_shows);
    if (!price || !shows) {
        return kMost;
    }
    const auto work = checked_add(Amount{*price}, Amount{*shows});
    return work ? checked_add(*work, show_draws_deposit(params)).value_or(kMost) : kMost;
}

Result<void, TxError> check_retention(const Params& params, const TaskSpec& spec) noexcept {
    // RET-1
    if (!spec.retention) {
        return {};
    }
    const std::uint64_t shortest = std::uint64_t{params.retention_shows} * params.retention_show_blocks;
    const Retention& asked = *spec.retention;
    const bool is_fit = spec.members == 1 && asked.blocks >= shortest && asked.blocks <= params.retention_blocks_max &&
                        asked.fee >= retention_fee_min(params, spec, asked.blocks) && asked.fee <= task_value(spec);
    if (!is_fit) {
        return Unexpected{TxError::kRetentionUnfit};
    }
    return {};
}

}  // namespace assay::contracts
