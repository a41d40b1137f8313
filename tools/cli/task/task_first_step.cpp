// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/task_first_step.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <core/canonical/executor.hpp>
#include <core/dispute/work.hpp>

namespace assay::cli {
namespace {

/// What the definition, which is slow, executes in some seconds, in multiply-adds (WRK-1).
constexpr std::uint64_t kWorkMax = 300'000'000;

float loss_of(const canonical::Tensor& output) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        word |= std::uint32_t{output.data.at(i)} << (8 * i);
    }
    return std::bit_cast<float>(word);
}

}  // namespace

void check_first_step(const taskdir::BuiltTask& task, taskdir::Findings& findings) {
    const program::Program& made = task.program;
    if (task.spec.parent) {
        return;  // it starts from a state that is not here
    }
    if (dispute::work_of(made.init) + dispute::work_of(made.step) > kWorkMax) {
        findings.note(
            "model", "is too large to try its first step here: see that its loss is finite before you pay for it"
        );
        return;
    }
    const canonical::StepContext context{.seed = task.spec.seed, .step = 0, .dataset = made.dataset};
    const auto start = canonical::execute_graph(made.init, context, *task.data.dataset, task.initial);
    if (!start) {
        findings.error("model", "the initialisation leaves values that are not finite");
        return;
    }
    float loss = 0.0F;
    const auto keep_loss = [&](std::uint32_t node, const canonical::Tensor& output) {
        loss = node == made.loss_node ? loss_of(output) : loss;
        return true;
    };
    const auto after = canonical::execute_graph(made.step, context, *task.data.dataset, *start, keep_loss);
    if (!std::isfinite(loss)) {
        findings.error(
            "model", "the loss of the first step is not finite: the training would end there, and be paid for"
        );
    } else if (!after) {
        findings.error(
            "[optimizer]",
            "the first step leaves values that are not finite: the training would end there, and be paid for"
        );
    }
}

}  // namespace assay::cli
