// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <core/codec/borsh.hpp>
#include <tests/unit/engine/whole_outputs.hpp>
#include <tests/unit/engine/equality.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <tools/bench/canonical_models.hpp>

using namespace assay;
using namespace assay::test;
using canonical::Node;
using canonical::Source;
using canonical::Tensor;
using engine::EngineOptions;
using engine::KernelChoice;
using engine::ProductChoice;
using program::Profile;
using program::Program;

namespace {

constexpr std::uint64_t kRows = 1024;

/// What decides what a node computes of its inputs, wherever these come from.
Bytes signature_of(Node node) {
    for (canonical::Input& input : node.inputs) {
        input.source = Source::kNode;
        input.index = 0;
    }
    return codec::encode(node);
}

/// The engine with the kernels that a GPU has: there as they are, on a CPU the same text as loops.
EngineOptions with_kernels(ProductChoice products) {
    const std::string device = test_device();
    return {
        .device = device,
        .threads = 1,
        .portable = true,
        .products = products,
        .kernels = device == "cpu" ? KernelChoice::kOwn : KernelChoice::kAutomatic};
}

/// A bench model at its size, and the step that a worker on a CPU computes.
struct Model {
    Program program;
    std::shared_ptr<const canonical::RowSource> rows;
    std::vector<Tensor> initial;
    std::vector<Tensor> next;

    Model(Program made, std::uint32_t vocabulary)
        : program(std::move(made)), rows(std::make_shared<TextRows>(kRows, program.dataset.width, vocabulary)) {
        const EngineOptions host{.device = "cpu", .threads = 1};
        initial = state_after(program.init, {}, host);
        next = state_after(program.step, initial, host);
    }

    canonical::StepContext context() const { return {.seed = 11, .step = 0, .dataset = rows->shape()}; }

    std::vector<Tensor> state_after(
        const canonical::Graph& graph, const std::vector<Tensor>& state, const EngineOptions& options,
        engine::OutputObserver* observer = nullptr
    ) const {
        engine::Engine engine(graph, rows, options);
        engine.set_state(state);
        REQUIRE(engine.run_step(context(), {}, observer).has_value());
        return engine.take_state();
    }
};

/// Holds the first node with each signature to the definition, given what the engine computed before it.
class Checker {
  public:
    Checker(const Model& model, std::set<Bytes>& known) : model_(model) {
        const canonical::Graph& graph = model.program.step;
        for (std::uint32_t i = 0; i + 1 < graph.size(); ++i) {
            if (known.insert(signature_of(graph[i])).second) {
                checked_.insert(i);
                for (const canonical::Input& input : graph[i].inputs) {
                    if (input.source == Source::kNode) {
                        last_reader_[input.index] = i;
                    }
                }
            }
        }
    }

    bool operator()(std::uint32_t index, const Tensor& output) {
        const Node& node = model_.program.step[index];
        if (checked_.count(index) != 0) {
            std::vector<const Tensor*> inputs;
            for (const canonical::Input& input : node.inputs) {
                inputs.push_back(
                    input.source == Source::kState ? &model_.initial[input.index] : &outputs_.at(input.index)
                );
            }
            CAPTURE(index);
            CAPTURE(canonical::to_string(node.op));
            CHECK(output == canonical::execute_node(node, model_.context(), *model_.rows, inputs));
        }
        if (last_reader_.count(index) != 0) {
            outputs_.emplace(index, output);
        }
        for (const canonical::Input& input : node.inputs) {
            const auto last = last_reader_.find(input.index);
            if (input.source == Source::kNode && last != last_reader_.end() && last->second == index) {
                outputs_.erase(input.index);
            }
        }
        return true;
    }

    std::size_t count() const { return checked_.size(); }

  private:
    const Model& model_;
    std::set<std::uint32_t> checked_;
    std::map<std::uint32_t, std::uint32_t> last_reader_;  ///< of each output that a checked node reads
    std::map<std::uint32_t, Tensor> outputs_;
};

const std::vector<Profile> kProfiles{program::kXg21, program::kXg24, program::kXg11, program::kXg8, program::kXg7};

// All of them in the long tier and on a GPU.
std::vector<Profile> profiles_of_tier() {
    return std::getenv("ASSAY_ALL_PROFILES") != nullptr ? kProfiles : std::vector<Profile>{program::kXg11};
}

template <class Size>
void check_model(const Size& size, std::uint32_t vocabulary, const std::vector<Profile>& profiles = kProfiles) {
    std::set<Bytes> known;
    std::size_t count = 0;
    for (const Profile& profile : profiles) {
        CAPTURE(profile.precision);
        const Model model(bench::program_of(size, kRows, profile), vocabulary);
        CHECK(model.state_after(model.program.init, {}, with_kernels(ProductChoice::kResidues)) == model.initial);
        Checker checker(model, known);
        WholeOutputs observer(model.program.step, [&](std::uint32_t node, const Tensor& output) {
            return checker(node, output);
        });
        const auto watched = with_kernels(ProductChoice::kDoubles);
        CHECK(model.state_after(model.program.step, model.initial, watched, &observer) == model.next);
        for (const auto choice : {ProductChoice::kFloats, ProductChoice::kDoubles, ProductChoice::kResidues}) {
            CAPTURE(name_of(with_kernels(choice)));
            CHECK(model.state_after(model.program.step, model.initial, with_kernels(choice)) == model.next);
        }
        count += checker.count();
    }
    MESSAGE(count << " nodes that differ in operation, shapes or attributes");
    CHECK(count == known.size());
}

}  // namespace

TEST_CASE("NUM-1: kernels compute every shape of the mlp as the definition does") {
    check_model(bench::mlp_size(), 10);
}

TEST_CASE("NUM-1: kernels compute every shape of the cnn as the definition does") {
    check_model(bench::cnn_size(), 10);
}

TEST_CASE("NUM-1: kernels compute every shape of the gpt as the definition does") {
    check_model(bench::NativeGptConfig{}, 96);
}

// Two minutes of a CPU, and with all profiles five.
TEST_CASE("NUM-1: kernels compute every shape of the gpt of 10 million as the definition does") {
    if (std::getenv("ASSAY_ALL_PROFILES") == nullptr) {
        MESSAGE("only with ASSAY_ALL_PROFILES, as in the long tier");
        return;
    }
    check_model(bench::gpt10m_size(), 96, profiles_of_tier());
}

// A minute of a CPU for each profile. An image is 48 rows of the data set.
TEST_CASE("NUM-1: kernels compute every shape of resnet18 as the definition does") {
    if (std::getenv("ASSAY_ALL_PROFILES") == nullptr) {
        MESSAGE("only with ASSAY_ALL_PROFILES, as in the long tier");
        return;
    }
    check_model(bench::NativeResnetConfig{}, 1000, profiles_of_tier());
}
