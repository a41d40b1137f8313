// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/engine/cell_runs.hpp>

#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>
#include <tests/unit/engine/links.hpp>
#include <verifier/engine/cell/block_io.hpp>

namespace assay::test {
namespace {

using canonical::Tensor;
using engine::CellExecutor;
using engine::Collective;

// Counts the exchanges of a rank, which dies at one of them if it has to.
class Mortal final : public Collective {
  public:
    Mortal(Collective& inner, const Death& death) : inner_(inner), death_(death) {}
    std::uint32_t rank() const override { return inner_.rank(); }
    std::uint32_t size() const override { return inner_.size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        if (rank() == death_.rank && exchanges_ >= death_.exchanges) {
            throw std::runtime_error("rank " + std::to_string(rank()) + " died; ");
        }
        ++exchanges_;
        return inner_.exchange(std::move(to), expected, tag);
    }
    void settle() override { inner_.settle(); }
    std::uint64_t exchanges() const { return exchanges_; }

  private:
    Collective& inner_;
    Death death_;
    std::uint64_t exchanges_ = 0;
};

// One rank's steps; its blocks of the state replace `state`.
void run_rank(
    const SmallModel& model, const plan::Plan& plan, Collective& collective, const Death& death,
    std::uint64_t first_step, std::uint64_t steps, std::vector<Tensor>& state, CellRun& out
) {
    const std::uint32_t rank = collective.rank();
    Mortal mortal(collective, death);
    CellExecutor executor(model.program, plan, model.rows, mortal, {.device = device_of(rank)});
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
    out.exchanges[rank] = mortal.exchanges();
}

}  // namespace

CellRun run_cell(
    const SmallModel& model, const plan::Layout& layout, std::vector<Tensor> state, std::uint64_t first_step,
    std::uint64_t steps, const Death& death
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
        runs[rank].exchanges.resize(ranks);
        threads.emplace_back([&, rank] {
            try {
                run_rank(model, plan, *collectives[rank], death, first_step, steps, blocks[rank], runs[rank]);
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
    out.exchanges.resize(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.fault += runs[rank].fault;
        out.sent_bytes[rank] = runs[rank].sent_bytes[rank];
        out.peak_bytes[rank] = runs[rank].peak_bytes[rank];
        out.exchanges[rank] = runs[rank].exchanges[rank];
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

void check_layouts(const SmallModel& model, const std::vector<plan::Layout>& layouts) {
    constexpr std::uint64_t kSteps = 2;
    const std::vector<Tensor> initial = model.initial();
    const std::vector<Tensor> expected = run_alone(model, initial, kSteps);
    for (const plan::Layout& layout : layouts) {
        const std::string name = plan::to_string(layout);
        CAPTURE(model.name);
        CAPTURE(name);
        if (layout.ranks() > linked_ranks_max()) {
            MESSAGE("left out: ", name, " needs ", layout.ranks(), " GPUs");
            continue;
        }
        const CellRun run = run_cell(model, layout, initial, 0, kSteps);
        CHECK(run.fault == std::string{});
        CHECK(run.loss.has_value());
        REQUIRE(run.state.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CAPTURE(model.program.state[i].name);
            CHECK(run.state[i] == expected[i]);
        }
    }
}

void check_layouts(const SmallModel& model, const std::vector<std::pair<const char*, std::uint32_t>>& layouts) {
    std::vector<plan::Layout> decoded;
    for (const auto& [name, ranks] : layouts) {
        const auto layout = plan::decode_layout(name, ranks);
        REQUIRE(layout.has_value());
        decoded.push_back(*layout);
    }
    check_layouts(model, decoded);
}

}  // namespace assay::test
