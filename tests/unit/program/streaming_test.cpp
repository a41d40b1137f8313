// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/function_rows.hpp>
#include <tests/unit/program/model_trainer.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using test::Trainer;

namespace {

constexpr std::uint64_t kRows = 60;
constexpr std::uint32_t kReplicas = 3;
constexpr std::uint32_t kSteps = 2;      // of a turn
constexpr std::uint32_t kFragments = 3;  // of the model below, by hand:
const std::map<std::string, std::uint32_t> kFragmentOf{
    {"hidden1.weight", 0},  // 6 times 16
    {"hidden1.bias", 1},    // 16
    {"hidden2.weight", 2},  // 16 times 12
    {"hidden2.bias", 1},    // 12, so that fragment 1 has 28
    {"output.weight", 1},   // 12 times 3: 64
    {"output.bias", 1}};

using Floats = std::vector<float>;
using Values = std::map<std::string, Floats>;

Program mlp(OptimizerKind kind) {
    const MlpConfig model{
        .features = 6, .hidden = {16, 12}, .classes = 3, .scale = 0.125F, .batch_size = 5, .dataset_rows = kRows};
    return build_mlp(model, test::optimizer(kind, 0.05F));
}

LocalReplicas streaming(std::uint32_t fragments) {
    return {
        .count = kReplicas,
        .turn_steps = kSteps,
        .outer_rate = 0.75F,
        .outer_momentum = 0.5F,
        .sent = SentForm::kWhole,
        .fragments = fragments,
        .mixing = 0.25F};
}

Floats floats(const Trainer& trainer, const std::string& name) {
    const std::vector<double> values = trainer.values(name);
    return {values.begin(), values.end()};
}

// The plain model: replicas with parameters of their own, and the exchange of one fragment after each round.
class Plain {
  public:
    Plain(Program base, const canonical::RowSource& rows) : alone_(std::move(base), rows), own_(kReplicas) {
        for (const StateTensor& tensor : alone_.program.state) {
            const Floats values = floats(alone_, tensor.name);
            for (Values& own : own_) {
                own[tensor.name] = values;
            }
            if (kFragmentOf.contains(tensor.name)) {
                shared[tensor.name] = values;
                momentum[tensor.name] = Floats(values.size(), 0.0F);
            }
        }
        REQUIRE(shared.size() == kFragmentOf.size());
    }

    void turn(std::uint64_t round, std::uint32_t replica) {
        for (const auto& [name, values] : own_[replica]) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                test::set_element(alone_.state[alone_.index_of(name)], i, values[i]);
            }
        }
        for (std::uint32_t step = 0; step < kSteps; ++step) {
            alone_.train((round * kReplicas + replica) * kSteps + step);
        }
        for (auto& [name, values] : own_[replica]) {
            values = floats(alone_, name);
        }
        for (const auto& [name, fragment] : kFragmentOf) {
            Floats& values = own_[replica][name];
            if (fragment == (round + kFragments - 1) % kFragments && round > 0) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                    values[i] = values[i] - (values[i] - shared[name][i]) * 0.75F;
                }
            } else if (fragment == round % kFragments) {
                sent_[replica][name].clear();
                for (std::size_t i = 0; i < values.size(); ++i) {
                    sent_[replica][name].push_back(shared[name][i] - values[i]);
                }
            }
        }
    }

    void end_round(std::uint64_t round) {
        for (const auto& [name, fragment] : kFragmentOf) {
            for (std::size_t i = 0; fragment == round % kFragments && i < shared[name].size(); ++i) {
                const float sum = sent_[0][name][i] + sent_[1][name][i] + sent_[2][name][i];
                const float mean = sum * (1.0F / static_cast<float>(kReplicas));
                momentum[name][i] = momentum[name][i] * 0.5F + mean;
                shared[name][i] = shared[name][i] - (mean + momentum[name][i] * 0.5F) * 0.75F;
            }
        }
    }
    const Values& own(std::uint32_t replica) const { return own_[replica]; }

    Values shared;
    Values momentum;

  private:
    Trainer alone_;
    std::vector<Values> own_;
    std::map<std::uint32_t, Values> sent_;
};

void check_fragments_against_plain_loops(OptimizerKind kind) {
    const auto rows = test::labelled_rows(kRows, 6);
    Trainer trainer(with_local_replicas(mlp(kind), streaming(kFragments)).value(), rows);
    Plain plain(mlp(kind), rows);
    std::uint64_t step = 0;
    for (std::uint64_t round = 0; round < 2 * kFragments + 1; ++round) {
        for (std::uint32_t replica = 0; replica < kReplicas; ++replica) {
            plain.turn(round, replica);
            if (replica + 1 == kReplicas) {
                plain.end_round(round);
            }
            for (std::uint32_t i = 0; i < kSteps; ++i) {
                trainer.train(step++);
            }
            for (const auto& [name, values] : plain.own(replica)) {
                const std::string own = "replica." + std::to_string(replica) + "." + name;
                if (plain.shared.contains(name)) {
                    REQUIRE(floats(trainer, "accumulated." + own) == values);
                    REQUIRE(floats(trainer, "accumulated.shared." + name) == plain.shared.at(name));
                    // The next turn begins with what the next replica has.
                    REQUIRE(floats(trainer, name) == plain.own((replica + 1) % kReplicas).at(name));
                    REQUIRE(floats(trainer, "momentum.outer." + name) == plain.momentum.at(name));
                } else if (replica == 0) {
                    REQUIRE(floats(trainer, name) == values);
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("local replicas: fragments are exchanged in turn and arrive one round later, as in plain loops, bit for bit"
) {
    SUBCASE("Adam") { check_fragments_against_plain_loops(OptimizerKind::kAdam); }
    SUBCASE("SGD with momentum") { check_fragments_against_plain_loops(OptimizerKind::kSgdMomentum); }
    SUBCASE("SGD, which has no state") { check_fragments_against_plain_loops(OptimizerKind::kSgd); }
}

TEST_CASE("local replicas: a parameter goes to the fragment that has the fewest elements so far") {
    const auto of = [](std::uint32_t rows) { return StateTensor{"x", {canonical::DType::kF32, {rows, 1}}}; };
    const std::vector<StateTensor> parameters{of(5), of(3), of(1), of(1), of(2), of(9)};
    CHECK(fragments_of(parameters, 2) == std::vector<std::uint32_t>{0, 1, 1, 1, 0, 1});
    CHECK(fragments_of(parameters, 1) == std::vector<std::uint32_t>(6, 0));
    LocalReplicas local = streaming(2);
    CHECK(round_traffic(local, parameters).packed == 32 * 21);
    CHECK(round_traffic(local, parameters).peak == 32 * 14);
    local.fragments = 1;
    CHECK(round_traffic(local, parameters).peak == 32 * 21);
}

TEST_CASE("local replicas: fragments that cannot be are refused") {
    const Program base = mlp(OptimizerKind::kAdam);
    const auto error = [&](std::uint32_t fragments, float mixing) {
        LocalReplicas local = streaming(fragments);
        local.mixing = mixing;
        return with_local_replicas(base, local).error();
    };
    CHECK(error(0, 0.5F) == LocalError::kFragments);
    CHECK(error(7, 0.5F) == LocalError::kFragments);
    CHECK(error(1U << 23U, 0.5F) == LocalError::kFragments);
    CHECK(error(2, 1.0F) == LocalError::kRate);
    CHECK(error(2, NAN) == LocalError::kRate);
    CHECK(with_local_replicas(base, streaming(6)).has_value());
}

TEST_CASE("local replicas: with fragments replicas and the shared parameters learn") {
    const auto rows = test::labelled_rows(kRows, 6);
    Trainer trainer(with_local_replicas(mlp(OptimizerKind::kAdam), streaming(2)).value(), rows);
    Trainer judge(mlp(OptimizerKind::kAdam), rows);
    const auto loss = [&](const std::string& prefix) {
        for (const auto& [name, fragment] : kFragmentOf) {
            judge.state[judge.index_of(name)] = trainer.state[trainer.index_of(prefix + name)];
        }
        return judge.loss(0);
    };
    const float before = loss("");
    for (std::uint64_t step = 0; step < 240; ++step) {
        trainer.train(step);
    }
    CHECK(loss("") < 0.9F * before);
    CHECK(loss("accumulated.shared.") < 0.9F * before);
}
