// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/cell_executor.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <core/base/assert.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_rank.hpp>
#include <verifier/plan/node_rules.hpp>

namespace assay::engine {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;
using canonical::StepContext;
using canonical::StepError;
using canonical::Tensor;
using plan::Block;
using plan::NodePlan;
using plan::Placement;
using plan::Transfer;

CellExecutor::Impl::Impl(
    const program::Program& p, plan::Plan&& plan_, std::shared_ptr<const canonical::RowSource> rows_, Collective& c,
    const EngineOptions& options
)
    : program(p),
      graph(p.step),
      plan(std::move(plan_)),
      rows(std::move(rows_)),
      collective(c),
      rank(c.rank()),
      pieces(plan.layout.micro_batches),
      is_stated(c.is_stated()),
      first_state(static_cast<Slot>(p.step.size() * pieces)),
      first_temporary(first_state + static_cast<Slot>(p.state.size())) {
    ASSERT(collective.size() == plan.layout.ranks());
    constexpr std::size_t kTemporaries = 8;
    const std::size_t inputs = std::max<std::size_t>(graph.back().inputs.size(), 4);
    const std::size_t slots = first_temporary + inputs + kTemporaries;
    sizes.resize(slots);
    backend = make_backend(slots, options);
    pace = options.pace;
    prepare();
}

std::vector<Transfer> CellExecutor::Impl::own(const std::vector<Transfer>& all) const {
    std::vector<Transfer> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](const Transfer& transfer) {
        return transfer.from == rank || transfer.to == rank;
    });
    return out;
}

std::vector<CellExecutor::Impl::Local> CellExecutor::Impl::locals_of(const Input& input) const {
    if (input.source == Source::kState) {
        return {{&plan.state[input.index][rank], first_state + static_cast<Slot>(input.index)}};
    }
    std::vector<Local> out;
    for (const plan::Item& item : plan::items_of(plan, graph, input.index)) {
        const NodePlan& node = plan.nodes[input.index];
        const bool is_whole = item.piece == plan::Item::kWhole;
        out.push_back({is_whole ? &node.held[rank] : &node.pieces[item.piece][rank], slot_of(item)});
    }
    return out;
}

Tensor CellExecutor::Impl::take(const Input& input, const Block& wanted) const {
    Tensor out = canonical::make_tensor(input.dtype, wanted.shape());
    for (const Local& local : locals_of(input)) {
        const Block part = intersection(*local.block, wanted);
        if (part == wanted) {
            return cell::take_block(backend->load(local.slot), *local.block, wanted);
        }
        if (!part.is_empty()) {
            cell::write_block(out, wanted, part, cell::take_block(backend->load(local.slot), *local.block, part).data);
        }
    }
    return out;
}

const cell::ViewTable* CellExecutor::Impl::table_for(const Work& work) {
    const Node& node = graph[work.item.node];
    for (const auto& table : tables) {
        if (table->is_for(node, work.block, work.needs[0])) {
            return table.get();
        }
    }
    tables.push_back(std::make_unique<cell::ViewTable>(node, work.block, work.needs[0]));
    return tables.back().get();
}

CellExecutor::Impl::Work CellExecutor::Impl::work_for(const plan::Item& item) {
    Work out;
    out.item = item;
    const plan::Share share = share_of(plan, graph, item);
    out.block = share.work.empty() ? Block{} : share.work[rank];  // of kCommit there is none
    for (const Placement& needs : share.needs) {
        out.needs.push_back(needs[rank]);
    }
    for (const std::vector<Transfer>& all : input_transfers(plan, graph, item)) {
        out.inputs.push_back(own(all));
    }
    const NodePlan& node = plan.nodes[item.node];
    const bool is_whole = item.piece == plan::Item::kWhole;
    out.output = own(output_transfers(plan, graph, item));
    out.held = is_whole ? node.held[rank] : node.pieces[item.piece][rank];
    if (!node.finished.empty()) {
        out.finished = is_whole ? node.finished[rank] : out.block;
    }
    if (graph[item.node].op == Op::kView && !out.block.is_empty()) {
        out.view = table_for(out);
    }
    if (!out.block.is_empty()) {
        const std::uint64_t all = graph[item.node].shape.element_count();
        out.part = static_cast<double>(out.block.element_count()) / static_cast<double>(all);
        if (node.is_divided) {
            out.part *= static_cast<double>(node.depth[rank].count()) / plan::depth_of(graph[item.node]);
        }
    }
    if (node.is_divided) {
        out.slices = slices_of(item.node, rank);
    }
    return out;
}

void CellExecutor::Impl::prepare() {
    if (is_stated) {
        cell::check_statable(plan, graph);
        describe_loss();
    }
    for (const plan::Item& item : plan.order[rank]) {
        works.push_back(work_for(item));
    }
    works.push_back(work_for({static_cast<std::uint32_t>(graph.size() - 1), plan::Item::kWhole}));
    waiting.resize(works.size());
    find_expired();
    prepare_exchanges();
    collective.expect(incoming());
}

void CellExecutor::Impl::find_expired() {
    constexpr std::size_t kNever = static_cast<std::size_t>(-1);
    std::vector<std::size_t> last_use(first_state, kNever);
    for (std::size_t i = 0; i < works.size(); ++i) {
        last_use[slot_of(works[i].item)] = i;
        for (std::size_t k = 0; k < works[i].inputs.size(); ++k) {
            const Input& input = graph[works[i].item.node].inputs[k];
            for (const Local& local : locals_of(input)) {
                bool is_read = !intersection(*local.block, works[i].needs[k]).is_empty();
                for (const Transfer& transfer : works[i].inputs[k]) {
                    is_read =
                        is_read || (transfer.from == rank && !intersection(*local.block, transfer.block).is_empty());
                }
                if (is_read && input.source == Source::kNode) {
                    last_use[local.slot] = i;
                }
            }
        }
    }
    for (Slot slot = 0; slot < first_state; ++slot) {
        const bool is_loss = slot / pieces == program.loss_node;
        const bool is_kept = last_use[slot] == kNever || last_use[slot] + 1 == works.size() || is_loss;
        if (is_kept) {
            continue;
        }
        Work& last = works[last_use[slot]];
        const bool is_own = slot_of(last.item) == slot;
        last.is_unread = is_own && (plan.nodes[last.item.node].is_divided || !last.output.empty());
        if (!last.is_unread) {
            last.expired.push_back(slot);
        }
    }
}

// What the item reads, as local tensors of exactly that: where a value is, or a copy of a part of it with what came
// from other ranks.
std::vector<Slot> CellExecutor::Impl::bring_inputs(std::size_t index) {
    const Work& work = works[index];
    const std::vector<Input>& inputs = graph[work.item.node].inputs;
    std::vector<std::size_t> read(collective.size());
    std::vector<Slot> out;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        const std::vector<Local> locals = locals_of(inputs[k]);
        const Block& wanted = work.needs[k];
        const auto same =
            std::find_if(locals.begin(), locals.end(), [&](const Local& local) { return *local.block == wanted; });
        out.push_back(same != locals.end() ? same->slot : locals[0].slot);
        if (wanted.is_empty() || same != locals.end()) {
            continue;
        }
        const Block own = intersection(held_of(inputs[k])[rank], wanted);
        Tensor whole;
        if (own == wanted) {
            whole = take(inputs[k], wanted);
        } else {
            whole = canonical::make_tensor(inputs[k].dtype, wanted.shape());
            if (!own.is_empty()) {
                cell::write_block(whole, wanted, own, take(inputs[k], own).data);
            }
            for (const Transfer& transfer : work.inputs[k]) {
                if (transfer.to == rank) {
                    const std::size_t size = transfer.block.element_count() * canonical::size_of(inputs[k].dtype);
                    std::size_t& at = read[transfer.from];
                    const ByteView values = waiting[index].inputs.from(transfer.from, at, size);
                    cell::write_block(whole, wanted, transfer.block, values);
                    at += size;
                }
            }
        }
        out.back() = first_temporary + static_cast<Slot>(k);
        store(out.back(), whole);
    }
    let_go(waiting[index]);
    return out;
}

Task CellExecutor::Impl::local_task(const Work& work, const std::vector<Slot>& inputs) const {
    const Node& node = graph[work.item.node];
    Task task{.node = node, .inputs = inputs, .output = slot_of(work.item), .is_bounded = false};
    task.node.shape = work.block.shape();
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        task.node.inputs[k].shape = work.needs[k].shape();
    }
    if (node.op == Op::kContract) {
        const std::uint32_t precision = node.attributes[0];
        task.is_bounded =
            is_quantised_to(graph, node.inputs[0], precision) && is_quantised_to(graph, node.inputs[2], precision);
    }
    return task;
}

Slot CellExecutor::Impl::compute(const Work& work, const std::vector<Slot>& inputs, const StepContext& context) {
    const Node& n = graph[work.item.node];
    const Slot slot = slot_of(work.item);
    if (n.op == Op::kView) {
        store(slot, work.view->run(backend->load(inputs[0])));
    } else if (cell::is_positional(n, work.block)) {
        std::vector<Tensor> tensors;
        tensors.reserve(inputs.size());
        for (const Slot input : inputs) {
            tensors.push_back(backend->load(input));
        }
        store(slot, cell::run_positional(n, work.block, tensors, context, *rows));
    } else {
        const Task task = local_task(work, inputs);
        release(slot);
        if (n.op == Op::kStepCount) {
            backend->draw(task, context);
        } else {
            backend->execute(task);
        }
        count(slot, work.block.element_count() * canonical::size_of(n.dtype));
    }
    return slot;
}

void CellExecutor::Impl::run(std::size_t index, const StepContext& context) {
    const Work& work = works[index];
    const std::uint32_t node = work.item.node;
    const std::vector<Slot> inputs = bring_inputs(index);
    if (pace && work.part > 0.0) {
        pace->computed(graph[node], work.part);
    }
    if (graph[node].op == Op::kBatchRows) {
        hand_out(
            index, work.block.is_empty() ? Tensor{} : cell::run_positional(graph[node], work.block, {}, context, *rows)
        );
    } else if (!work.block.is_empty() && plan.nodes[node].is_divided) {
        compute_parts(index, inputs, context);
    } else if (!work.block.is_empty()) {
        compute(work, inputs, context);
    }
    for (const Slot slot : inputs) {
        if (slot >= first_temporary) {
            release(slot);
        }
    }
    for (const Slot slot : work.expired) {
        release(slot);
    }
}

// NUM-6, on any rank.
bool CellExecutor::Impl::is_next_finite() {
    bool is_finite = true;
    for (const Input& input : graph.back().inputs) {
        for (const Local& local : locals_of(input)) {
            if (sizes[local.slot] != 0) {  // else another rank has it, and looks
                is_finite = is_finite && backend->is_finite(local.slot);
            }
        }
    }
    std::vector<Bytes> messages(collective.size());
    std::vector<std::uint64_t> expected(collective.size());
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (other != rank) {
            messages[other] = Bytes{static_cast<std::uint8_t>(is_finite ? 1 : 0)};
            expected[other] = 1;
        }
    }
    const std::uint32_t tag = tag_of(works.back().item, plan::Sent::kParts);
    for (const Bytes& message : exchange(std::move(messages), expected, tag, std::nullopt)) {
        is_finite = is_finite && (message.empty() || message[0] == 1);
    }
    settle();
    return is_finite;
}

void CellExecutor::Impl::move_next(const std::vector<Slot>& inputs) {
    std::vector<Slot> from;
    std::vector<Slot> to;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!plan.state[i][rank].is_empty()) {
            from.push_back(inputs[i]);
            to.push_back(first_state + static_cast<Slot>(i));
        }
    }
    backend->move_all(from, to);
    release_values();
}

// Everything but the state.
void CellExecutor::Impl::release_values() {
    for (Slot slot = 0; slot < sizes.size(); ++slot) {
        if (slot < first_state || slot >= first_temporary) {
            release(slot);
        }
    }
}

// Rank 0 has the loss in any case.
void CellExecutor::Impl::report_loss() {
    const std::uint32_t node = program.loss_node;
    const Placement& held = plan.nodes[node].held;
    Placement wanted(held.size());
    wanted[0] = plan::whole(graph[node].shape);
    std::vector<Bytes> messages(collective.size());
    std::vector<std::uint64_t> expected(collective.size());
    const Input input{.source = Source::kNode, .index = node, .dtype = graph[node].dtype, .shape = graph[node].shape};
    Bytes value = held[rank].is_empty() ? Bytes() : take(input, held[rank]).data;
    for (const Transfer& transfer : own(transfers(held, wanted, graph[node].shape))) {
        if (transfer.from == rank) {
            messages[0] = value;
        } else {
            expected[transfer.from] = sizeof(float);
        }
    }
    const std::uint32_t tag = tag_of(works.back().item, plan::Sent::kOutput);
    for (Bytes& message : exchange(std::move(messages), expected, tag, sent_loss)) {
        if (!message.empty()) {
            value = std::move(message);
        }
    }
    settle();
    loss.reset();
    if (!value.empty()) {
        loss.emplace();
        std::memcpy(&*loss, value.data(), sizeof(float));
    }
}

CellExecutor::CellExecutor(
    const program::Program& program, plan::Plan plan, std::shared_ptr<const canonical::RowSource> rows,
    Collective& collective, const EngineOptions& options
) {
    if (!canonical::floating_point_is_canonical()) {
        throw std::runtime_error("the floating-point environment flushes denormals or does not round to nearest (NUM-3)"
        );
    }
    check_contractions(program.step, options);
    impl_ = std::make_unique<Impl>(program, std::move(plan), std::move(rows), collective, options);
}

CellExecutor::~CellExecutor() = default;

const plan::Plan& CellExecutor::plan() const { return impl_->plan; }

void CellExecutor::set_state(std::size_t index, const Tensor& block) {
    ASSERT(block.shape == impl_->plan.state[index][impl_->rank].shape());
    if (!impl_->plan.state[index][impl_->rank].is_empty()) {
        impl_->store(impl_->first_state + static_cast<Slot>(index), block);
    }
}

Tensor CellExecutor::state(std::size_t index) const {
    if (impl_->plan.state[index][impl_->rank].is_empty()) {
        return Tensor{impl_->program.state[index].type.dtype, {}, {}};
    }
    return impl_->backend->load(impl_->first_state + static_cast<Slot>(index));
}

Result<void, StepError> CellExecutor::run_step(const StepContext& context) {
    impl_->collective.begin_step(context.step);
    impl_->resume();
    const std::size_t last = impl_->works.size() - 1;
    auto next = impl_->exchanges.begin();
    for (std::size_t i = 0; i < last; ++i) {
        for (; next->after == i; ++next) {
            impl_->carry_out(*next);
        }
        impl_->run(i, context);
    }
    for (; next + 1 != impl_->exchanges.end(); ++next) {
        impl_->carry_out(*next);
    }
    impl_->report_loss();
    const bool is_finite = impl_->is_next_finite();
    if (is_finite) {
        impl_->carry_out(*next);
        impl_->move_next(impl_->bring_inputs(last));
    } else {
        impl_->release_values();
    }
    impl_->rest();
    impl_->collective.settle();
    if (!is_finite) {
        return Unexpected{StepError::kDiverged};
    }
    return {};
}

std::optional<float> CellExecutor::loss() const { return impl_->loss; }
std::chrono::nanoseconds CellExecutor::take_busy() { return std::exchange(impl_->busy, {}); }
std::uint64_t CellExecutor::peak_bytes() const { return impl_->peak; }

}  // namespace assay::engine
