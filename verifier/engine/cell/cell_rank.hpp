// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/cell/cell_executor.hpp>
#include <verifier/engine/cell/contents.hpp>
#include <verifier/engine/cell/local_ops.hpp>
#include <verifier/plan/message.hpp>

/// Internal to the cell: one rank's part of a step.
namespace assay::engine {

struct CellExecutor::Impl {
    // What this rank does for an item, sends for it and receives.
    struct Work {
        plan::Item item;
        plan::Block block;                                // that it computes
        plan::Block finished;                             // that it hands out
        plan::Block held;                                 // that it has afterwards
        std::vector<plan::Block> needs;                   // of each input
        std::vector<std::vector<plan::Transfer>> inputs;  // for each input
        std::vector<plan::Transfer> output;               // from who finished it to who has it afterwards
        std::vector<Slot> expired;                        // values that this rank does not read afterwards
        bool is_unread = false;                           // its own output is one, and is exchanged afterwards
        double part = 0.0;                                // of the node's work
        const cell::ViewTable* view = nullptr;
        std::vector<plan::PartSlice> slices;  // of a divided reduction: what it reduces, each by itself
    };
    // What the others sent for one item in an exchange: of each rank's message the bytes from `first` on.
    struct Arrived {
        std::shared_ptr<const std::vector<Bytes>> messages{};
        std::vector<std::size_t> first{};
        ByteView from(std::uint32_t other, std::size_t at, std::size_t count) const {
            return ByteView((*messages)[other]).subspan(first[other] + at, count);
        }
    };
    // What is kept of an item from one of its exchanges to the next.
    struct Waiting {
        Arrived inputs{};
        std::vector<Bytes> parts{};            // for each other rank, what this one has of the slices that it finishes
        std::vector<canonical::Tensor> own{};  // of each slice, what this rank finishes
        std::vector<canonical::Tensor> exponents{};  // of a product's operands
        std::optional<canonical::Tensor> finished{};
        std::uint64_t bytes = 0;
    };
    // A part of an exchange that this rank takes part in.
    struct Share {
        std::size_t work = 0;
        plan::Sent what = plan::Sent::kInputs;
        std::vector<std::uint64_t> expected{};  // of each rank
    };
    struct Message {
        std::vector<Share> shares{};
        std::vector<std::uint64_t> sent{};  // to each rank
        std::vector<std::uint64_t> expected{};
        std::uint32_t tag = 0;
        std::optional<Contents> contents{};  // where ranks answer for what they send
    };
    // A plan::Exchange as this rank takes part in it.
    struct Exchange {
        std::size_t after = 0;  // how many works have been computed before
        std::vector<Message> messages{};
    };
    // What one item adds to the messages to and from each rank.
    struct MessageSizes {
        std::vector<std::uint64_t> sent;
        std::vector<std::uint64_t> expected;
    };
    // A local tensor and the block that it has.
    struct Local {
        const plan::Block* block;
        Slot slot;
    };
    const program::Program& program;
    const canonical::Graph& graph;
    plan::Plan plan;
    std::shared_ptr<const canonical::RowSource> rows;
    Collective& collective;
    std::uint32_t rank;
    std::uint32_t pieces;             // of a node, at most
    bool is_stated;                   // ranks answer for what they send
    std::vector<Work> works;          // in their order; the last is that of kCommit
    std::vector<Waiting> waiting;     // of each
    std::vector<Exchange> exchanges;  // in their order; the last is for the inputs of kCommit
    std::vector<std::unique_ptr<cell::ViewTable>> tables;
    std::unique_ptr<Backend> backend;
    std::shared_ptr<Pace> pace;
    std::chrono::nanoseconds busy{};  // computing, not waiting for others
    std::chrono::steady_clock::time_point computes_since;
    Slot first_state;
    Slot first_temporary;
    std::optional<float> loss;
    std::optional<Contents> sent_loss{};
    std::uint64_t bytes = 0;
    std::uint64_t peak = 0;
    std::vector<std::uint64_t> sizes;  // of what is in each slot

    Impl(
        const program::Program& p, plan::Plan&& plan_, std::shared_ptr<const canonical::RowSource> rows_, Collective& c,
        const EngineOptions& options
    );

    Slot slot_of(const plan::Item& item) const {
        return static_cast<Slot>(item.node * pieces + (item.piece == plan::Item::kWhole ? 0 : item.piece));
    }
    const plan::Placement& held_of(const canonical::Input& input) const {
        return input.source == canonical::Source::kState ? plan.state[input.index] : plan.nodes[input.index].held;
    }
    std::vector<Local> locals_of(const canonical::Input& input) const;
    // A block of which this rank has all elements.
    canonical::Tensor take(const canonical::Input& input, const plan::Block& wanted) const;
    std::uint32_t tag_of(const plan::Item& item, plan::Sent what) const {
        return 1 + 3 * slot_of(item) + static_cast<std::uint32_t>(what);
    }
    std::vector<Bytes> exchange(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag,
        const std::optional<Contents>& contents
    ) {
        rest();
        auto out = contents ? collective.exchange_stated(std::move(to), expected, tag, *contents)
                            : collective.exchange(std::move(to), expected, tag);
        resume();
        return out;
    }
    // Ranks go on before what they send is taken if they work on several micro-batches.
    void settle() {
        if (pieces == 1) {
            rest();
            collective.settle();
            resume();
        }
    }
    void resume() {
        computes_since = std::chrono::steady_clock::now();
        if (pace) {
            pace->begin();
        }
    }
    void rest() {
        if (pace) {
            pace->end();
        }
        busy += std::chrono::steady_clock::now() - computes_since;
    }
    void store(Slot slot, const canonical::Tensor& tensor) {
        release(slot);
        backend->store(slot, tensor);
        count(slot, tensor.data.size());
    }
    void count(Slot slot, std::uint64_t size) {
        sizes[slot] = size;
        bytes += size;
        peak = std::max(peak, bytes);
    }
    // Of what waits outside of slots.
    void keep(Waiting& of, std::uint64_t size) {
        of.bytes += size;
        bytes += size;
        peak = std::max(peak, bytes);
    }
    void let_go(Waiting& of) {
        bytes -= of.bytes;
        of = {};
    }
    void release(Slot slot) {
        if (sizes[slot] != 0) {
            backend->release(slot);
            bytes -= sizes[slot];
            sizes[slot] = 0;
        }
    }

    void prepare();
    void prepare_exchanges();
    Message message_of(const std::vector<plan::Sending>& sendings, const std::vector<std::size_t>& work_of_slot) const;
    MessageSizes message_sizes(const Work& work, plan::Sent what) const;
    std::vector<Ahead> incoming() const;
    Work work_for(const plan::Item& item);
    void describe(const Work& work, plan::Sent what, cell::ContentsOf& out) const;
    void describe_parts(const Work& work, cell::ContentsOf& out) const;
    void describe_loss();
    void describe(const std::vector<plan::Transfer>& own, const canonical::Input& input, cell::ContentsOf& out) const;
    void find_expired();
    const cell::ViewTable* table_for(const Work& work);
    std::vector<plan::Transfer> own(const std::vector<plan::Transfer>& all) const;
    std::vector<Slot> bring_inputs(std::size_t index);
    void append_inputs(const Work& work, std::vector<Bytes>& messages);
    void append_output(const Work& work, const canonical::Tensor& finished, std::vector<Bytes>& messages) const;
    canonical::Tensor computed(const Work& work) const;
    std::vector<Bytes> bytes_of(const Message& message);
    void carry_out(const Exchange& planned);
    void take_over(const Share& share, const Arrived& arrived);
    void run(std::size_t index, const canonical::StepContext& context);
    Slot compute(const Work& work, const std::vector<Slot>& inputs, const canonical::StepContext& context);
    Task local_task(const Work& work, const std::vector<Slot>& inputs) const;
    std::vector<plan::PartSlice> slices_of(std::uint32_t node, std::uint32_t of) const;
    bool shares_parts(std::uint32_t node, std::uint32_t other) const;
    canonical::Tensor compute_part(
        const Work& work, const std::vector<Slot>& inputs, const plan::PartSlice& slice,
        const canonical::StepContext& context
    );
    void compute_parts(std::size_t index, const std::vector<Slot>& inputs, const canonical::StepContext& context);
    canonical::Tensor combine(const Work& work, const Waiting& parts, const Share& share, const Arrived& arrived) const;
    std::vector<std::vector<std::int64_t>> add_up(
        const Work& work, const Waiting& parts, const Share& share, const Arrived& arrived, std::size_t chunks
    ) const;
    canonical::Tensor finish(const Work& work, const Waiting& parts, const Share& share, const Arrived& arrived) const;
    void hand_out(std::size_t index, canonical::Tensor finished);
    void store_held(const Work& work, const canonical::Tensor& finished, const Arrived& arrived);
    void report_loss();
    bool is_next_finite();
    void release_values();
    void move_next(const std::vector<Slot>& inputs);
};

}  // namespace assay::engine
