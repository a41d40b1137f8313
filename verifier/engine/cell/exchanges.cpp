// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_rank.hpp>

// What a rank exchanges with the others, as the plan groups it.
namespace assay::engine {

using canonical::Input;
using canonical::Tensor;
using plan::Block;
using plan::Sent;
using plan::Transfer;

namespace {

std::uint64_t sum_of(const std::vector<std::uint64_t>& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

void add(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& what) {
    std::transform(to.begin(), to.end(), what.begin(), to.begin(), std::plus<>());
}

void append_whole(Bytes& to, Bytes&& bytes) {
    if (to.empty() && to.capacity() < bytes.size()) {
        to = std::move(bytes);
    } else {
        append(to, bytes);
    }
}

}  // namespace

CellExecutor::Impl::MessageSizes CellExecutor::Impl::message_sizes(const Work& work, Sent what) const {
    const std::uint32_t node = work.item.node;
    MessageSizes out{std::vector<std::uint64_t>(collective.size()), std::vector<std::uint64_t>(collective.size())};
    const auto add_all = [&](const std::vector<Transfer>& all, canonical::DType dtype) {
        for (const Transfer& transfer : all) {
            const std::uint64_t size = transfer.block.element_count() * canonical::size_of(dtype);
            (transfer.from == rank ? out.sent[transfer.to] : out.expected[transfer.from]) += size;
        }
    };
    if (what == Sent::kInputs) {
        for (std::size_t k = 0; k < work.inputs.size(); ++k) {
            add_all(work.inputs[k], graph[node].inputs[k].dtype);
        }
    } else if (what == Sent::kOutput) {
        add_all(work.output, graph[node].dtype);
    } else {
        const plan::Placement& finished = plan.nodes[node].finished;
        const std::uint64_t width = plan::accumulator_bytes(graph, node);
        for (std::uint32_t other = 0; other < collective.size(); ++other) {
            if (shares_parts(node, other)) {
                out.sent[other] = work.slices.size() * finished[other].element_count() * width;
                out.expected[other] = slices_of(node, other).size() * finished[rank].element_count() * width;
            }
        }
    }
    return out;
}

CellExecutor::Impl::Message CellExecutor::Impl::message_of(
    const std::vector<plan::Sending>& sendings, const std::vector<std::size_t>& work_of_slot
) const {
    Message out{
        .sent = std::vector<std::uint64_t>(collective.size()),
        .expected = std::vector<std::uint64_t>(collective.size()),
        .tag = tag_of(sendings.front().item, sendings.front().what)};
    cell::ContentsOf contents(collective.size());
    for (const plan::Sending& sending : sendings) {
        const std::size_t index = work_of_slot[slot_of(sending.item)];
        MessageSizes of_share = message_sizes(works[index], sending.what);
        add(out.sent, of_share.sent);
        add(out.expected, of_share.expected);
        if (is_stated) {
            describe(works[index], sending.what, contents);
        }
        out.shares.push_back({.work = index, .what = sending.what, .expected = std::move(of_share.expected)});
    }
    if (is_stated) {
        out.contents = contents.build(graph);
    }
    return out;
}

void CellExecutor::Impl::prepare_exchanges() {
    std::vector<std::size_t> work_of_slot(first_state);
    for (std::size_t i = 0; i < works.size(); ++i) {
        work_of_slot[slot_of(works[i].item)] = i;
    }
    for (const plan::Exchange& exchange : plan.exchanges[rank]) {
        Exchange& own = exchanges.emplace_back(Exchange{.after = exchange.after});
        for (const std::vector<plan::Sending>& sendings : exchange.messages) {
            own.messages.push_back(message_of(sendings, work_of_slot));
        }
    }
    exchanges.push_back(
        {.after = works.size() - 1, .messages = {message_of({{works.back().item, Sent::kInputs}}, work_of_slot)}}
    );
}

// What other ranks send this one in a step, the loss and their word on whether the next state is finite excepted.
std::vector<Ahead> CellExecutor::Impl::incoming() const {
    std::vector<Ahead> out(collective.size(), Ahead{.bytes = 0, .messages = 0});
    for (const Exchange& each : exchanges) {
        for (const Message& message : each.messages) {
            for (std::uint32_t other = 0; other < collective.size(); ++other) {
                out[other].bytes += message.expected[other];
                out[other].messages += message.expected[other] > 0 ? 1U : 0U;
            }
        }
    }
    return out;
}

void CellExecutor::Impl::append_inputs(const Work& work, std::vector<Bytes>& messages) {
    for (std::size_t k = 0; k < work.inputs.size(); ++k) {
        const Input& input = graph[work.item.node].inputs[k];
        const std::vector<Local> locals = locals_of(input);
        std::optional<Tensor> only;  // loaded once for all that it is sent to
        for (const Transfer& transfer : work.inputs[k]) {
            if (transfer.from != rank) {
                continue;
            }
            if (locals.size() == 1) {
                only = only ? std::move(only) : std::optional(backend->load(locals[0].slot));
                cell::append_block(*only, *locals[0].block, transfer.block, messages[transfer.to]);
            } else {
                append(messages[transfer.to], take(input, transfer.block).data);
            }
        }
    }
}

void CellExecutor::Impl::append_output(const Work& work, const Tensor& finished, std::vector<Bytes>& messages) const {
    for (const Transfer& transfer : work.output) {
        if (transfer.from == rank) {
            cell::append_block(finished, work.finished, transfer.block, messages[transfer.to]);
        }
    }
}

// What this rank sends each other one.
std::vector<Bytes> CellExecutor::Impl::bytes_of(const Message& message) {
    std::vector<Bytes> out(collective.size());
    for (std::uint32_t other = 0; other < collective.size() && message.shares.size() > 1; ++other) {
        out[other].reserve(message.sent[other]);
    }
    for (const Share& share : message.shares) {
        const Work& work = works[share.work];
        Waiting& own = waiting[share.work];
        if (share.what == Sent::kInputs) {
            append_inputs(work, out);
        } else if (share.what == Sent::kOutput && !work.output.empty()) {
            append_output(work, own.finished ? *own.finished : computed(work), out);
        }
        for (std::uint32_t other = 0; other < own.parts.size(); ++other) {
            append_whole(out[other], std::exchange(own.parts[other], {}));
        }
    }
    return out;
}

// All messages leave before this rank waits for one.
void CellExecutor::Impl::carry_out(const Exchange& planned) {
    const std::vector<std::uint64_t> nothing(collective.size());
    const std::vector<Contents::Message> silence(collective.size());
    const bool is_one = planned.messages.size() == 1;
    for (const Message& message : planned.messages) {
        if (!is_one && sum_of(message.sent) > 0) {
            std::optional<Contents> contents = message.contents;
            if (contents) {
                contents->from = silence;
            }
            exchange(bytes_of(message), nothing, message.tag, contents);
        }
    }
    for (const Message& message : planned.messages) {
        Arrived arrived;
        if (sum_of(message.expected) > 0 || (is_one && sum_of(message.sent) > 0)) {
            std::optional<Contents> contents = message.contents;
            if (contents && !is_one) {
                contents->to = silence;
            }
            std::vector<Bytes> to = is_one ? bytes_of(message) : std::vector<Bytes>(collective.size());
            arrived.messages = std::make_shared<const std::vector<Bytes>>(
                exchange(std::move(to), message.expected, message.tag, contents)
            );
            arrived.first.resize(collective.size());
        }
        for (const Share& share : message.shares) {
            take_over(share, arrived);
            if (arrived.messages != nullptr) {
                add(arrived.first, share.expected);
            }
        }
    }
    settle();
}

// The output of a node that is not divided, if this rank has computed some of it.
Tensor CellExecutor::Impl::computed(const Work& work) const {
    const bool is_there = !work.block.is_empty() && !plan.nodes[work.item.node].is_divided;
    return is_there ? backend->load(slot_of(work.item)) : Tensor{};
}

void CellExecutor::Impl::take_over(const Share& share, const Arrived& arrived) {
    const Work& work = works[share.work];
    Waiting& own = waiting[share.work];
    switch (share.what) {
        case Sent::kInputs:
            if (arrived.messages != nullptr) {
                own.inputs = arrived;
                keep(own, sum_of(share.expected));
            }
            break;
        case Sent::kParts: {
            Tensor finished;
            if (!work.finished.is_empty()) {
                finished = finish(work, own, share, arrived);
            }
            let_go(own);
            hand_out(share.work, std::move(finished));
            break;
        }
        case Sent::kOutput: {
            if (work.output.empty()) {
                break;
            }
            const bool is_stored = !own.finished.has_value();
            const Tensor finished = own.finished ? *std::exchange(own.finished, {}) : computed(work);
            let_go(own);
            if (!is_stored || work.held != work.finished) {
                store_held(work, finished, arrived);
            }
            break;
        }
    }
    const bool is_complete = share.what == Sent::kOutput || (share.what == Sent::kParts && work.output.empty());
    if (is_complete && work.is_unread) {
        release(slot_of(work.item));
    }
}

// Stores what this rank has finished of the node's output, or keeps it until it is exchanged.
void CellExecutor::Impl::hand_out(std::size_t index, Tensor finished) {
    if (works[index].output.empty()) {
        return store_held(works[index], finished, {});
    }
    keep(waiting[index], finished.data.size());
    waiting[index].finished = std::move(finished);
}

// Stores what this rank has of the node's output, of which it has finished a block.
void CellExecutor::Impl::store_held(const Work& work, const Tensor& finished, const Arrived& arrived) {
    const Slot slot = slot_of(work.item);
    const Block& held = work.held;
    if (held.is_empty()) {
        return;
    }
    if (held == work.finished) {
        return store(slot, finished);
    }
    const canonical::DType dtype = graph[work.item.node].dtype;
    Tensor out = canonical::make_tensor(dtype, held.shape());
    const Block kept = intersection(work.finished, held);
    if (!kept.is_empty()) {
        cell::write_block(out, held, kept, cell::take_block(finished, work.finished, kept).data);
    }
    std::vector<std::size_t> read(collective.size());
    for (const Transfer& transfer : work.output) {
        if (transfer.to == rank) {
            std::size_t& at = read[transfer.from];
            const std::size_t size = transfer.block.element_count() * canonical::size_of(dtype);
            cell::write_block(out, held, transfer.block, arrived.from(transfer.from, at, size));
            at += size;
        }
    }
    store(slot, out);
}

}  // namespace assay::engine
