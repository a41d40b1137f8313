// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/planner.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <core/canonical/tile.hpp>
#include <verifier/engine/fused/placing.hpp>
#include <verifier/engine/fused/product.hpp>

/// Where the values of a plan lie: in a region's scratch memory, in the arena.
namespace assay::engine::fused {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

constexpr std::size_t kBlockBytes = std::size_t{48} * 1024;  // of a block's widest operation: about a first-level cache
constexpr std::uint32_t kTransposeRows = 16;

void keep_most(WorkspaceBytes& most, const WorkspaceBytes& other) {
    most.left = std::max(most.left, other.left);
    most.right = std::max(most.right, other.right);
    most.sums = std::max(most.sums, other.sums);
}

}  // namespace

bool ViewOrder::operator()(const canonical::View* a, const canonical::View* b) const {
    const auto is_before = [](const canonical::ViewAxis& x, const canonical::ViewAxis& y) {
        return std::tie(x.size, x.offset, x.divisor, x.strides) < std::tie(y.size, y.offset, y.divisor, y.strides);
    };
    if (a->dims != b->dims) {
        return a->dims < b->dims;
    }
    return std::lexicographical_compare(a->axes.begin(), a->axes.end(), b->axes.begin(), b->axes.end(), is_before);
}

// Operands that are laid out are not packed again.
WorkspaceBytes Planner::workspace_of(std::size_t contract) const {
    const Node& node = graph_[contract];
    const auto is_ready = [&](std::size_t input) {
        return is_laid_out(plan_.values[plan_.value_of(node.inputs[input])].format);
    };
    WorkspaceBytes bytes = workspace_bytes(node, threads_);
    bytes.left = is_ready(0) ? 0 : bytes.left;
    bytes.right = is_ready(2) ? 0 : bytes.right;
    return bytes;
}

// Regions' and products' scratch memory stays from stage to stage.
void Planner::write_regions() {
    std::size_t for_regions = 0;
    WorkspaceBytes most;
    for (const std::vector<std::size_t>& nodes : stage_nodes_) {
        Stage stage{.node = static_cast<ValueId>(nodes.front())};
        switch (graph_[nodes.front()].op) {
            case Op::kContract:
                stage.kind = Stage::Kind::kProduct;
                keep_most(most, workspace_of(nodes.front()));
                break;
            case Op::kScatterAddRows:
                stage.kind = Stage::Kind::kScatter;
                break;
            case Op::kBatchRows:
                stage.kind = Stage::Kind::kBatch;
                break;
            default:
                stage.region = plan_.regions.size();
                write_region(plan_.regions.emplace_back(), nodes);
                for_regions = std::max(for_regions, plan_.regions.back().scratch_bytes * threads_);
                break;
        }
        plan_.stages.push_back(stage);
    }
    plan_.scratch_bytes = for_regions + most.left + most.right + most.sums;
}

std::uint32_t Planner::choose_block_rows(const std::vector<std::size_t>& nodes) const {
    const std::uint32_t rows = graph_[nodes.front()].shape.rows;
    std::size_t widest = 1;
    bool transposes = false;
    for (const std::size_t i : nodes) {
        std::size_t width = graph_[i].shape.cols * size_of(plan_.values[i].format);
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            if (reads_rows(from, j)) {
                width += input.shape.cols * size_of(plan_.values[plan_.value_of(input)].format);
            }
        });
        widest = std::max(widest, width);
        transposes = transposes || graph_[i].op == Op::kView || plan_.values[i].format == Format::kRightDigits;
    }
    std::size_t block = std::clamp<std::size_t>(kBlockBytes / widest, 1, rows);
    // Every thread gets something to do, but no block is so small that its loops do not pay.
    const std::size_t share = (rows + 2 * threads_ - 1) / (2 * threads_);
    if (threads_ > 1 && share * widest >= std::size_t{16} * 1024) {
        block = std::min(block, share);
    }
    if (transposes) {
        block = std::max<std::size_t>(block / kTransposeRows * kTransposeRows, kTransposeRows);
    }
    if (is_observed_) {
        block = std::max<std::size_t>(block / canonical::kTileDim * canonical::kTileDim, canonical::kTileDim);
    }
    return static_cast<std::uint32_t>(std::min<std::size_t>(block, rows));
}

std::shared_ptr<const ViewRows> Planner::rows_of(const canonical::View& view) {
    const auto [found, is_new] = views_.try_emplace(&view);
    if (is_new) {
        found->second = std::make_shared<const ViewRows>(view);
        plan_.table_bytes += aligned(found->second->table_bytes());
    }
    return found->second;
}

void Planner::write_region(Region& region, const std::vector<std::size_t>& nodes) {
    region.rows = graph_[nodes.front()].shape.rows;
    region.block_rows = choose_block_rows(nodes);
    std::map<std::size_t, std::size_t> last_use;
    for (const std::size_t i : nodes) {
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (input.source == Source::kNode) {
                last_use[input.index] = i;
            }
        });
        last_use.emplace(i, i);
    }
    SameSize scratch;
    std::map<std::size_t, std::size_t> offset;  // node, where it lies
    const auto size_of_node = [&](std::size_t i) {
        return aligned(std::size_t{region.block_rows} * graph_[i].shape.cols * size_of(plan_.values[i].format));
    };
    const auto is_here = [&](const Input& input) {
        return input.source == Source::kNode && stage_[input.index] == stage_[nodes.front()] && is_alive(input.index);
    };
    for (const std::size_t i : nodes) {
        RegionOp op;
        op.node = static_cast<ValueId>(i);
        op.sums_at_once = sums_[i] != kNoSum;
        if (graph_[i].op == Op::kView) {
            op.view = rows_of(*graph_[i].view);
        }
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            const ValueId value = plan_.value_of(input);
            Operand& operand = op.inputs[j];
            operand.value = value;
            if (is_here(input) && !plan_.values[value].is_stored) {
                operand.place = Operand::Place::kScratch;
                operand.scratch = offset.at(input.index);
            } else {
                operand.place = reads_rows(from, j) ? Operand::Place::kRows : Operand::Place::kWhole;
            }
        });
        op.output.value = static_cast<ValueId>(i);
        op.output.place = is_laid_out(plan_.values[i].format) ? Operand::Place::kWhole
                          : plan_.values[i].is_stored         ? Operand::Place::kRows
                                                              : Operand::Place::kScratch;
        if (op.output.place == Operand::Place::kScratch) {
            offset[i] = scratch.take(size_of_node(i));
            op.output.scratch = offset[i];
        }
        region.ops.push_back(std::move(op));
        std::set<std::size_t> dead;
        if (offset.contains(i) && last_use[i] == i) {
            dead.insert(i);
        }
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (is_here(input) && !plan_.values[input.index].is_stored && last_use[input.index] == i) {
                dead.insert(input.index);
            }
        });
        for (const std::size_t value : dead) {
            scratch.give_back(size_of_node(value), offset.at(value));
        }
    }
    region.scratch_bytes = scratch.size_bytes();
}

// The next state is there to the end: until all of it is known to be finite, the state before stays.
std::vector<Planner::Span> Planner::find_spans() const {
    const std::size_t end = stage_nodes_.size() - 1;
    std::vector<Span> spans(count_);
    for (std::size_t i = 0; i < count_; ++i) {
        if (!is_alive(i)) {
            continue;
        }
        Span& own = spans[i];
        own.first = stage_[i];
        own.is_to_the_end = kept_[i];
        own.last = std::max(own.last, kept_[i] ? end : stage_[i]);
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (input.source == Source::kNode) {
                spans[input.index].last = std::max(spans[input.index].last, stage_[i]);
            }
        });
    }
    for (const Input& input : graph_.back().inputs) {
        if (input.source == Source::kNode) {
            spans[input.index].is_to_the_end = true;
            spans[input.index].last = end;
        }
    }
    return spans;
}

// Where a region is the last to read the rows of a value, one that it writes later in each block, in rows of the same
// size, takes the value's place.
void Planner::find_hosts(std::vector<Span>& spans) const {
    const auto row_bytes = [&](ValueId value) {
        return plan_.values[value].shape.cols * size_of(plan_.values[value].format);
    };
    for (std::size_t stage = 0; stage < plan_.stages.size(); ++stage) {
        if (plan_.stages[stage].kind != Stage::Kind::kRegion) {
            continue;
        }
        std::map<ValueId, std::size_t> hosts;  // and the last operation that reads them
        std::set<ValueId> whole;
        const std::vector<RegionOp>& ops = plan_.regions[plan_.stages[stage].region].ops;
        for (std::size_t k = 0; k < ops.size(); ++k) {
            for (const Operand& input : ops[k].inputs) {
                const bool can_host = input.value < count_ && input.place == Operand::Place::kRows &&
                                      spans[input.value].last == stage && spans[input.value].first < stage &&
                                      !spans[input.value].is_to_the_end;
                if (can_host) {
                    hosts[input.value] = k;
                } else if (input.place == Operand::Place::kWhole) {
                    whole.insert(input.value);
                }
            }
        }
        for (std::size_t k = 0; k < ops.size(); ++k) {
            const ValueId value = ops[k].output.value;
            if (ops[k].output.place != Operand::Place::kRows) {
                continue;
            }
            const auto host = std::find_if(hosts.begin(), hosts.end(), [&](const auto& each) {
                return each.second < k && !whole.contains(each.first) && row_bytes(each.first) == row_bytes(value);
            });
            if (host != hosts.end()) {
                spans[value].host = host->first;
                hosts.erase(host);
            }
        }
    }
}

// Values in the arena by first fit, each from the stage that writes it to the last that reads it.
void Planner::place_values() {
    std::vector<Span> spans = find_spans();
    find_hosts(spans);
    std::vector<std::size_t> item(count_);
    std::vector<Lifetime> lifetimes;
    for (const std::vector<std::size_t>& nodes : stage_nodes_) {
        for (const std::size_t i : nodes) {
            if (!is_in_arena(i)) {
                continue;
            }
            if (spans[i].host != kNoHost) {
                item[i] = item[spans[i].host];
                lifetimes[item[i]].last = spans[i].last;
            } else {
                item[i] = lifetimes.size();
                lifetimes.push_back(
                    {.size = aligned(plan_.values[i].size_bytes()), .first = spans[i].first, .last = spans[i].last}
                );
            }
        }
    }
    plan_.arena_bytes = place(lifetimes);
    plan_.busiest_stage = busiest_stage(lifetimes);
    plan_.needed_bytes = needed_at(lifetimes, plan_.busiest_stage);
    plan_.stage_of.assign(count_, kNever);
    for (std::size_t i = 0; i < count_; ++i) {
        if (is_alive(i)) {
            plan_.values[i].offset = is_in_arena(i) ? lifetimes[item[i]].offset : 0;
            plan_.stage_of[i] = stage_[i];
            plan_.stage_of[sums_[i] == kNoSum ? i : sums_[i]] = stage_[i];
        }
    }
}

}  // namespace assay::engine::fused
