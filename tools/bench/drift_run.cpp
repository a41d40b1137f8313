// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/drift.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include <verifier/compile/program/distance.hpp>

namespace assay::bench {
namespace {

using canonical::DType;
using nlohmann::json;

// The reference's seed beside the task's.
constexpr std::uint64_t kOtherSeed = 1000;

RowsKind rows_of(const DriftOptions& options) {
    return options.order == "reversed" ? RowsKind::kReversed : RowsKind::kGiven;
}

float element(const canonical::Tensor& tensor, std::size_t i) {
    float value = 0;
    std::memcpy(&value, tensor.data.data() + i * 4, 4);
    return value;
}
void set_element(canonical::Tensor& tensor, std::size_t i, float value) {
    std::memcpy(tensor.data.data() + i * 4, &value, 4);
}

// Every f32 element of `state` as `change` makes it; given the tensor's and the element's number.
State changed(State state, const auto& change) {
    for (std::size_t t = 0; t < state.size(); ++t) {
        if (state[t].dtype != DType::kF32) {
            continue;
        }
        for (std::size_t i = 0; i < state[t].shape.element_count(); ++i) {
            set_element(state[t], i, change(t, i));
        }
    }
    return state;
}

State between(const State& from, const State& to, double share) {
    return changed(from, [&](std::size_t t, std::size_t i) {
        const auto a = static_cast<double>(element(from[t], i));
        return static_cast<float>(a + share * (static_cast<double>(element(to[t], i)) - a));
    });
}

double squared_distance(const canonical::Tensor& a, const canonical::Tensor& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.shape.element_count(); ++i) {
        sum += std::pow(static_cast<double>(element(a, i)) - static_cast<double>(element(b, i)), 2);
    }
    return sum;
}

// The run that a bench's process makes, checkpoint by checkpoint.
class Run {
  public:
    explicit Run(const DriftOptions& options) : options_(options), shop_(options) {}

    std::uint64_t first_step(std::uint64_t segment) const { return segment * options_.segment_steps; }
    State train(const State& state, std::uint64_t segment, RowsKind rows, std::uint64_t seed_offset = 0) {
        return train_steps(state, segment, options_.segment_steps, rows, seed_offset);
    }
    State train_steps(
        const State& state, std::uint64_t segment, std::uint64_t steps, RowsKind rows, std::uint64_t seed_offset = 0
    ) {
        return shop_.train(state, options_.seed + seed_offset, first_step(segment), steps, rows);
    }
    State replay(const State& state, std::uint64_t segment, std::uint64_t seed_offset = 0) {
        return shop_.replay(state, options_.seed + seed_offset, first_step(segment), options_.segment_steps);
    }
    dispute::Measurement measure(const State& start, const State& replayed, const State& claimed) {
        return shop_.measure(start, replayed, claimed);
    }
    State initial(std::uint64_t seed_offset = 0) const { return shop_.initial(options_.seed + seed_offset); }
    const std::vector<program::StateTensor>& types() const { return shop_.program().state; }

    /// Checkpoints of honest training, and the canonical replay of each segment from the one before.
    void train_honestly() {
        checkpoints = {initial()};
        for (std::uint64_t i = 0; i < options_.segments; ++i) {
            replays.push_back(replay(checkpoints[i], i));
            const bool is_canonical = options_.products == "canonical";
            checkpoints.push_back(is_canonical ? replays[i] : train(checkpoints[i], i, rows_of(options_)));
        }
    }
    /// What a verifier measures of segments that claim `claimed(i)` after the honest checkpoint.
    json log_claims(const auto& claimed) {
        return log([&](std::uint64_t i) { return measure(checkpoints[i], replays[i], claimed(i)); });
    }
    json honest_log() {
        return log_claims([&](std::uint64_t i) { return checkpoints[i + 1]; });
    }
    /// The same where each claim is the next segment's start, and is replayed from there.
    json log_chain(const auto& next) {
        State at = checkpoints.front();
        return log([&](std::uint64_t i) {
            const State claimed = next(at, i);
            const dispute::Measurement measured = measure(at, replay(at, i), claimed);
            at = claimed;
            return measured;
        });
    }

    std::vector<State> checkpoints;
    std::vector<State> replays;

  private:
    json log(const auto& segment) {
        std::vector<dispute::Measurement> out;
        for (std::uint64_t i = 0; i < options_.segments; ++i) {
            out.push_back(segment(i));
        }
        return to_json(out);
    }

    DriftOptions options_;
    Workshop shop_;
};

// Pushes the parameters of a checkpoint by `length` of their own update, element by element up or down.
class Push {
  public:
    Push(const Run& run, double length) : run_(run), length_(length) {}

    State operator()(const State& start, State next, std::uint64_t direction) const {
        double update2 = 0.0;
        std::uint64_t count = 0;
        for (std::size_t t = 0; t < next.size(); ++t) {
            for (std::size_t i = 0; is_pushed(t) && i < next[t].shape.element_count(); ++i, ++count) {
                update2 += std::pow(static_cast<double>(element(next[t], i) - element(start[t], i)), 2);
            }
        }
        const double each = length_ * std::sqrt(update2 / static_cast<double>(count));
        std::mt19937_64 random(direction);
        return changed(next, [&](std::size_t t, std::size_t i) {
            const float value = element(next[t], i);
            const double sign = random() % 2 == 0 ? 1.0 : -1.0;
            return is_pushed(t) ? static_cast<float>(static_cast<double>(value) + sign * each) : value;
        });
    }

  private:
    bool is_pushed(std::size_t t) const {
        return program::group_of(run_.types()[t]) == program::StateGroup::kParameter;
    }

    const Run& run_;
    double length_;
};

// Which parameter each segment's drift is mostly in, and its share of the squares.
json origins(const Run& run) {
    json out = json::array();
    for (std::size_t segment = 0; segment < run.replays.size(); ++segment) {
        std::string name;
        double largest = 0.0;
        double sum = 0.0;
        for (std::size_t t = 0; t < run.types().size(); ++t) {
            if (program::group_of(run.types()[t]) != program::StateGroup::kParameter) {
                continue;
            }
            const double of_tensor = squared_distance(run.replays[segment][t], run.checkpoints[segment + 1][t]);
            sum += of_tensor;
            if (of_tensor > largest) {
                largest = of_tensor;
                name = run.types()[t].name;
            }
        }
        out.push_back({{"tensor", name}, {"share", sum > 0.0 ? std::round(1000.0 * largest / sum) / 1000.0 : 0.0}});
    }
    return out;
}

// PRF-3: segment 1 under another seed, against segment 1.
json reference(Run& run) {
    return to_json({run.measure(run.checkpoints[0], run.replays[0], run.replay(run.checkpoints[0], 0, kOtherSeed))});
}

json pushes(Run& run, double threshold) {
    json out;
    const auto chain = [&](double share, bool is_fixed) {
        const Push push(run, share * threshold);
        return run.log_chain([&](const State& at, std::uint64_t i) {
            return push(at, run.train(at, i, RowsKind::kGiven), is_fixed ? 1 : 1 + i);
        });
    };
    out["push of 0.9 thresholds, one direction"] = chain(0.9, true);
    out["push of 0.3 thresholds, one direction"] = chain(0.3, true);
    out["push of 0.9 thresholds, changing direction"] = chain(0.9, false);
    return out;
}

json fakes(Run& run, std::uint64_t segments) {
    const State& from = run.checkpoints.front();
    const State& stolen = run.checkpoints.back();
    const double each = 1.0 / static_cast<double>(segments);
    json out;
    out["interpolation to a stolen model"] = run.log_chain([&](const State&, std::uint64_t i) {
        return between(from, stolen, static_cast<double>(i + 1) * each);
    });
    constexpr double kTiny = 1e-3;
    out["infinitesimal updates"] = run.log_chain([&](const State&, std::uint64_t i) {
        return between(from, stolen, static_cast<double>(i + 1) * each * kTiny);
    });
    // Two genuine segments, at the start and in the middle; the rest hardly moves.
    out["blindfold top-2"] = run.log_chain([&](const State& at, std::uint64_t i) {
        return i % (segments / 2) == 0 ? run.train(at, i, RowsKind::kGiven) : between(at, stolen, each * kTiny);
    });
    return out;
}

}  // namespace

json run_drift(const DriftOptions& options) {
    Run run(options);
    run.train_honestly();
    return {{"honest", run.honest_log()}, {"origins", origins(run)}, {"reference", reference(run)}};
}

json run_cheats(const DriftOptions& options) {
    Run run(options);
    run.train_honestly();
    const std::uint64_t steps = options.segment_steps;
    json cheats = pushes(run, static_cast<double>(options.threshold_ppb) * 1e-9);
    cheats.update(fakes(run, options.segments));
    const auto claims = [&](const std::string& name, const auto& claimed) { cheats[name] = run.log_claims(claimed); };
    claims("segment skipped, state repeated", [&](std::uint64_t i) { return run.checkpoints[i]; });
    claims("other order of batches", [&](std::uint64_t i) {
        return run.train(run.checkpoints[i], i, RowsKind::kGiven, kOtherSeed);
    });
    claims("synthetic data", [&](std::uint64_t i) { return run.train(run.checkpoints[i], i, RowsKind::kScrambled); });
    claims("half of each batch", [&](std::uint64_t i) { return run.train(run.checkpoints[i], i, RowsKind::kHalf); });
    claims("a sixteenth of each batch less", [&](std::uint64_t i) {
        return run.train(run.checkpoints[i], i, RowsKind::kFewer);
    });
    claims("half of the steps", [&](std::uint64_t i) {
        return run.train_steps(run.checkpoints[i], i, steps / 2, RowsKind::kGiven);
    });
    claims("one step fewer", [&](std::uint64_t i) {
        return run.train_steps(run.checkpoints[i], i, steps - 1, RowsKind::kGiven);
    });
    State other = run.initial(kOtherSeed);
    claims("checkpoint of another run", [&](std::uint64_t i) {
        return other = run.train(other, i, RowsKind::kGiven, kOtherSeed);
    });
    return {{"honest", run.honest_log()}, {"origins", origins(run)}, {"cheats", cheats}};
}

}  // namespace assay::bench
