// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/first_wrong.hpp>

#include <algorithm>
#include <tuple>

#include <core/canonical/partial.hpp>
#include <core/dispute/accuser.hpp>

namespace assay::group {

using canonical::Source;
using dispute::Claim;
using dispute::Piece;
using dispute::Replay;

namespace {

struct Entry {
    const Told* told = nullptr;
    std::size_t piece = 0;
    const plan::MessagePiece& place() const { return told->message->pieces[piece]; }
};

// In the order of the program; pieces of one part of one tile follow each other.
bool is_before(const Entry& a, const Entry& b) {
    const auto key = [](const Entry& entry) {
        const plan::MessagePiece& place = entry.place();
        return std::tuple(
            dispute::order_of(entry.told->statement.step, piece_of(place, {})), place.row / canonical::kTileDim,
            place.col / canonical::kTileDim, place.part
        );
    };
    return key(a) < key(b);
}

// What the replay has in the place of pieces. Executing a part takes longer than hashing, so the last one is kept.
class Own {
  public:
    Own(const Claim& segment, Replay& replay) : segment_(segment), replay_(replay) {}

    bool says(std::uint64_t step, const Piece& piece) {
        if (!piece.part) {
            return dispute::own_values(segment_, step, piece, replay_) == piece.values;
        }
        const canonical::Node& node = replay_.graph()[piece.index];
        const std::tuple key(step, piece.index, dispute::tile_of(node.shape, piece), *piece.part);
        if (key != key_) {
            Claim claim = segment_;
            claim.step_count = static_cast<std::uint32_t>(step - segment_.first_step + 1);
            const dispute::PartClaim part{
                .node = piece.index, .tile = std::get<2>(key), .partials = *piece.part, .accumulator = {}};
            part_ = dispute::make_part(claim, part, replay_);
            key_ = key;
        }
        return dispute::values_of(piece, node, part_) == piece.values;
    }

  private:
    const Claim& segment_;
    Replay& replay_;
    std::optional<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, canonical::PartRange>> key_;
    canonical::Accumulator part_;
};

// Has outputs collected for as many entries at once as the bytes admit.
class Collector {
  public:
    Collector(const std::vector<Entry>& entries, Replay& replay, const Collecting& collecting)
        : entries_(entries), graph_(replay.graph()), collecting_(collecting) {}

    /// Entry `index` is compared next.
    void pass(std::size_t index) {
        if (index < end_ || !collecting_.collect) {
            return;
        }
        const std::uint64_t step = step_of(index);
        std::set<std::uint32_t> nodes;
        std::uint64_t bytes = 0;
        const auto is_room_left = [&] { return end_ < entries_.size() && bytes <= collecting_.bytes_max; };
        for (end_ = index; is_room_left() && step_of(end_) == step; ++end_) {
            bytes += add(entries_[end_].place(), nodes);
        }
        if (!nodes.empty()) {
            collecting_.collect(step, nodes);
        }
    }

  private:
    std::uint64_t step_of(std::size_t index) const { return entries_[index].told->statement.step; }

    // Adds what the replay needs for a place; returns how many bytes more that is.
    std::uint64_t add(const plan::MessagePiece& place, std::set<std::uint32_t>& nodes) const {
        std::uint64_t bytes = 0;
        const auto add_node = [&](std::uint32_t index) {
            const canonical::Node& node = graph_[index];
            bytes += nodes.insert(index).second ? node.shape.element_count() * canonical::size_of(node.dtype) : 0;
        };
        if (place.source == Source::kNode && !place.part) {
            add_node(place.index);
        } else if (place.part) {
            for (const canonical::Input& input : graph_[place.index].inputs) {
                if (input.source == Source::kNode) {
                    add_node(input.index);
                }
            }
        }
        return bytes;
    }

    const std::vector<Entry>& entries_;
    const canonical::Graph& graph_;
    const Collecting& collecting_;
    std::size_t end_ = 0;  // of the entries whose outputs are there
};

}  // namespace

std::optional<WrongPiece> find_first_wrong(
    const std::vector<std::shared_ptr<const Told>>& told, const Claim& segment, Replay& replay,
    const Collecting& collecting
) {
    const std::uint64_t end = segment.first_step + segment.step_count;
    std::vector<Entry> entries;
    for (const auto& message : told) {
        const dispute::Statement& statement = message->statement;
        const bool is_here = statement.before == segment.before && statement.step >= segment.first_step;
        for (std::size_t i = 0; i < message->values.size() && is_here && statement.step < end; ++i) {
            entries.push_back({message.get(), i});
        }
    }
    std::stable_sort(entries.begin(), entries.end(), is_before);
    const auto diverged = replay.diverged_at();
    Own own(segment, replay);
    Collector collector(entries, replay, collecting);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        const std::uint64_t step = entry.told->statement.step;
        if (diverged && step > *diverged) {
            break;  // nothing is true there
        }
        collector.pass(i);
        if (!own.says(step, entry.told->piece(entry.piece))) {
            return WrongPiece{
                .author = entry.told->author,
                .stated = entry.told->stated(entry.piece),
                .signature = entry.told->signature};
        }
    }
    return std::nullopt;
}

std::optional<WrongPiece> find_first_wrong(
    const Ledger& ledger, const Claim& segment, Replay& replay, const Collecting& collecting
) {
    return find_first_wrong(ledger.told(segment.first_step), segment, replay, collecting);
}

}  // namespace assay::group
