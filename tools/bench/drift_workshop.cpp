// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/rows_file.hpp>
#include <tools/bench/drift.hpp>

#include <cmath>
#include <map>
#include <stdexcept>

#include <tools/bench/bench.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/engine/native/native_engine.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/models.hpp>

namespace assay::bench {
namespace {

using canonical::StepContext;

// The same for every segment, as a task's has to be (TOL-7).
constexpr std::uint64_t kMeasuringSeed = 0x5eed;

program::OptimizerConfig optimizer_of(const DriftOptions& options) {
    program::OptimizerConfig config;
    if (options.optimizer == "momentum") {
        config.kind = program::OptimizerKind::kSgdMomentum;
        config.learning_rate = 0.01F;
        return config;
    }
    config.kind = program::OptimizerKind::kAdamW;
    config.learning_rate = 1e-3F;
    config.epsilon = options.epsilon;
    config.weight_decay = 0.01F;
    return config;
}

// Rows as a step of native training gets them. A dataset only knows an index, so each batch is prepared.
class BatchRows final : public canonical::RowSource {
  public:
    BatchRows(std::shared_ptr<const canonical::RowSource> rows, std::uint32_t batch)
        : rows_(std::move(rows)), batch_(batch) {}

    canonical::DatasetShape shape() const override { return rows_->shape(); }

    Bytes row(std::uint64_t index) const override {
        if (kind_ == RowsKind::kScrambled) {
            scrambled_.push_back(scramble(index));
            return scrambled_.back();
        }
        const auto found = instead_.find(index);
        return rows_->row(found == instead_.end() ? index : found->second);
    }

    void prepare(RowsKind kind, const StepContext& context) {
        kind_ = kind;
        scrambled_.clear();
        scrambled_.reserve(batch_);
        instead_.clear();
        if (kind == RowsKind::kGiven || kind == RowsKind::kScrambled) {
            return;
        }
        std::vector<std::uint64_t> indices;
        for (std::uint64_t r = 0; r < batch_; ++r) {
            indices.push_back(canonical::batch_row(context.seed, context.step * batch_ + r, context.dataset.rows));
        }
        for (std::uint32_t r = 0; r < batch_; ++r) {
            instead_[indices[r]] = indices[kind == RowsKind::kReversed ? batch_ - 1 - r : r % kept(kind)];
        }
        // Across the end of an epoch a row may be twice in a batch; backwards it would be another batch.
        if (kind == RowsKind::kReversed && instead_.size() < batch_) {
            instead_.clear();
        }
    }

  private:
    /// How many rows of a batch are computed; the first of them stand for the others too.
    std::uint32_t kept(RowsKind kind) const {
        return std::max(kind == RowsKind::kHalf ? batch_ / 2 : batch_ - std::max(batch_ / 16, 1U), 1U);
    }
    Bytes scramble(std::uint64_t index) const {
        const std::uint64_t count = rows_->shape().rows;
        Bytes out;
        for (std::uint32_t j = 0; j < rows_->shape().width; ++j) {
            const Bytes row = rows_->row((index * 7919 + std::uint64_t{j} * 104'729 + 17) % count);
            const ByteView value = ByteView(row).subspan(std::size_t{j} * 4, 4);
            out.insert(out.end(), value.begin(), value.end());
        }
        return out;
    }

    std::shared_ptr<const canonical::RowSource> rows_;
    std::uint32_t batch_;
    RowsKind kind_ = RowsKind::kGiven;
    std::map<std::uint64_t, std::uint64_t> instead_;
    mutable std::vector<Bytes> scrambled_;
};

class NoRows final : public canonical::RowSource {
  public:
    canonical::DatasetShape shape() const override { return {1, 1}; }
    Bytes row(std::uint64_t) const override { return row_; }

  private:
    Bytes row_ = Bytes(4, 0);
};

template <class Engine>
State advance(Engine& engine, const State& state, const StepContext& first, std::uint64_t steps, const auto& before) {
    engine.set_state(state);
    for (std::uint64_t i = 0; i < steps; ++i) {
        const StepContext context{.seed = first.seed, .step = first.step + i, .dataset = first.dataset};
        before(context);
        if (!engine.run_step(context)) {
            throw std::runtime_error("training has diverged at step " + std::to_string(context.step));
        }
    }
    return engine.state();
}

}  // namespace

DriftTask make_drift_task(const DriftOptions& options) {
    if (options.model.starts_with("gpt")) {
        program::GptConfig config;
        config.context = 32;
        config.layers = 1;
        config.heads = 2;
        config.width = 64;
        config.rotary = options.model == "gpt-rotary";
        config.tied_head = false;
        config.batch_size = 4;
        artifacts::TextDataset text = read_text(options.text, config.context);
        config.vocabulary = text.vocabulary_size;
        const auto rows = std::make_shared<const artifacts::Dataset>(std::move(text.dataset));
        config.dataset_rows = rows->shape().rows;
        return {rows, build_gpt(config, optimizer_of(options))};
    }
    const auto rows = read_rows(options.digits);
    const std::uint64_t count = rows->shape().rows;
    if (options.model == "mlp") {
        program::MlpConfig config;
        config.features = 64;
        config.hidden = {64, 64};
        config.classes = 10;
        config.scale = 1.0F / 16.0F;
        config.batch_size = 64;
        config.dataset_rows = count;
        return {rows, build_mlp(config, optimizer_of(options))};
    }
    program::CnnConfig config;
    config.filters = {8, 16};
    config.scale = 1.0F / 16.0F;
    config.batch_size = 32;
    config.dataset_rows = count;
    return {rows, build_cnn(config, optimizer_of(options))};
}

struct Workshop::Impl {
    explicit Impl(const DriftOptions& options)
        : task(make_drift_task(options)),
          measuring(program::build_distance_program(task.program.state).value()),
          batches(std::make_shared<BatchRows>(task.rows, task.program.batch_size)),
          native(task.program.step, batches, native_options(options)),
          canonical(task.program.step, task.rows, {.device = "cpu", .threads = 1}),
          meter(measuring.init, std::make_shared<NoRows>(), {.device = "cpu", .threads = 1}) {}

    static engine::NativeOptions native_options(const DriftOptions& options) {
        engine::NativeOptions native;
        native.threads = options.threads;
        native.allow_bf16 = options.products == "bf16";
        native.products_in_f64 = options.products == "f64";
        return native;
    }
    StepContext context(std::uint64_t seed, std::uint64_t step) const {
        return {.seed = seed, .step = step, .dataset = task.rows->shape()};
    }

    DriftTask task;
    program::Program measuring;
    std::shared_ptr<BatchRows> batches;
    engine::NativeEngine native;
    engine::Engine canonical;
    engine::Engine meter;
};

Workshop::Workshop(const DriftOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Workshop::~Workshop() = default;

const program::Program& Workshop::program() const { return impl_->task.program; }

State Workshop::initial(std::uint64_t seed) const {
    auto state = canonical::execute_graph(program().init, impl_->context(seed, 0), *impl_->task.rows, {});
    if (!state) {
        throw std::runtime_error("the initial state has diverged");
    }
    return *std::move(state);
}

State Workshop::train(const State& state, std::uint64_t seed, std::uint64_t first, std::uint64_t steps, RowsKind rows) {
    return advance(impl_->native, state, impl_->context(seed, first), steps, [&](const StepContext& context) {
        impl_->batches->prepare(rows, context);
    });
}

State Workshop::replay(const State& state, std::uint64_t seed, std::uint64_t first, std::uint64_t steps) {
    return advance(impl_->canonical, state, impl_->context(seed, first), steps, [](const StepContext&) {});
}

dispute::Measurement Workshop::measure(const State& start, const State& replayed, const State& claimed) {
    impl_->meter.set_state(program::measured_state(start, replayed, claimed));
    if (!impl_->meter.run_step({.seed = kMeasuringSeed, .step = 0, .dataset = {1, 1}})) {
        throw std::runtime_error("a measurement is not finite");
    }
    return dispute::decode_measurement(canonical::tile_of(impl_->meter.state().front(), 0));
}

}  // namespace assay::bench
