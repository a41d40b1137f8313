// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <tests/unit/folders.hpp>
#include <tests/unit/onnx/run_model.hpp>
#include <core/canonical/executor.hpp>

using namespace assay;
using namespace assay::onnx;
using canonical::Tensor;

// data/export.py made the models and has torch's word on them.
namespace {

const std::string kFolder = folders::source() + "/tests/unit/onnx/data/";
constexpr std::uint32_t kBatch = 4;

// The formulas of export.py.
float number(std::size_t i) { return static_cast<float>(static_cast<int>((i * 37 + 11) % 129) - 64) / 64.0F; }
std::int32_t integer(std::size_t i, std::uint32_t below) { return static_cast<std::int32_t>((i * 7 + 3) % 31 % below); }

class Rows : public canonical::RowSource {
  public:
    explicit Rows(std::vector<Bytes> rows) : rows_(std::move(rows)) {}
    canonical::DatasetShape shape() const override {
        return {rows_.size(), static_cast<std::uint32_t>(rows_[0].size() / 4)};
    }
    Bytes row(std::uint64_t index) const override { return rows_.at(index); }

  private:
    std::vector<Bytes> rows_;
};

template <class T>
void add(Bytes& row, T value) {
    row.resize(row.size() + 4);
    std::memcpy(row.data() + row.size() - 4, &value, 4);
}

Rows token_rows() {
    std::vector<Bytes> rows(kBatch);
    for (std::size_t r = 0; r < kBatch; ++r) {
        for (std::size_t i = 0; i < 12; ++i) {
            add(rows[r], integer(r * 6 + i % 6 + i / 6, 17));
        }
    }
    return Rows(std::move(rows));
}

Rows sequence_rows() {
    std::vector<Bytes> rows(kBatch);
    for (std::size_t r = 0; r < kBatch; ++r) {
        for (std::size_t i = 0; i < 7; ++i) {
            add(rows[r], integer(r * 7 + i, 13));
        }
        add(rows[r], integer(r, 13));
    }
    return Rows(std::move(rows));
}

Rows image_rows() {
    std::vector<Bytes> rows(kBatch);
    for (std::size_t r = 0; r < kBatch; ++r) {
        for (std::size_t i = 0; i < 128; ++i) {
            add(rows[r], number(r * 128 + i));
        }
        add(rows[r], integer(r, 5));
    }
    return Rows(std::move(rows));
}

struct Gradient {
    double product = 0.0;
    double norm = 0.0;
};

Gradient gradient_of(const Tensor& tensor) {
    Gradient out;
    for (std::size_t i = 0; i < tensor.shape.element_count(); ++i) {
        const double g = assay::onnx::test::element(tensor, i);
        out.product += g * static_cast<double>(number(i));
        out.norm += g * g;
    }
    out.norm = std::sqrt(out.norm);
    return out;
}

std::size_t count_of(const canonical::Graph& graph, canonical::Op op) {
    return static_cast<std::size_t>(std::count_if(graph.begin(), graph.end(), [op](const canonical::Node& node) {
        return node.op == op;
    }));
}

TrainingImport import_file(const std::string& name) {
    std::ifstream file(kFolder + name + ".onnx", std::ios::binary);
    REQUIRE(file.good());
    const Bytes model(std::istreambuf_iterator<char>(file), {});
    TrainingConfig config;
    config.batch_size = kBatch;
    config.dataset_rows = kBatch;
    config.profile = program::kXg24;
    config.optimizer.kind = program::OptimizerKind::kSgdMomentum;
    auto imported = import_training(model, config);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
    return *std::move(imported);
}

// One step with a momentum that starts from zero, and so ends as the gradient.
void check_against_torch(const std::string& name, const Rows& rows) {
    const TrainingImport imported = import_file(name);
    const canonical::StepContext context{.seed = 1, .step = 0, .dataset = rows.shape()};
    REQUIRE(imported.program.dataset == rows.shape());
    const auto state = canonical::execute_graph(imported.program.init, context, rows, imported.initial);
    REQUIRE(state.has_value());
    float loss = 0.0F;
    const auto next = canonical::execute_graph(
        imported.program.step, context, rows, *state,
        [&](std::uint32_t node, const Tensor& output) {
            if (node == imported.program.loss_node) {
                std::memcpy(&loss, output.data.data(), sizeof loss);
            }
            return true;
        }
    );
    REQUIRE(next.has_value());
    std::map<std::string, Gradient> gradients;
    for (std::size_t i = 0; i < next->size(); ++i) {
        gradients[imported.program.state[i].name] = gradient_of((*next)[i]);
    }
    std::ifstream expected(kFolder + name + ".txt");
    std::string parameter;
    double value = 0.0;
    expected >> parameter >> value;
    REQUIRE(parameter == "loss");
    CHECK(std::abs(static_cast<double>(loss) - value) < 1e-5 * value);
    Gradient wanted;
    std::size_t compared = 0;
    while (expected >> parameter >> wanted.product >> wanted.norm) {
        CAPTURE(parameter);
        REQUIRE(gradients.contains("momentum." + parameter));
        const Gradient& got = gradients["momentum." + parameter];
        CHECK(std::abs(got.norm - wanted.norm) < 1e-4 * wanted.norm + 1e-6);
        CHECK(std::abs(got.product - wanted.product) < 1e-4 * wanted.norm + 1e-6);
        ++compared;
    }
    CHECK(compared >= 12);
}

}  // namespace

TEST_CASE("a transformer that torch exported has torch's loss and gradients") {
    check_against_torch("gpt", token_rows());
}

TEST_CASE("a convolutional network that torch exported has torch's loss and gradients") {
    check_against_torch("cnn", image_rows());
}

TEST_CASE("a recurrent network that torch exported has torch's loss and gradients") {
    check_against_torch("rnn", sequence_rows());
}

// torch keeps the mask as a buffer and compares it with zero in every step.
TEST_CASE("a mask that torch exported as a tensor becomes a primitive") {
    const TrainingImport imported = import_file("gpt");
    CHECK(count_of(imported.program.step, canonical::Op::kCausalMask) == 4);  // two layers, forward and backward
    for (const program::StateTensor& tensor : imported.program.state) {
        CHECK(tensor.name.find("mask") == std::string::npos);
    }
    const std::string note = "initializer 'blocks.0.mask' is a constant: no gradient reaches it";
    CHECK(std::count(imported.notes.begin(), imported.notes.end(), note) == 1);
}
