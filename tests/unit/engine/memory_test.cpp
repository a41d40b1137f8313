// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <tests/unit/program/function_rows.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/engine/fused/planning.hpp>

namespace assay::engine {
namespace {

using program::Program;

using Rows = std::shared_ptr<const canonical::RowSource>;

/// Numbers below 10.
Rows rows_of(const Program& program) {
    return std::make_shared<test::FunctionRows>(program.dataset, [](std::uint64_t, std::uint32_t col) {
        return static_cast<std::int32_t>(col * 7 % 10);
    });
}

program::OptimizerConfig adamw() {
    program::OptimizerConfig config;
    config.kind = program::OptimizerKind::kAdamW;
    return config;
}

Program gpt(
    std::uint32_t layers, std::uint32_t heads, std::uint32_t width, std::uint32_t context, std::uint32_t batch
) {
    program::GptConfig config;
    config.vocabulary = 96;
    config.context = context;
    config.layers = layers;
    config.heads = heads;
    config.width = width;
    config.batch_size = batch;
    config.dataset_rows = 64;
    return build_gpt(config, adamw());
}

Program cnn(std::uint32_t batch) {
    program::CnnConfig config;
    config.height = 16;
    config.width = 16;
    config.filters = {32, 64};
    config.classes = 10;
    config.scale = 1.0F / 16.0F;
    config.batch_size = batch;
    config.dataset_rows = 64;
    return build_cnn(config, adamw());
}

Program mlp() {
    program::MlpConfig config;
    config.features = 256;
    config.hidden = {1024, 1024};
    config.classes = 10;
    config.scale = 1.0F / 16.0F;
    config.batch_size = 256;
    config.dataset_rows = 64;
    return build_mlp(config, adamw());
}

std::size_t of_process(const std::string& what) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(what)) {
            return std::stoul(line.substr(line.find_first_of("0123456789"))) * 1024;
        }
    }
    return 0;
}

std::vector<canonical::Tensor> initial_state(const Program& program, const Rows& rows) {
    Engine init(program.init, rows, {});
    static_cast<void>(init.run_step({.seed = 1, .step = 0, .dataset = program.dataset}));
    return init.take_state();
}

void run_steps(const Program& program, const Rows& rows, std::uint64_t memory_bytes) {
    Engine engine(program.step, rows, {.memory_bytes = memory_bytes});
    engine.keep(program.loss_node);
    engine.set_state(initial_state(program, rows));
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
    for (std::uint64_t step = 0; step < 3; ++step) {
        static_cast<void>(engine.run_step({.seed = 1, .step = step, .dataset = program.dataset}));
    }
}

/// Bytes that a few steps allocate at their peak, in this process. Pages of the program's files do not count: the
/// system takes them and brings them back as it likes.
std::size_t measure(const Program& program, std::uint64_t memory_bytes) {
    mallopt(M_MMAP_THRESHOLD, 1 << 17);  // what is freed goes back to the system, wherever the heap has it
    for (const Program& small : {gpt(1, 1, 32, 32, 1), cnn(8)}) {  // so that the engine's code is in memory
        run_steps(small, rows_of(small), 0);
    }
    const Rows rows = rows_of(program);
    initial_state(program, rows);
    malloc_trim(0);
    const std::size_t before = of_process("RssAnon:");
    run_steps(program, rows, memory_bytes);
    return of_process("VmHWM:") - of_process("RssFile:") - before;
}

/// The same in a process of its own; 0 if that fails.
std::size_t measure_apart(const Program& program, std::uint64_t memory_bytes) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const std::size_t bytes = measure(program, memory_bytes);
        const bool is_written = write(ends[1], &bytes, sizeof bytes) == sizeof bytes;
        _exit(is_written ? 0 : 1);
    }
    close(ends[1]);
    std::size_t bytes = 0;
    const bool is_read = read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return is_read ? bytes : 0;
}

fused::Plan plan_of(const Program& program, std::uint64_t memory_bytes) {
    const std::vector<canonical::TensorType> types = types_of(program.state);
    const std::vector<std::uint32_t> kept{program.loss_node};
    auto plan = fused::make_plan({.graph = program.step, .state = types, .kept = kept, .threads = 1}, memory_bytes);
    REQUIRE(plan.has_value());
    return *std::move(plan);
}

void check_memory(const std::string& name, const Program& program, std::uint64_t memory_bytes) {
    CAPTURE(name);
    CAPTURE(memory_bytes);
    const double planned = static_cast<double>(plan_of(program, memory_bytes).memory_bytes());
    // What the kernel keeps with a process varies between runs, and only adds.
    std::size_t least = measure_apart(program, memory_bytes);
    for (int again = 0; again < 3 && static_cast<double>(least) >= 1.1 * planned; ++again) {
        least = std::min(least, measure_apart(program, memory_bytes));
    }
    const double measured = static_cast<double>(least);
    CAPTURE(planned);
    CHECK(measured > 0.9 * planned);
    CHECK(measured < 1.1 * planned);
}

}  // namespace

TEST_CASE("the peak of an engine's memory is within a tenth of what its plan says, with a limit and without") {
    check_memory("gpt of 0.8 million", gpt(4, 4, 128, 64, 16), 0);
    check_memory("gpt of 10.8 million", gpt(6, 6, 384, 256, 4), 0);
    check_memory("cnn", cnn(256), 0);
    check_memory("mlp", mlp(), 0);
    const Program deep = gpt(6, 4, 256, 128, 16);
    const std::size_t least = plan_of(deep, 1).memory_bytes();
    CHECK(least < plan_of(deep, 0).memory_bytes() * 2 / 3);
    check_memory("gpt within a limit", deep, least);
}

}  // namespace assay::engine
