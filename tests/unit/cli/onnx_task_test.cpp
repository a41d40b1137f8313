// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/cli/task/task_first_step.hpp>
#include <tools/cli/task/task_lint.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <core/canonical/executor.hpp>

/// tests/vectors/onnx/make_fixtures.py: trainings that PyTorch exported, and what PyTorch made of them.
namespace assay::cli {
namespace {

using namespace taskdir;

using cli_test::TemporaryDirectory;
using cli_test::write_text;

std::filesystem::path fixture(const std::string& name) {
    return std::filesystem::path(folders::source()) / "tests" / "vectors" / "onnx" / name;
}

std::vector<float> floats_of(const canonical::Tensor& tensor) {
    std::vector<float> out(tensor.shape.element_count());
    REQUIRE(tensor.dtype == canonical::DType::kF32);
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint32_t word = 0;
        for (std::size_t b = 0; b < 4; ++b) {
            word |= std::uint32_t{tensor.data[4 * i + b]} << (8 * b);
        }
        out[i] = std::bit_cast<float>(word);
    }
    return out;
}

/// PyTorch's numbers by name: "loss.0", "gradient.NAME", "after1.NAME", "after3.NAME".
std::map<std::string, std::vector<float>> torch_numbers(const std::string& name) {
    const auto file = artifacts::decode_safetensors(as_bytes(cli_test::read_text(fixture(name) / "torch.safetensors")));
    REQUIRE(file.has_value());
    std::map<std::string, std::vector<float>> out;
    for (const artifacts::NamedTensor& named : file->tensors) {
        out.emplace(named.name, floats_of(named.tensor));
    }
    return out;
}

BuiltTask build(const std::filesystem::path& directory) {
    Findings findings(task_file_name(directory));
    auto task = build_task(directory, findings);
    findings.throw_if_wrong();
    REQUIRE(task.has_value());
    return *std::move(task);
}

/// The first three steps, by the definition of every primitive.
struct Run {
    BuiltTask task;
    std::vector<std::vector<canonical::Tensor>> states;  ///< before step 0, 1, 2 and after it
    std::vector<float> losses;

    explicit Run(const std::string& name) : task(build(fixture(name))) {
        const program::Program& program = task.program;
        canonical::StepContext context{.seed = task.spec.seed, .step = 0, .dataset = program.dataset};
        auto state = canonical::execute_graph(program.init, context, *task.data.dataset, task.initial);
        REQUIRE(state.has_value());
        states.push_back(*state);
        for (; context.step < 3; ++context.step) {
            const auto observe = [&](std::uint32_t node, const canonical::Tensor& output) {
                if (node == program.loss_node) {
                    losses.push_back(floats_of(output).at(0));
                }
                return true;
            };
            state = canonical::execute_graph(program.step, context, *task.data.dataset, states.back(), observe);
            REQUIRE(state.has_value());
            states.push_back(*state);
        }
    }

    std::vector<float> parameter(const std::string& name, std::size_t step) const {
        for (std::size_t i = 0; i < task.program.state.size(); ++i) {
            if (task.program.state[i].name == name) {
                return floats_of(states[step][i]);
            }
        }
        FAIL("no state tensor is named " << name);
        return {};
    }
};

/// The largest difference from `expected`, in units of the largest element of `scale`, or of `least` if that is larger:
/// a bias before batch normalisation has no gradient but rounding's.
double distance(
    const std::vector<float>& found, const std::vector<float>& expected, const std::vector<float>& scale, double least
) {
    REQUIRE(found.size() == expected.size());
    double worst = 0.0;
    double largest = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
        largest = std::max(largest, std::abs(static_cast<double>(scale[i])));
    }
    return worst / std::max(largest, least);
}

std::vector<float> difference(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> out;
    for (std::size_t i = 0; i < a.size(); ++i) {
        out.push_back(a[i] - b[i]);
    }
    return out;
}

/// Losses within 1e-5 of PyTorch's; every parameter's movement within `tolerance` of its largest movement.
void check_like_torch(const std::string& name, double tolerance) {
    const Run run(name);
    const auto torch = torch_numbers(name);
    for (std::size_t step = 0; step < 3; ++step) {
        CAPTURE(step);
        CHECK(run.losses.at(step) == doctest::Approx(torch.at("loss." + std::to_string(step)).at(0)).epsilon(1e-5));
    }
    std::size_t parameters = 0;
    for (const auto& [number, after] : torch) {
        const std::string& key = number;  // clang 14 captures no structured binding
        if (!key.starts_with("after")) {
            continue;
        }
        CAPTURE(key);
        const std::string parameter = key.substr(key.find('.') + 1);
        const std::size_t step = key[5] == '1' ? 1 : 3;
        const std::vector<float> start = run.parameter(parameter, 0);
        const std::vector<float> moved = difference(after, start);
        CHECK(distance(run.parameter(parameter, step), after, moved, 1e-5) < tolerance);
        ++parameters;
    }
    CHECK(parameters >= 8);
}

TEST_CASE("an exported multilayer perceptron trains as in PyTorch") { check_like_torch("mlp", 1e-4); }

TEST_CASE("an exported AdamW with decay, clipping, warm-up and cosine trains as in PyTorch") {
    check_like_torch("mlp_adamw", 1e-4);
}

TEST_CASE("an exported convolutional network with batch normalisation trains as in PyTorch") {
    check_like_torch("cnn", 1e-3);
}

TEST_CASE("an exported transformer trains as in PyTorch") { check_like_torch("gpt", 1e-3); }

TEST_CASE("gradients of exported models are PyTorch's") {
    // Plain SGD: what the first step subtracts is the gradient times the rate.
    for (const std::string name : {"cnn", "gpt"}) {
        const Run run(name);
        for (const auto& [number, gradient] : torch_numbers(name)) {
            const std::string& key = number;
            if (!key.starts_with("gradient.")) {
                continue;
            }
            CAPTURE(name);
            CAPTURE(key);
            const std::string parameter = key.substr(9);
            std::vector<float> found = difference(run.parameter(parameter, 0), run.parameter(parameter, 1));
            for (float& value : found) {
                value /= run.task.file.optimizer.learning_rate;
            }
            CHECK(distance(found, gradient, gradient, 1e-4) < 1e-3);
        }
    }
}

TEST_CASE("an exported task starts from the weights that PyTorch had") {
    const BuiltTask task = build(fixture("mlp"));
    REQUIRE(task.program.initial.size() == 6);
    REQUIRE(task.spec.initial_artifact.has_value());
    CHECK(task.spec.program.initial_root == artifacts::state_root_of(task.initial));
    const auto decoded = artifacts::decode_initial(task.program, task.initial_artifact);
    REQUIRE(decoded.has_value());
    CHECK(*decoded == task.initial);
}

TEST_CASE("exported tasks have no findings above notes, and packing puts all three artifacts into the store") {
    for (const std::string name : {"mlp", "mlp_adamw", "cnn", "gpt"}) {
        CAPTURE(name);
        const Findings findings = lint_task(fixture(name));
        CAPTURE(findings_text(findings));
        CHECK(findings.count(Severity::kError) == 0);
        CHECK(findings.count(Severity::kWarning) == 0);
        const TemporaryDirectory directory;
        artifacts::ContentStore store(directory.path() / "store");
        const contracts::TaskSpec spec = pack_task(fixture(name), store, "http://127.0.0.1:4000");
        CHECK(store.has(spec.program_artifact.sha256));
        CHECK(store.has(spec.dataset_artifact.sha256));
        REQUIRE(spec.initial_artifact.has_value());
        CHECK(store.has(spec.initial_artifact->sha256));
        CHECK(spec.initial_artifact->location == "http://127.0.0.1:4000");
    }
}

/// A copy of the mlp fixture with part of its task.toml replaced.
struct Altered {
    TemporaryDirectory directory;

    Altered(const std::string& from, const std::string& to) {
        for (const char* file : {"program.onnx", "dataset.safetensors"}) {
            std::filesystem::copy_file(fixture("mlp") / file, directory.path() / file);
        }
        std::string toml = cli_test::read_text(fixture("mlp") / "task.toml");
        const std::size_t at = toml.find(from);
        REQUIRE(at != std::string::npos);
        write_text(directory.path() / "task.toml", toml.replace(at, from.size(), to));
    }
    void check_refused(const std::string& part) const {
        const Findings findings = lint_task(directory.path());
        CHECK(findings.has_errors());
        CHECK(findings_text(findings).find(part) != std::string::npos);
        CAPTURE(findings_text(findings));
    }
};

TEST_CASE("an ONNX task that does not fit its model or data is refused") {
    Altered("batch_size = 24", "batch_size = 25").check_refused("program.onnx");
    Altered("columns = [\"inputs\", \"targets\"]", "columns = [\"inputs\"]").check_refused("rows have 12 values");
    Altered("columns = [\"inputs\", \"targets\"]", "columns = [\"inputs\", \"labels\"]")
        .check_refused("no tensor \"labels\"");
    Altered("file = \"program.onnx\"", "file = \"model.onnx\"").check_refused("cannot read");
    Altered("file = \"program.onnx\"", "file = \"dataset.safetensors\"").check_refused("dataset.safetensors: ");
    Altered("loss = \"loss\"", "loss = \"lost\"").check_refused("lost");
    Altered("[optimizer]", "[replicas]\ncount = 2\n[optimizer]").check_refused("not for ONNX files");
    Altered("batch_size = 24", "batch_size = 24\nfrozen = [\"0.weigth\"]").check_refused("0.weigth");
    Altered("batch_size = 24", "batch_size = 24\ndecayed = [\"0.weigth\"]").check_refused("0.weigth");
    Altered("batch_size = 24", "batch_size = 24\nrates = {\"0.weigth\" = 2}").check_refused("0.weigth");
    Altered("batch_size = 24", "batch_size = 24\nrates = {\"0.weight\" = -1}")
        .check_refused("[model.rates] 0.weight: must be a number");
}

TEST_CASE("a frozen parameter stays what it is") {
    const Altered frozen("batch_size = 24", "batch_size = 24\nfrozen = [\"0.weight\"]");
    const BuiltTask task = build(frozen.directory.path());
    const BuiltTask whole = build(fixture("mlp"));
    CHECK(task.program.state.size() < whole.program.state.size());
    const auto frozen_of = [](const BuiltTask& built) {
        const auto places = program::frozen_tensors(built.program);
        return std::count_if(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
    };
    CHECK(frozen_of(task) == 1);
    CHECK(frozen_of(whole) == 0);
    CHECK(findings_text(lint_task(frozen.directory.path())).find("0 errors") != std::string::npos);
}

/// The state after the first step of an altered fixture, by name.
std::map<std::string, std::vector<float>> after_step(const Altered& altered) {
    const BuiltTask task = build(altered.directory.path());
    const canonical::StepContext context{.seed = task.spec.seed, .step = 0, .dataset = task.program.dataset};
    const auto before = canonical::execute_graph(task.program.init, context, *task.data.dataset, task.initial);
    REQUIRE(before.has_value());
    const auto after = canonical::execute_graph(task.program.step, context, *task.data.dataset, *before);
    REQUIRE(after.has_value());
    std::map<std::string, std::vector<float>> out;
    for (std::size_t i = 0; i < after->size(); ++i) {
        out[task.program.state[i].name] = floats_of((*after)[i]);
        out["before." + task.program.state[i].name] = floats_of((*before)[i]);
    }
    return out;
}

TEST_CASE("single parameters have learning rates of their own") {
    auto usual = after_step(Altered("batch_size = 24", "batch_size = 24"));
    auto altered =
        after_step(Altered("batch_size = 24", "batch_size = 24\nrates = {\"0.weight\" = 0, \"2.bias\" = 2.0}"));
    CHECK(altered["0.weight"] == altered["before.0.weight"]);
    CHECK(altered["2.weight"] == usual["2.weight"]);
    const std::vector<float> twice = difference(altered["2.bias"], altered["before.2.bias"]);
    const std::vector<float> once = difference(usual["2.bias"], usual["before.2.bias"]);
    for (std::size_t i = 0; i < once.size(); ++i) {
        CHECK(twice[i] == doctest::Approx(2.0F * once[i]).epsilon(1e-4));
    }
}

TEST_CASE("weight decay applies to the parameters that are named, or else to matrices") {
    const std::string from = "momentum = 0.9";
    auto usual = after_step(Altered(from, from));
    auto matrices = after_step(Altered(from, from + "\nweight_decay = 0.5"));
    auto named = after_step(Altered(
        "batch_size = 24\n\n[optimizer]\n", "batch_size = 24\ndecayed = [\"2.bias\"]\n[optimizer]\nweight_decay = 0.5\n"
    ));
    CHECK(matrices["2.bias"] == usual["2.bias"]);
    CHECK(matrices["2.weight"] != usual["2.weight"]);
    CHECK(named["2.bias"] != usual["2.bias"]);
    CHECK(named["2.weight"] == usual["2.weight"]);
}

TEST_CASE("a task that diverges before or at its first step is an error, and one that does not is none") {
    const auto found = [](BuiltTask task, std::optional<float> value) {
        for (canonical::Tensor& tensor : task.initial) {
            for (std::size_t at = 0; value && at < tensor.data.size(); ++at) {
                tensor.data[at] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(*value) >> (8 * (at % 4)));
            }
        }
        Findings findings("task.toml");
        check_first_step(task, findings);
        return findings;
    };
    const BuiltTask task = build(fixture("mlp_adamw"));
    REQUIRE(!task.initial.empty());
    CHECK(found(task, std::nullopt).all().empty());
    const Findings start = found(task, INFINITY);
    REQUIRE(start.has_errors());
    CHECK(start.all().back().message == "the initialisation leaves values that are not finite");
    // Finite, but the second layer's sums are not.
    const Findings step = found(task, 3e38F);
    REQUIRE(step.has_errors());
    CHECK(step.all().back().message.find("step") != std::string::npos);
}

}  // namespace
}  // namespace assay::cli
