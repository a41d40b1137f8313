// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <core/canonical/executor.hpp>
#include <tests/unit/program/function_rows.hpp>
#include <tests/unit/program/model_trainer.hpp>
#include <verifier/compile/program/boundary.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using test::Trainer;

namespace {

constexpr std::uint32_t kFeatures = 5;
constexpr std::uint32_t kWidth = 32;  // of the layer before the boundary
constexpr std::uint32_t kClasses = 3;
constexpr std::uint32_t kBatch = 4;
constexpr std::uint64_t kRows = 12;
constexpr double kRate = 0.125;
constexpr const char* kTable = "accumulated.activation.hidden1";

std::int32_t feature(std::uint64_t row, std::uint32_t col) {
    return static_cast<std::int32_t>((row * 7 + std::uint64_t{col} * 5 + row * col) % 11) - 5;
}
std::int32_t class_of(std::uint64_t row) { return static_cast<std::int32_t>(row % kClasses); }

test::FunctionRows numbered_rows() {
    return test::FunctionRows({kRows, kFeatures + 2}, [](std::uint64_t row, std::uint32_t col) {
        return col < kFeatures ? feature(row, col) : col == kFeatures ? class_of(row) : static_cast<std::int32_t>(row);
    });
}

MlpConfig config(std::uint32_t bits, std::uint32_t gradient_bits) {
    return {
        .features = kFeatures,
        .hidden = {kWidth},
        .classes = kClasses,
        .scale = 0.25F,
        .batch_size = kBatch,
        .dataset_rows = kRows,
        .profile = kXg24,
        .boundary = {.after = 1, .bits = bits, .gradient_bits = gradient_bits}};
}

Trainer make_trainer(std::uint32_t bits, std::uint32_t gradient_bits, const canonical::RowSource& rows) {
    return {
        build_mlp(config(bits, gradient_bits), test::optimizer(OptimizerKind::kSgd, static_cast<float>(kRate))), rows};
}

using Numbers = std::vector<double>;

// Integers below 2^(bits - 1) times the power of two with which the largest is below 2^(bits - 1), to even.
Numbers rounded(const Numbers& row, std::uint32_t bits) {
    double largest = 0.0;
    for (const double x : row) {
        largest = std::max(largest, std::abs(x));
    }
    if (largest == 0.0) {
        return row;
    }
    const double level = std::ldexp(1.0, std::ilogb(largest) + 2 - static_cast<int>(bits));
    const double most = std::ldexp(1.0, static_cast<int>(bits) - 1) - 1.0;
    Numbers out;
    for (const double x : row) {
        out.push_back(std::clamp(std::nearbyint(x / level), -most, most) * level);
    }
    return out;
}

// The plain model: two layers in doubles, and what both sides of the boundary know of each row.
struct PlainLayers {
    explicit PlainLayers(const Trainer& trainer)
        : first(trainer.values("hidden1.weight")),
          first_bias(trainer.values("hidden1.bias")),
          second(trainer.values("output.weight")),
          second_bias(trainer.values("output.bias")),
          known(kRows, Numbers(kWidth, 0.0)) {}

    Numbers layer(std::uint64_t row) const {
        Numbers out;
        for (std::uint32_t i = 0; i < kWidth; ++i) {
            double sum = first_bias[i];
            for (std::uint32_t k = 0; k < kFeatures; ++k) {
                sum += first[i * kFeatures + k] * feature(row, k) * 0.25;
            }
            out.push_back(std::max(sum, 0.0));
        }
        return out;
    }

    /// The gradient of the loss of one row in the second layer's outputs.
    Numbers output_gradient(std::uint64_t row, const Numbers& arrived) const {
        Numbers powers;
        double total = 0.0;
        for (std::uint32_t c = 0; c < kClasses; ++c) {
            double sum = second_bias[c];
            for (std::uint32_t i = 0; i < kWidth; ++i) {
                sum += second[c * kWidth + i] * arrived[i];
            }
            powers.push_back(std::exp(sum));
            total += powers.back();
        }
        for (std::uint32_t c = 0; c < kClasses; ++c) {
            powers[c] = (powers[c] / total - (class_of(row) == static_cast<std::int32_t>(c) ? 1.0 : 0.0)) / kBatch;
        }
        return powers;
    }

    void train(const std::vector<std::uint64_t>& batch, std::uint32_t bits, std::uint32_t gradient_bits) {
        const PlainLayers before = *this;
        for (const std::uint64_t row : batch) {
            const Numbers made = before.layer(row);
            const bool is_new = std::all_of(known[row].begin(), known[row].end(), [](double x) { return x == 0.0; });
            Numbers change;
            for (std::uint32_t i = 0; i < kWidth; ++i) {
                change.push_back(made[i] - known[row][i]);
            }
            change = is_new ? change : rounded(change, bits);
            for (std::uint32_t i = 0; i < kWidth; ++i) {
                known[row][i] += change[i];
            }
            const Numbers at_output = before.output_gradient(row, known[row]);
            Numbers back(kWidth, 0.0);
            for (std::uint32_t c = 0; c < kClasses; ++c) {
                second_bias[c] -= kRate * at_output[c];
                for (std::uint32_t i = 0; i < kWidth; ++i) {
                    second[c * kWidth + i] -= kRate * at_output[c] * known[row][i];
                    back[i] += before.second[c * kWidth + i] * at_output[c];
                }
            }
            back = rounded(back, gradient_bits);
            for (std::uint32_t i = 0; i < kWidth; ++i) {
                const double gradient = made[i] > 0.0 ? back[i] : 0.0;
                first_bias[i] -= kRate * gradient;
                for (std::uint32_t k = 0; k < kFeatures; ++k) {
                    first[i * kFeatures + k] -= kRate * gradient * feature(row, k) * 0.25;
                }
            }
        }
    }

    Numbers first, first_bias, second, second_bias;
    std::vector<Numbers> known;
};

double distance(const Numbers& a, const Numbers& b) {
    REQUIRE(a.size() == b.size());
    double most = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        most = std::max(most, std::abs(a[i] - b[i]));
    }
    return most;
}

Numbers row_of_table(const Trainer& trainer, std::uint64_t row) {
    const std::vector<double> table = trainer.values(kTable);
    const auto begin = table.begin() + static_cast<std::ptrdiff_t>(row * kWidth);
    return {begin, begin + kWidth};
}

std::vector<std::uint64_t> batch_of(const Trainer& trainer, std::uint64_t step) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; i < kBatch; ++i) {
        out.push_back(canonical::batch_row(trainer.context(step).seed, step * kBatch + i, kRows));
    }
    return out;
}

void check_against_plain_layers(std::uint32_t bits, std::uint32_t gradient_bits) {
    const auto rows = numbered_rows();
    Trainer trainer = make_trainer(bits, gradient_bits, rows);
    PlainLayers plain(trainer);
    for (std::uint64_t step = 0; step < 15; ++step) {
        CAPTURE(step);
        const auto batch = batch_of(trainer, step);
        plain.train(batch, bits, gradient_bits);
        trainer.train(step);
        for (const std::uint64_t row : batch) {
            REQUIRE(distance(row_of_table(trainer, row), plain.known[row]) < 1e-5);
        }
        REQUIRE(distance(trainer.values("hidden1.weight"), plain.first) < 1e-5);
        REQUIRE(distance(trainer.values("hidden1.bias"), plain.first_bias) < 1e-5);
        REQUIRE(distance(trainer.values("output.weight"), plain.second) < 1e-5);
        REQUIRE(distance(trainer.values("output.bias"), plain.second_bias) < 1e-5);
    }
}

}  // namespace

TEST_CASE("boundary: training is that of plain layers with a table of what crossed, whatever the bits") {
    check_against_plain_layers(2, 4);
    check_against_plain_layers(3, 8);
    check_against_plain_layers(4, 8);
}

TEST_CASE("boundary: a known row changes by few levels, and other rows stay") {
    const auto rows = numbered_rows();
    Trainer trainer = make_trainer(3, 8, rows);
    for (std::uint64_t step = 0; step < 9; ++step) {
        const auto batch = batch_of(trainer, step);
        std::vector<Numbers> before;
        for (std::uint64_t row = 0; row < kRows; ++row) {
            before.push_back(row_of_table(trainer, row));
        }
        trainer.train(step);
        for (std::uint64_t row = 0; row < kRows; ++row) {
            const Numbers after = row_of_table(trainer, row);
            if (std::find(batch.begin(), batch.end(), row) == batch.end()) {
                CHECK(after == before[row]);
            } else if (step >= kRows / kBatch) {
                std::set<long> levels;  // of 2^-16, which the sums' last places are far below
                for (std::uint32_t i = 0; i < kWidth; ++i) {
                    levels.insert(std::lround((after[i] - before[row][i]) * 0x1p16));
                }
                CHECK(levels.size() <= 7);
            }
        }
    }
}

TEST_CASE("boundary: of a row that no table knows everything arrives") {
    const auto rows = numbered_rows();
    const test::FunctionRows unknown({kRows, kFeatures + 2}, [](std::uint64_t row, std::uint32_t col) {
        return col < kFeatures ? feature(row, col) : col == kFeatures ? class_of(row) : -1;
    });
    Trainer trainer = make_trainer(2, 2, rows);
    for (std::uint64_t step = 0; step < 8; ++step) {
        trainer.train(step);
    }
    MlpConfig without = config(2, 2);
    without.boundary = {};
    const test::FunctionRows plain_rows({kRows, kFeatures + 1}, [](std::uint64_t row, std::uint32_t col) {
        return col < kFeatures ? feature(row, col) : class_of(row);
    });
    Trainer plain(build_mlp(without, test::optimizer(OptimizerKind::kSgd, 0.125F)), plain_rows);
    Trainer judge(trainer.program, unknown);
    judge.state = trainer.state;
    for (const std::string name : {"hidden1.weight", "hidden1.bias", "output.weight", "output.bias"}) {
        plain.state[plain.index_of(name)] = trainer.state[trainer.index_of(name)];
    }
    CHECK(judge.loss(3) == plain.loss(3));
    CHECK(trainer.loss(3) != plain.loss(3));
}

TEST_CASE("boundary: what cannot be is refused, and what crosses is counted") {
    const auto error = [](auto change) {
        MlpConfig model = config(4, 8);
        OptimizerConfig optimizer;
        change(model, optimizer);
        return check_model(model, optimizer).error();
    };
    CHECK(check_model(config(4, 8), {}).has_value());
    CHECK(error([](MlpConfig& m, OptimizerConfig&) { m.boundary.after = 2; }) == ModelError::kBoundary);
    CHECK(error([](MlpConfig& m, OptimizerConfig&) { m.boundary.bits = 1; }) == ModelError::kBoundary);
    CHECK(error([](MlpConfig& m, OptimizerConfig&) { m.boundary.gradient_bits = 25; }) == ModelError::kBoundary);
    CHECK(error([](MlpConfig& m, OptimizerConfig&) { m.hidden = {33}; }) == ModelError::kBoundary);
    CHECK(error([](MlpConfig& m, OptimizerConfig&) { m.dataset_rows = (1U << 24U) + 1; }) == ModelError::kBoundary);
    CHECK(error([](MlpConfig&, OptimizerConfig& o) { o.replicas.count = 2; }) == ModelError::kBoundary);
    const BoundaryTraffic traffic = boundary_traffic({.after = 1, .bits = 3, .gradient_bits = 8}, 64);
    CHECK(traffic.first == 32 * 64);
    CHECK(traffic.forward == 3 * 64 + 8);
    CHECK(traffic.back == 8 * 64 + 8);
}
