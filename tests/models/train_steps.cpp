// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_directory.hpp>

/// Trains a task directory for a few steps, as a solver's engine does, without a chain.
namespace {

using namespace assay;

/// Prints the loss of each step, and returns the state after the first with the names of its tensors, without those
/// that stay what they are. A base of gigabytes is held once at a time.
artifacts::SafetensorsFile train(taskdir::BuiltTask task, std::uint64_t steps) {
    task.initial_artifact = {};
    const program::Program& program = task.program;
    const std::shared_ptr<const canonical::RowSource> rows = task.data.dataset;
    canonical::StepContext context{.seed = task.spec.seed, .step = 0, .dataset = program.dataset};
    auto before = canonical::execute_graph(program.init, context, *rows, task.initial);
    if (!before) {
        throw std::runtime_error("the initial state is not finite");
    }
    task.initial = {};
    engine::Engine engine(program.step, rows, {});
    engine.keep(program.loss_node);
    engine.set_state(before->size(), [&before](std::size_t i) { return std::exchange((*before)[i], {}); });
    const auto frozen = program::frozen_tensors(program);
    artifacts::SafetensorsFile out;
    for (; context.step < steps; ++context.step) {
        if (!engine.run_step(context)) {
            throw std::runtime_error("step " + std::to_string(context.step) + " is not finite");
        }
        if (context.step == 0) {
            for (std::size_t i = 0; i < engine.state_size(); ++i) {
                if (!frozen[i]) {
                    out.tensors.push_back({program.state[i].name, engine.tensor(i)});
                }
            }
        }
        std::cout << engine.scalar(program.loss_node) << "\n";
    }
    return out;
}

int run(const std::filesystem::path& directory, std::uint64_t steps, const std::string& out) {
    taskdir::Findings findings(taskdir::task_file_name(directory));
    auto task = taskdir::build_task(directory, findings);
    findings.throw_if_wrong();
    std::cout.precision(9);
    const Bytes file = artifacts::encode_safetensors(train(*std::move(task), steps));
    std::ofstream stream(out, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    return stream.flush() ? 0 : 1;
}

}  // namespace

/// train_steps DIRECTORY STEPS FILE: prints the loss of each step, and writes the state after the first into FILE.
int main(int argc, char** argv) {
    try {
        if (argc != 4) {
            throw std::runtime_error("usage: train_steps DIRECTORY STEPS FILE");
        }
        return run(argv[1], std::stoull(argv[2]), argv[3]);
    } catch (const std::exception& error) {
        std::cerr << "train_steps: " << error.what() << "\n";
        return 3;
    }
}
