// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/opening.hpp>

#include <utility>
#include <vector>

#include <core/base/fields.hpp>
#include <core/codec/borsh.hpp>

namespace assay::engine::cell {
namespace {

// An opening as it crosses.
struct OpeningWire {
    std::uint32_t data = 1;
    std::uint32_t tensor = 1;
    std::uint32_t stages = 1;
    std::uint8_t zero = 0;
    std::vector<std::uint32_t> shares;
    std::vector<std::uint32_t> stage_shares;
    std::vector<std::uint32_t> tensor_shares;
    std::uint32_t micro_batches = 1;
    std::uint8_t pipeline = 0;
    std::uint32_t turns = 1;
    Bytes program;
    static constexpr auto fields() {
        return Fields<
            &OpeningWire::data, &OpeningWire::tensor, &OpeningWire::stages, &OpeningWire::zero, &OpeningWire::shares,
            &OpeningWire::stage_shares, &OpeningWire::tensor_shares, &OpeningWire::micro_batches,
            &OpeningWire::pipeline, &OpeningWire::turns, &OpeningWire::program>{};
    }
};

}  // namespace

Bytes encode_opening(const Opening& opening) {
    const plan::Layout& layout = opening.layout;
    return codec::encode(OpeningWire{
        layout.data, layout.tensor, layout.stages, static_cast<std::uint8_t>(layout.zero), layout.shares,
        layout.stage_shares, layout.tensor_shares, layout.micro_batches, static_cast<std::uint8_t>(layout.pipeline),
        layout.turns, opening.program});
}

Result<Opening, OpeningError> decode_opening(ByteView bytes, std::uint32_t ranks) {
    if (bytes.size() > kOpeningBytesMax) {
        return Unexpected{OpeningError::kMalformed};
    }
    auto wire = codec::decode<OpeningWire>(bytes);
    if (!wire) {
        return Unexpected{OpeningError::kMalformed};
    }
    plan::Layout layout{
        .data = wire->data,
        .tensor = wire->tensor,
        .stages = wire->stages,
        .zero = static_cast<plan::Zero>(wire->zero),
        .shares = std::move(wire->shares),
        .stage_shares = std::move(wire->stage_shares),
        .tensor_shares = std::move(wire->tensor_shares),
        .micro_batches = wire->micro_batches,
        .pipeline = static_cast<plan::Pipeline>(wire->pipeline),
        .turns = wire->turns};
    if (!layout.is_valid() || layout.ranks() != ranks) {
        return Unexpected{OpeningError::kLayout};
    }
    return Opening{.layout = std::move(layout), .program = std::move(wire->program)};
}

}  // namespace assay::engine::cell
