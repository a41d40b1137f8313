// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/cell_training.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include <tools/bench/measure.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_executor.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/engine/fused/instructions.hpp>

namespace assay::bench {
namespace {

using canonical::Tensor;

class GeneratedRows final : public canonical::RowSource {
  public:
    GeneratedRows(canonical::DatasetShape shape, std::uint32_t limit) : shape_(shape), limit_(limit) {}
    canonical::DatasetShape shape() const override { return shape_; }
    Bytes row(std::uint64_t index) const override {
        Bytes out(std::size_t{shape_.width} * 4);
        std::uint64_t x = index * 0x9e3779b97f4a7c15U + 1;
        for (std::size_t i = 0; i < out.size(); i += 4) {
            x = x * 6364136223846793005U + 1442695040888963407U;
            const auto value = static_cast<std::uint32_t>((x >> 33U) % limit_);
            for (std::size_t b = 0; b < 4; ++b) {
                out[i + b] = static_cast<std::uint8_t>(value >> (8 * b));
            }
        }
        return out;
    }

  private:
    canonical::DatasetShape shape_;
    std::uint32_t limit_;
};

canonical::StepContext context_of(const program::Program& program, std::uint64_t step) {
    return {.seed = 5, .step = step, .dataset = program.dataset};
}

std::string root_of(const std::vector<Tensor>& state) { return to_hex(artifacts::state_root_of(state).view()); }

// What a rank has at the end, and what it needed.
struct RankRun {
    std::vector<Tensor> blocks;
    std::uint64_t peak = 0;
    std::uint64_t sent = 0;  // in a step
    double fastest = std::numeric_limits<double>::infinity();
};

RankRun run_rank(
    const CellTraining& training, const plan::Plan& plan, engine::Collective& collective, std::uint64_t steps
) {
    const std::vector<Tensor>& initial = training.initial;
    engine::CellExecutor executor(training.program, plan, training.rows, collective, {});
    for (std::size_t i = 0; i < initial.size(); ++i) {
        const plan::Block& block = plan.state[i][collective.rank()];
        executor.set_state(i, engine::cell::take_block(initial[i], plan::whole(initial[i].shape), block));
    }
    RankRun out;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const Stopwatch watch;
        if (!executor.run_step(context_of(training.program, step))) {
            break;
        }
        out.fastest = step > 0 ? std::min(out.fastest, watch.seconds()) : out.fastest;
    }
    for (std::size_t i = 0; i < initial.size(); ++i) {
        out.blocks.push_back(executor.state(i));
    }
    out.peak = executor.peak_bytes();
    out.sent = collective.sent_bytes() / steps;
    return out;
}

}  // namespace

CellTraining generated_training(program::Program program, std::uint32_t limit) {
    const auto rows = std::make_shared<GeneratedRows>(program.dataset, limit);
    engine::Engine init(program.init, rows, {});
    if (!init.run_step(context_of(program, 0))) {
        throw std::runtime_error("the initialisation diverges");
    }
    return {std::move(program), rows, init.take_state()};
}

NamedLayout layout_named(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    NamedLayout out{.name = std::string(text.substr(0, slash))};
    const std::string_view number = text.substr(std::min(slash + 1, text.size()));
    const auto end = std::from_chars(number.data(), number.data() + number.size(), out.ranks);
    const auto layout = plan::decode_layout(out.name, out.ranks);
    if (end.ec != std::errc{} || end.ptr != number.data() + number.size() || !layout) {
        throw std::runtime_error(
            "\"" + std::string(text) + "\" is no layout with a number of ranks that it can be made for, as in zero1/4"
        );
    }
    out.layout = *layout;
    return out;
}

CellRun run_cell(const CellTraining& training, const plan::Plan& plan, std::uint64_t steps) {
    const std::uint32_t ranks = plan.layout.ranks();
    auto collectives = engine::connect_threads(ranks);
    std::vector<RankRun> runs(ranks);
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] { runs[rank] = run_rank(training, plan, *collectives[rank], steps); });
    }
    threads.clear();
    std::vector<Tensor> state;
    for (std::size_t i = 0; i < training.initial.size(); ++i) {
        const Tensor& before = training.initial[i];
        state.push_back(canonical::make_tensor(before.dtype, before.shape));
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const plan::Block& block = plan.state[i][rank];
            if (!block.is_empty()) {
                engine::cell::write_block(state.back(), plan::whole(before.shape), block, runs[rank].blocks[i].data);
            }
        }
    }
    CellRun out{.root = root_of(state), .step_s = runs[0].fastest};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.sent_most = std::max(out.sent_most, runs[rank].sent);
        out.sent_all += runs[rank].sent;
        out.peak_most = std::max(out.peak_most, runs[rank].peak);
        out.state_most = std::max(out.state_most, plan::state_bytes(plan, training.program, rank));
    }
    return out;
}

std::string root_of_one_process(const CellTraining& training, std::uint64_t steps) {
    engine::Engine alone(training.program.step, training.rows, {});
    alone.set_state(training.initial);
    for (std::uint64_t step = 0; step < steps; ++step) {
        if (!alone.run_step(context_of(training.program, step))) {
            throw std::runtime_error("the model diverges");
        }
    }
    return root_of(alone.take_state());
}

std::string used_instructions() {
    using engine::fused::Instructions;
    const std::pair<Instructions, const char*> all[] = {
        {Instructions::kAmx, "amx"},       {Instructions::kAvx512Vnni, "avx512-vnni"},
        {Instructions::kAvx512, "avx512"}, {Instructions::kAvxVnni, "avx-vnni"},
        {Instructions::kAvx2, "avx2"},     {Instructions::kNeon, "neon"}};
    for (const auto& [set, name] : all) {
        if (engine::fused::may_use(set)) {
            return name;
        }
    }
    return "none";
}

}  // namespace assay::bench
