// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/engine/cell_runs.hpp>

#include <stdexcept>
#include <thread>

#include <tests/unit/engine/links.hpp>
#include <verifier/engine/cell/block_io.hpp>

namespace assay::test {
namespace {

using canonical::Tensor;
using engine::CellExecutor;
using engine::Collective;

// One rank's steps; its blocks of the state replace `state`.
void run_rank(
    const SmallModel& model, const plan::Plan& plan, Collective& collective, std::uint64_t first_step,
    std::uint64_t steps, std::vector<Tensor>& state, CellRun& out
) {
    const std::uint32_t rank = collective.rank();
    CellExecutor executor(model.program, plan, model.rows, collective, {.device = device_of(rank)});
    for (std::size_t i = 0; i < state.size(); ++i) {
        executor.set_state(i, engine::cell::take_block(state[i], plan::whole(state[i].shape), plan.state[i][rank]));
    }
    for (std::uint64_t step = first_step; step < first_step + steps; ++step) {
        if (!executor.run_step(model.context(step))) {
            out.has_diverged = true;
            break;
        }
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
        state[i] = executor.state(i);
    }
    out.loss = executor.loss();
    out.sent_bytes[rank] = collective.sent_bytes();
    out.peak_bytes[rank] = executor.peak_bytes();
}

}  // namespace

CellRun run_cell(
    const SmallModel& model, const plan::Layout& layout, std::vector<Tensor> state, std::uint64_t first_step,
    std::uint64_t steps
) {
    const plan::Plan plan = plan::make_plan(model.program, layout);
    const std::uint32_t ranks = layout.ranks();
    auto collectives = connect_cell(ranks);
    std::vector<std::vector<Tensor>> blocks(ranks, state);
    std::vector<CellRun> runs(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        runs[rank].sent_bytes.resize(ranks);
        runs[rank].peak_bytes.resize(ranks);
        threads.emplace_back([&, rank] {
            try {
                run_rank(model, plan, *collectives[rank], first_step, steps, blocks[rank], runs[rank]);
            } catch (const std::exception& error) {
                runs[rank].fault = error.what();
            }
            collectives[rank].reset();
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CellRun out;
    out.sent_bytes.resize(ranks);
    out.peak_bytes.resize(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.fault += runs[rank].fault;
        out.sent_bytes[rank] = runs[rank].sent_bytes[rank];
        out.peak_bytes[rank] = runs[rank].peak_bytes[rank];
        out.has_diverged = out.has_diverged || runs[rank].has_diverged;
        out.loss = runs[rank].loss ? runs[rank].loss : out.loss;
    }
    for (std::size_t i = 0; i < state.size() && out.fault.empty(); ++i) {
        const plan::Block all = plan::whole(state[i].shape);
        Tensor tensor = canonical::make_tensor(state[i].dtype, state[i].shape);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            if (!plan.state[i][rank].is_empty()) {
                engine::cell::write_block(tensor, all, plan.state[i][rank], blocks[rank][i].data);
            }
        }
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const plan::Block& block = plan.state[i][rank];
            if (!block.is_empty() && engine::cell::take_block(tensor, all, block) != blocks[rank][i]) {
                out.fault = "tensor " + std::to_string(i) + " differs on rank " + std::to_string(rank);
            }
        }
        out.state.push_back(std::move(tensor));
    }
    return out;
}

std::vector<Tensor> run_alone(const SmallModel& model, std::vector<Tensor> state, std::uint64_t steps) {
    engine::Engine engine(model.program.step, model.rows, {});
    engine.set_state(state);
    for (std::uint64_t step = 0; step < steps; ++step) {
        if (!engine.run_step(model.context(step))) {
            throw std::runtime_error("the model diverges");
        }
    }
    return engine.state();
}

}  // namespace assay::test
