// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/group.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <torch/version.h>

#include <tools/bench/bench.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/measured_models.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_executor.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/engine/fused/instructions.hpp>

namespace assay::bench {
namespace {

using canonical::Tensor;
using nlohmann::json;

// Rows that a generator gives, the same for the same index.
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

struct CellRun {
    std::string root;
    std::uint64_t sent_most = 0;   ///< bytes of the rank that sends most, in a step
    std::uint64_t sent_all = 0;    ///< of all ranks
    std::uint64_t state_most = 0;  ///< bytes of the state that a rank has
    std::uint64_t peak_most = 0;   ///< bytes of the values that a rank has at once
    double step_s = 0;             ///< of the fastest step after the first; all ranks share this machine
};

canonical::StepContext context_of(const program::Program& program, std::uint64_t step) {
    return {.seed = 5, .step = step, .dataset = program.dataset};
}

std::string root_of(const std::vector<Tensor>& state) { return to_hex(artifacts::state_root_of(state).view()); }

CellRun run_cell(
    const program::Program& program, const std::shared_ptr<const canonical::RowSource>& rows, const plan::Plan& plan,
    const std::vector<Tensor>& initial, std::uint64_t steps
) {
    const std::uint32_t ranks = plan.layout.ranks();
    auto collectives = engine::connect_threads(ranks);
    std::vector<std::vector<Tensor>> blocks(ranks);
    std::vector<std::uint64_t> peaks(ranks);
    std::vector<std::uint64_t> sent(ranks);
    double fastest = std::numeric_limits<double>::infinity();
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            engine::CellExecutor executor(program, plan, rows, *collectives[rank], {});
            for (std::size_t i = 0; i < initial.size(); ++i) {
                executor.set_state(
                    i, engine::cell::take_block(initial[i], plan::whole(initial[i].shape), plan.state[i][rank])
                );
            }
            for (std::uint64_t step = 0; step < steps; ++step) {
                const Stopwatch watch;
                if (!executor.run_step(context_of(program, step))) {
                    break;  // which gives another root
                }
                fastest = rank == 0 && step > 0 ? std::min(fastest, watch.seconds()) : fastest;
            }
            for (std::size_t i = 0; i < initial.size(); ++i) {
                blocks[rank].push_back(executor.state(i));
            }
            peaks[rank] = executor.peak_bytes();
            sent[rank] = collectives[rank]->sent_bytes() / steps;
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::vector<Tensor> state;
    for (std::size_t i = 0; i < initial.size(); ++i) {
        state.push_back(canonical::make_tensor(initial[i].dtype, initial[i].shape));
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            if (!plan.state[i][rank].is_empty()) {
                engine::cell::write_block(
                    state.back(), plan::whole(initial[i].shape), plan.state[i][rank], blocks[rank][i].data
                );
            }
        }
    }
    CellRun out{.root = root_of(state), .peak_most = *std::max_element(peaks.begin(), peaks.end()), .step_s = fastest};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.sent_most = std::max(out.sent_most, sent[rank]);
        out.sent_all += sent[rank];
        out.state_most = std::max(out.state_most, plan::state_bytes(plan, program, rank));
    }
    return out;
}

// What ranks sent in a step on average, beside what the plan says, and what a ring all-reduce of the gradient in fp32
// sends: 2K(N-1)/N for K bytes.
json bytes_of(const plan::Plan& plan, const program::Program& program, const CellRun& run) {
    plan::Traffic all;
    std::uint64_t most = 0;
    const std::uint32_t ranks = std::max(plan.layout.ranks(), 1U);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const plan::Traffic traffic = plan::traffic_of(plan, program.step, rank);
        all.sums += traffic.sums;
        all.maxima += traffic.maxima;
        all.values += traffic.values;
        most = std::max(most, traffic.bytes());
    }
    const double mean = static_cast<double>(run.sent_all) / ranks;
    const double ring =
        2.0 * 4.0 * static_cast<double>(parameters_of(program)) * (plan.layout.data - 1) / plan.layout.data;
    json out{
        {"sent", run.sent_all / ranks},
        {"sent_most", run.sent_most},
        {"formula", all.bytes() / ranks},
        {"formula_most", most},
        {"sent_over_formula", mean / (static_cast<double>(all.bytes()) / ranks)},
        {"sums", all.sums / ranks},
        {"maxima", all.maxima / ranks},
        {"values", all.values / ranks}};
    if (plan.layout.data > 1 && plan.layout.tensor == 1 && plan.layout.stages == 1) {
        out["over_fp32_ring"] = mean / ring;
    }
    return out;
}

// What is reported of a layout.
json entry_of(const plan::Plan& plan, const program::Program& program, const CellRun& run) {
    const plan::Layout& layout = plan.layout;
    json out{
        {"ranks", layout.ranks()},
        {"bytes", bytes_of(plan, program, run)},
        {"state", {{"bytes", run.state_most}, {"peak_bytes", run.peak_most}}},
        {"step_s", run.step_s}};
    if (layout.micro_batches > 1) {
        const plan::Slots slots = plan::slots_of(plan, program);
        const double stages = layout.stages;
        const double micro_batches = layout.micro_batches;
        out["idle_slots"] = {
            {"counted", static_cast<double>(slots.idle) / static_cast<double>(slots.all)},
            {"formula", (stages - 1) / (micro_batches + stages - 1)}};
    }
    if (layout.tensor == 1 && layout.stages == 1) {
        const std::uint64_t formula = plan::zero_state_bytes(program, layout);
        out["state"]["formula"] = formula;
        out["state"]["over_formula"] = static_cast<double>(run.state_most) / static_cast<double>(formula);
    }
    return out;
}

std::string instructions() {
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

std::string compiler() {
#ifdef __clang__
    return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
    return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

// Rows of other builds stay, and those of this one are replaced.
void write_identity(const std::string& path, const json& rows) {
    json all = json::array();
    if (std::filesystem::exists(path)) {
        const json before = json::parse(read_file(path));
        const auto key = [](const json& row) {
            return json{row.at("model"),    row.at("plan"),     row.at("ranks"),
                        row.at("compiler"), row.at("libtorch"), row.at("instructions")};
        };
        for (const json& row : before) {
            const bool is_replaced =
                std::any_of(rows.begin(), rows.end(), [&](const json& other) { return key(other) == key(row); });
            if (!is_replaced) {
                all.push_back(row);
            }
        }
    }
    all.insert(all.end(), rows.begin(), rows.end());
    std::ofstream file(path);
    file << all.dump(1) << "\n";
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

}  // namespace

json run_group_bench(const GroupOptions& options) {
    const program::Program program = canonical_program(options.model, options.profile);
    const auto rows = std::make_shared<GeneratedRows>(program.dataset, model_named(options.model).limit);
    engine::Engine init(program.init, rows, {});
    if (!init.run_step(context_of(program, 0))) {
        throw std::runtime_error("the initialisation diverges");
    }
    const std::vector<Tensor> initial = init.take_state();
    engine::Engine alone(program.step, rows, {});
    alone.set_state(initial);
    for (std::uint64_t step = 0; step < options.steps; ++step) {
        if (!alone.run_step(context_of(program, step))) {
            throw std::runtime_error("the model diverges");
        }
    }
    const std::string expected = root_of(alone.take_state());
    json out = json::array();
    json identity = json::array();
    const auto identify = [&](const std::string& name, std::uint32_t ranks, const std::string& root) {
        identity.push_back(
            {{"model", options.model},
             {"steps", options.steps},
             {"plan", name},
             {"ranks", ranks},
             {"compiler", compiler()},
             {"libtorch", TORCH_VERSION},
             {"instructions", instructions()},
             {"sha256", root}}
        );
    };
    identify("one process", 1, expected);
    for (const std::string& text : options.layouts) {
        const std::size_t slash = text.find('/');
        const auto ranks =
            static_cast<std::uint32_t>(slash == std::string::npos ? 0 : std::stoul(text.substr(slash + 1)));
        const auto layout = plan::decode_layout(text.substr(0, slash), ranks);
        if (!layout) {
            throw std::runtime_error("\"" + text + "\" is no layout and number of ranks, as in zero1/4");
        }
        const plan::Plan plan = plan::make_plan(program, *layout);
        const CellRun run = run_cell(program, rows, plan, initial, options.steps);
        identify(text.substr(0, slash), ranks, run.root);
        json entry = entry_of(plan, program, run);
        entry["plan"] = text.substr(0, slash);
        entry["is_one_root"] = run.root == expected;
        if (options.steps == 1) {
            entry.erase("step_s");
        }
        out.push_back(std::move(entry));
    }
    if (!options.identity.empty()) {
        write_identity(options.identity, identity);
    }
    return {
        {"bench", "group"},
        {"model", options.model},
        {"profile", options.profile},
        {"parameters", parameters_of(program)},
        {"steps", options.steps},
        {"root", expected},
        {"instructions", instructions()},
        {"layouts", out}};
}

}  // namespace assay::bench
