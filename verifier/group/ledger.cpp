// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/ledger.hpp>

#include <string>
#include <utility>

#include <core/merkle/tree.hpp>

namespace assay::group {

dispute::Piece piece_of(const plan::MessagePiece& place, const Hash256& values) {
    dispute::Piece out{
        .source = place.source,
        .index = place.index,
        .part = {},
        .hop = place.hop,
        .row = place.row,
        .col = place.col,
        .rows = place.rows,
        .cols = place.cols,
        .width = place.width,
        .values = values};
    if (place.part) {
        out.part = dispute::PartRange{.first_partial = place.part->first, .partial_count = place.part->count};
    }
    return out;
}

dispute::Piece Told::piece(std::size_t index) const { return piece_of(message->pieces[index], values[index]); }

dispute::StatedPiece Told::stated(std::size_t index) const {
    std::vector<Hash256> leaves;
    leaves.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        leaves.push_back(dispute::piece_leaf(piece(i)));
    }
    return {
        .statement = statement,
        .piece = piece(index),
        .index = static_cast<std::uint32_t>(index),
        .path = merkle::Tree(std::move(leaves)).path(index)};
}

void Ledger::add(std::uint64_t first_step, Told told) {
    const std::scoped_lock lock(mutex_);
    if (bytes_ + told.bytes() > bytes_max_) {
        throw std::runtime_error(
            "the ledger of what other members stated is full: " + std::to_string(bytes_max_) +
            " bytes; settle segments earlier, make them shorter, or raise the limit"
        );
    }
    bytes_ += told.bytes();
    segments_[first_step].push_back(std::make_shared<const Told>(std::move(told)));
}

std::vector<std::shared_ptr<const Told>> Ledger::told(std::uint64_t first_step) const {
    const std::scoped_lock lock(mutex_);
    const auto found = segments_.find(first_step);
    return found == segments_.end() ? Segment() : found->second;
}

void Ledger::drop(std::uint64_t first_step) {
    const std::scoped_lock lock(mutex_);
    const auto found = segments_.find(first_step);
    if (found == segments_.end()) {
        return;
    }
    for (const auto& told : found->second) {
        bytes_ -= told->bytes();
    }
    segments_.erase(found);
}

std::uint64_t Ledger::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

}  // namespace assay::group
