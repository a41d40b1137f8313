// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/rows_file.hpp>
#include <tools/bench/bench.hpp>

#include <memory>
#include <stdexcept>

#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::bench {
namespace {

using canonical::Tensor;
using nlohmann::json;

class ReplayBench {
  public:
    explicit ReplayBench(const ReplayOptions& options) : options_(options) {
        artifacts::TextDataset text = read_text(options.text, kContext);
        rows_ = std::make_shared<artifacts::Dataset>(std::move(text.dataset));
        program_ = program::build_char_model(
            {.vocabulary = text.vocabulary_size,
             .context = kContext,
             .hidden = options.hidden,
             .dataset_rows = rows_->shape().rows},
            {}
        );
        engine_ = std::make_unique<engine::Engine>(
            program_.step, rows_, engine::EngineOptions{.device = "cpu", .threads = options.threads}
        );
        auto initial =
            canonical::execute_graph(program_.init, {.seed = 1, .step = 0, .dataset = rows_->shape()}, *rows_, {});
        if (!initial) {
            throw std::runtime_error("the initial state has diverged");
        }
        state_ = *std::move(initial);
    }

    json run() {
        std::vector<double> training;
        std::vector<double> checkpoint;
        std::vector<double> replay;
        std::vector<double> replay_over_training;
        std::vector<double> commitment_share;
        engine_->set_state(state_);
        train();  // warm up
        for (int i = 0; i < options_.repeats; ++i) {
            engine_->set_state(state_);
            const Stopwatch training_watch;
            train();
            const double training_s = training_watch.seconds();

            const Stopwatch commitment_watch;
            const auto after = engine_->state();
            const Hash256 root = artifacts::state_root_of(after);
            const double commitment_s = commitment_watch.seconds();

            const Bytes artifact = artifacts::encode_state(program_, state_);
            const Stopwatch replay_watch;
            const Hash256 replayed = replay_from(artifact);
            const double replay_s = replay_watch.seconds();
            if (replayed != root) {
                throw std::runtime_error("the replay did not give the solver's state root");
            }
            training.push_back(training_s);
            checkpoint.push_back(commitment_s);
            replay.push_back(replay_s);
            replay_over_training.push_back(replay_s / training_s);
            commitment_share.push_back(commitment_s / training_s);
        }
        return {
            {"bench", "replay"},
            {"model",
             {{"kind", "char"},
              {"context", kContext},
              {"hidden", options_.hidden},
              {"batch", program_.batch_size},
              {"state_tensors", program_.state.size()},
              {"step_nodes", program_.step.size()}}},
            {"engine", engine_->description()},
            {"segment_steps", options_.segment_steps},
            {"repeats", options_.repeats},
            {"ratios",
             {{"replay_over_training", spread(replay_over_training)}, {"commitment_share", spread(commitment_share)}}},
            {"seconds",
             {{"training", spread(training)}, {"commitment", spread(checkpoint)}, {"replay", spread(replay)}}},
        };
    }

  private:
    static constexpr std::uint32_t kContext = 16;

    void train() {
        for (std::uint64_t step = 0; step < options_.segment_steps; ++step) {
            if (!engine_->run_step({.seed = 1, .step = step, .dataset = rows_->shape()})) {
                throw std::runtime_error("training has diverged");
            }
        }
    }

    /// What a verifier does: the checkpoint's bytes in, the segment's root out.
    Hash256 replay_from(const Bytes& artifact) {
        const auto state = artifacts::decode_state(program_, artifact);
        if (!state) {
            throw std::runtime_error("the checkpoint does not decode");
        }
        engine_->set_state(*state);
        train();
        return artifacts::state_root_of(engine_->state());
    }

    ReplayOptions options_;
    std::shared_ptr<artifacts::Dataset> rows_;
    program::Program program_;
    std::unique_ptr<engine::Engine> engine_;
    std::vector<Tensor> state_;
};

}  // namespace

json run_replay_bench(const ReplayOptions& options) { return ReplayBench(options).run(); }

}  // namespace assay::bench
