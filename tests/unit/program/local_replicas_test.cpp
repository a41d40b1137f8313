// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/function_rows.hpp>
#include <tests/unit/program/model_trainer.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using canonical::Shape;
using test::Trainer;

namespace {

constexpr std::uint64_t kRows = 60;
constexpr std::uint32_t kReplicas = 3;
constexpr std::uint32_t kSteps = 2;  // of a turn

using Floats = std::vector<float>;

Program mlp(OptimizerKind kind) {
    const MlpConfig model{
        .features = 6, .hidden = {16, 12}, .classes = 3, .scale = 0.125F, .batch_size = 5, .dataset_rows = kRows};
    return build_mlp(model, test::optimizer(kind, 0.05F));
}

LocalReplicas local(SentForm sent) {
    return {.count = kReplicas, .turn_steps = kSteps, .outer_rate = 0.75F, .outer_momentum = 0.5F, .sent = sent};
}

Floats floats(const Trainer& trainer, const std::string& name) {
    const std::vector<double> values = trainer.values(name);
    return {values.begin(), values.end()};
}

void set(Trainer& trainer, const std::string& name, const Floats& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        test::set_element(trainer.state[trainer.index_of(name)], i, values[i]);
    }
}

bool is_parameter(const StateTensor& tensor) { return group_of(tensor) == StateGroup::kParameter; }

std::vector<std::string> names_of(const Program& program, bool parameters) {
    std::vector<std::string> out;
    for (const StateTensor& tensor : program.state) {
        if (is_parameter(tensor) == parameters) {
            out.push_back(tensor.name);
        }
    }
    return out;
}

using Values = std::map<std::string, Floats>;

// The plain model: replicas that share nothing but what they send, trained by the program without replicas.
class Plain {
  public:
    Plain(Program base, const canonical::RowSource& rows, const LocalReplicas& local)
        : alone_(std::move(base), rows), local_(local), own_(local.count) {
        for (const std::string& name : names_of(alone_.program, true)) {
            shared[name] = floats(alone_, name);
            momentum[name] = Floats(shared[name].size(), 0.0F);
        }
        for (Values& own : own_) {
            for (const std::string& name : names_of(alone_.program, false)) {
                own[name] = floats(alone_, name);
            }
        }
    }

    /// Trains replica `replica` in round `round` and returns by how much it moved each parameter.
    Values turn(std::uint64_t round, std::uint32_t replica) {
        for (const auto& [name, values] : shared) {
            set(alone_, name, values);
        }
        for (const auto& [name, values] : own_[replica]) {
            set(alone_, name, values);
        }
        for (std::uint32_t step = 0; step < local_.turn_steps; ++step) {
            alone_.train((round * local_.count + replica) * local_.turn_steps + step);
        }
        for (auto& [name, values] : own_[replica]) {
            values = floats(alone_, name);
        }
        Values moved;
        for (const auto& [name, values] : shared) {
            const Floats after = floats(alone_, name);
            for (std::size_t i = 0; i < after.size(); ++i) {
                moved[name].push_back(values[i] - after[i]);
            }
        }
        return moved;
    }

    void outer_step(const std::vector<Values>& sent) {
        const float share = 1.0F / static_cast<float>(local_.count);
        for (auto& [name, values] : shared) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                float sum = sent[0].at(name)[i];
                for (std::size_t replica = 1; replica < sent.size(); ++replica) {
                    sum = sum + sent[replica].at(name)[i];
                }
                const float mean = sum * share;
                float& kept = momentum[name][i];
                kept = kept * local_.outer_momentum + mean;
                const float ahead = kept * local_.outer_momentum;
                values[i] = values[i] - (mean + ahead) * local_.outer_rate;
            }
        }
    }
    const Values& own(std::uint32_t replica) const { return own_[replica]; }

    Values shared;
    Values momentum;

  private:
    Trainer alone_;
    LocalReplicas local_;
    std::vector<Values> own_;
};

void check_rounds_against_plain_loops(OptimizerKind kind) {
    const auto rows = test::labelled_rows(kRows, 6);
    const LocalReplicas replicas = local(SentForm::kWhole);
    Trainer trainer(with_local_replicas(mlp(kind), replicas).value(), rows);
    Plain plain(mlp(kind), rows, replicas);
    std::uint64_t step = 0;
    for (std::uint64_t round = 0; round < 3; ++round) {
        std::vector<Values> sent;
        for (std::uint32_t replica = 0; replica < kReplicas; ++replica) {
            sent.push_back(plain.turn(round, replica));
            if (replica + 1 == kReplicas) {
                plain.outer_step(sent);
            }
            for (std::uint32_t i = 0; i < kSteps; ++i) {
                trainer.train(step++);
            }
            for (const auto& [name, values] : plain.shared) {
                REQUIRE(floats(trainer, name) == values);
                REQUIRE(floats(trainer, "accumulated.shared." + name) == values);
                REQUIRE(
                    floats(trainer, "accumulated.sent." + std::to_string(replica) + "." + name) == sent.back().at(name)
                );
                REQUIRE(floats(trainer, "momentum.outer." + name) == plain.momentum.at(name));
            }
            for (const auto& [name, values] : plain.own(0)) {
                REQUIRE(floats(trainer, name) == values);
            }
        }
    }
}

}  // namespace

TEST_CASE("local replicas: rounds are those of plain loops over a program without replicas, bit for bit") {
    SUBCASE("Adam") { check_rounds_against_plain_loops(OptimizerKind::kAdam); }
    SUBCASE("SGD with momentum") { check_rounds_against_plain_loops(OptimizerKind::kSgdMomentum); }
    SUBCASE("SGD, which has no state") { check_rounds_against_plain_loops(OptimizerKind::kSgd); }
}

TEST_CASE(
    "local replicas: a change sent in B bits is within half a level of the change, in at most 2^B - 1 levels a row"
) {
    const auto rows = test::labelled_rows(kRows, 6);
    Trainer whole(with_local_replicas(mlp(OptimizerKind::kAdam), local(SentForm::kWhole)).value(), rows);
    LocalReplicas replicas = local(SentForm::kIntegers);
    SUBCASE("8") { replicas.bits = 8; }
    SUBCASE("4") { replicas.bits = 4; }
    const auto most = static_cast<float>(1U << (replicas.bits - 1U));
    Trainer coded(with_local_replicas(mlp(OptimizerKind::kAdam), replicas).value(), rows);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
        whole.train(step);
        coded.train(step);
    }
    for (const StateTensor& tensor : mlp(OptimizerKind::kAdam).state) {
        if (!is_parameter(tensor)) {
            continue;
        }
        const Floats change = floats(whole, "accumulated.sent.0." + tensor.name);
        const Floats sent = floats(coded, "accumulated.sent.0." + tensor.name);
        const std::size_t cols = tensor.type.shape.cols;
        for (std::size_t row = 0; row < tensor.type.shape.rows; ++row) {
            float largest = 0.0F;
            for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
                largest = std::max(largest, std::abs(change[i]));
            }
            std::set<float> levels;
            for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
                levels.insert(sent[i]);
                // Of 8 bits: a level is at most the largest power of two up to `largest` over 64; the outermost is 127.
                CHECK(std::abs(sent[i] - change[i]) <= 2.0F * largest / most);
            }
            CHECK(levels.size() <= (std::size_t{1} << replicas.bits) - 1);
        }
    }
}

TEST_CASE("local replicas: of each block the largest is sent, in five levels, and the rest is kept") {
    const auto rows = test::labelled_rows(kRows, 6);
    LocalReplicas sparse = local(SentForm::kSparse);
    sparse.block = 8;
    sparse.kept_share = 0.5F;
    Trainer trainer(with_local_replicas(mlp(OptimizerKind::kSgd), sparse).value(), rows);
    Trainer whole(with_local_replicas(mlp(OptimizerKind::kSgd), local(SentForm::kWhole)).value(), rows);
    const std::string name = "hidden2.weight";
    std::map<std::string, Floats> kept;
    const auto of = [&](const char* what, std::uint32_t replica) {
        return "accumulated." + std::string(what) + "." + std::to_string(replica) + "." + name;
    };
    for (std::uint64_t step = 0; step < std::uint64_t{2} * kReplicas * kSteps; ++step) {
        const auto replica = static_cast<std::uint32_t>(step / kSteps % kReplicas);
        // From the same shared parameters the change is that of the other program.
        for (const std::string& parameter : names_of(mlp(OptimizerKind::kSgd), true)) {
            set(whole, parameter, floats(trainer, parameter));
            set(whole, "accumulated.shared." + parameter, floats(trainer, "accumulated.shared." + parameter));
        }
        const Floats before = floats(trainer, of("kept", replica));
        trainer.train(step);
        whole.train(step);
        if (step % kSteps + 1 < kSteps) {
            continue;
        }
        const Floats change = floats(whole, of("sent", replica));
        const Floats values = floats(trainer, of("sent", replica));
        const Floats places = floats(trainer, of("place", replica));
        const Floats after = floats(trainer, of("kept", replica));
        std::set<float> magnitudes;
        for (std::size_t block = 0; block < values.size(); ++block) {
            std::size_t largest = block * 8;
            Floats sum;
            for (std::size_t i = block * 8; i < (block + 1) * 8; ++i) {
                sum.push_back(before[i] * 0.5F + change[i]);
                largest = std::abs(sum.back()) > std::abs(sum[largest - block * 8]) ? i : largest;
            }
            REQUIRE(places[block] == static_cast<float>(largest - block * 8));
            CHECK(std::signbit(values[block]) == std::signbit(sum[largest - block * 8]));
            magnitudes.insert(std::abs(values[block]));
            for (std::size_t i = 0; i < 8; ++i) {
                const bool is_sent = block * 8 + i == largest;
                REQUIRE(after[block * 8 + i] == (is_sent ? sum[i] - values[block] : sum[i]));
            }
        }
        CHECK(magnitudes.size() <= 2);
        CHECK(*magnitudes.rbegin() > 0.0F);
    }
    CHECK(fall(trainer, 240) < 0.9);
}

TEST_CASE("local replicas: step counts are a replica's own") {
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> all_counts{{1, 0}, {1, 3}, {2, 0}, {3, 2}};
    for (const auto& counts : all_counts) {
        const std::uint32_t divisor = counts.first;
        const std::uint32_t modulus = counts.second;
        CAPTURE(divisor);
        CAPTURE(modulus);
        GraphBuilder init;
        GraphBuilder step;
        const Shape one{1, 1};
        const StateTensor x{"x", {canonical::DType::kF32, one}};
        const StateTensor seen{"momentum.seen", {canonical::DType::kF32, one}};
        Program base;
        base.state = {x, seen};
        const std::vector<Value> zeros{init.fill(one, 0.0F), init.fill(one, 0.0F)};
        base.init = std::move(init).commit(zeros);
        Value count = step.step_count(divisor, modulus);
        const std::vector<Value> next{step.add(GraphBuilder::state(0, x.type), count), count};
        base.step = std::move(step).commit(next, count);
        base.loss_node = count.index;
        base.batch_size = 1;
        base.dataset = {kRows, 1};
        const test::FunctionRows rows({kRows, 1}, [](std::uint64_t, std::uint32_t) { return 0; });
        LocalReplicas replicas = local(SentForm::kWhole);
        replicas.turn_steps = 4;
        Trainer trainer(with_local_replicas(base, replicas).value(), rows);
        for (std::uint64_t s = 0; s < 36; ++s) {
            const std::uint64_t own = s / 12 * 4 + s % 4;
            const std::uint64_t replica = s / 4 % 3;
            trainer.train(s);
            const std::string name =
                replica == 0 ? "momentum.seen" : "momentum.replica." + std::to_string(replica) + ".seen";
            const std::uint64_t counted = own / divisor;
            CHECK(floats(trainer, name)[0] == static_cast<float>(modulus == 0 ? counted : counted % modulus));
        }
    }
}

TEST_CASE("local replicas: what cannot be trained so is refused") {
    const Program base = mlp(OptimizerKind::kAdam);
    const auto error = [&](auto change) {
        LocalReplicas replicas = local(SentForm::kIntegers);
        change(replicas);
        return with_local_replicas(base, replicas).error();
    };
    CHECK(error([](LocalReplicas& r) { r.count = 1; }) == LocalError::kCount);
    CHECK(error([](LocalReplicas& r) { r.count = kMaxReplicas + 1; }) == LocalError::kCount);
    CHECK(error([](LocalReplicas& r) { r.turn_steps = 0; }) == LocalError::kCount);
    CHECK(error([](LocalReplicas& r) { r.turn_steps = 1U << 23U; }) == LocalError::kCount);
    CHECK(error([](LocalReplicas& r) { r.outer_rate = -1.0F; }) == LocalError::kRate);
    CHECK(error([](LocalReplicas& r) { r.outer_momentum = 1.0F; }) == LocalError::kRate);
    CHECK(error([](LocalReplicas& r) { r.kept_share = NAN; }) == LocalError::kRate);
    CHECK(error([](LocalReplicas& r) { r.block = 0; }) == LocalError::kBlock);
    CHECK(error([](LocalReplicas& r) { r.bits = 1; }) == LocalError::kBits);
    CHECK(error([](LocalReplicas& r) { r.bits = 9; }) == LocalError::kBits);
    CHECK(error([](LocalReplicas& r) { r.count = 256; }) == LocalError::kLimits);
    const Program once = with_local_replicas(base, local(SentForm::kIntegers)).value();
    CHECK(with_local_replicas(once, local(SentForm::kIntegers)).error() == LocalError::kNames);
    Program frozen = base;
    frozen.step.back().inputs.clear();
    for (std::uint32_t i = 0; i < frozen.state.size(); ++i) {
        frozen.step.back().inputs.push_back(GraphBuilder::state(i, frozen.state[i].type));
    }
    CHECK(with_local_replicas(frozen, local(SentForm::kIntegers)).error() == LocalError::kState);
}

TEST_CASE("local replicas: bits of a round's traffic") {
    const std::vector<StateTensor> parameters{
        {"weight", {canonical::DType::kF32, {64, 128}}}, {"bias", {canonical::DType::kF32, {1, 40}}}};
    const std::uint64_t elements = 64 * 128 + 40;
    LocalReplicas replicas = local(SentForm::kWhole);
    CHECK(round_traffic(replicas, parameters).whole == 32 * elements);
    CHECK(round_traffic(replicas, parameters).packed == 32 * elements);
    replicas.sent = SentForm::kIntegers;
    CHECK(round_traffic(replicas, parameters).packed == 8 * (elements + 65 + 2));
    replicas.bits = 4;
    CHECK(round_traffic(replicas, parameters).packed == 4 * elements + 8 * (65 + 2));
    replicas.sent = SentForm::kSparse;
    // 128 blocks with 6 bits of place and a table of two magnitudes; and one block of 40 elements, whose value is a
    // word.
    CHECK(round_traffic(replicas, parameters).packed == 8 * ((2 + 8 + 32) + (2 + 96) + (1 + 4) + (2 + 1)));
}
