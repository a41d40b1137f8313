// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/bench.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tools/bench/canonical_models.hpp>
#include <tools/bench/measured_models.hpp>
#include <tools/bench/native_models.hpp>
#include <tools/bench/process_memory.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <core/canonical/executor.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/work.hpp>

namespace assay::bench {
namespace {

using canonical::Shape;
using canonical::Tensor;
using nlohmann::json;
using program::Profile;

constexpr std::uint64_t kSeed = 1;

/// Rows of numbers below `limit`: what they say does not matter to the time.
class Numbers final : public canonical::RowSource {
  public:
    Numbers(std::uint32_t width, std::uint32_t limit) : width_(width), values_(kDatasetRows * width) {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            values_[i] = static_cast<std::int32_t>(i * 2654435761U / 128U % limit);
        }
    }
    canonical::DatasetShape shape() const override { return {kDatasetRows, width_}; }
    Bytes row(std::uint64_t index) const override {
        const auto* first = reinterpret_cast<const std::uint8_t*>(values_.data() + index * width_);
        return {first, first + std::size_t{width_} * 4};
    }

  private:
    std::uint32_t width_;
    std::vector<std::int32_t> values_;
};

class CanonicalSide {
  public:
    CanonicalSide(const Model& model, const Profile& profile, const CanonicalOptions& options)
        : program_(model.canonical(profile)),
          rows_(std::make_shared<Numbers>(program_.dataset.width, model.limit)),
          threads_(options.threads),
          engine_(
              program_.step, rows_,
              {.device = options.device, .threads = options.threads, .memory_bytes = options.memory_bytes}
          ) {
        engine_.keep(program_.loss_node);
        std::vector<Tensor> initial;
        {
            engine::Engine init(program_.init, rows_, {.device = options.device, .threads = options.threads});
            if (!init.run_step(context())) {
                throw std::runtime_error(model.name + ": the initial state has diverged");
            }
            initial = init.take_state();
        }
        engine_.set_state(initial);
    }

    void step() {
        if (!engine_.run_step(context())) {
            throw std::runtime_error("canonical training has diverged");
        }
        (void)engine_.scalar(program_.loss_node);
        ++step_;
    }

    /// Seconds that committing to the state takes.
    double commit() {
        const Stopwatch watch;
        (void)artifacts::state_root_of(engine_.state(), threads_);
        return watch.seconds();
    }

    engine::Engine& engine() { return engine_; }
    const program::Program& program() const { return program_; }

  private:
    canonical::StepContext context() const { return {.seed = kSeed, .step = step_, .dataset = rows_->shape()}; }

    program::Program program_;
    std::shared_ptr<Numbers> rows_;
    int threads_;
    engine::Engine engine_;
    std::uint64_t step_ = 0;
};

class NativeSide {
  public:
    NativeSide(const Model& model, const program::Program& program, const CanonicalOptions& options)
        : rows_(program.dataset.width, model.limit), batch_(program.batch_size), model_(model.native(options.device)) {}

    void step() {
        std::vector<std::int32_t> values;
        for (std::uint32_t r = 0; r < batch_; ++r) {
            const Bytes row = rows_.row((next_ + r) % kDatasetRows);
            const auto* words = reinterpret_cast<const std::int32_t*>(row.data());
            values.insert(values.end(), words, words + rows_.shape().width);
        }
        next_ += batch_;
        model_->step(values);
        (void)model_->loss();
    }

  private:
    Numbers rows_;
    std::uint32_t batch_;
    std::unique_ptr<NativeModel> model_;
    std::uint64_t next_ = 0;
};

/// What the peak command prints in a process of its own: MiB that one side's steps need.
double memory_of(
    const std::string& side, const Model& model, const std::string& profile, const CanonicalOptions& options
) {
    return json::parse(output_of(
                           "peak --side " + side + " --model " + model.name + " --profile " + profile + " --threads " +
                           std::to_string(options.threads)
                       ))
        .at("mib");
}

json measure_memory(const Model& model, const std::string& profile, const CanonicalOptions& options) {
    const double canonical = memory_of("canonical", model, profile, options);
    const double native = memory_of("native", model, profile, options);
    return {{"canonical_mib", canonical}, {"native_mib", native}, {"ratio", canonical / native}};
}

json shares_of(CanonicalSide& side, const CanonicalOptions& options) {
    side.engine().start_profile();
    const Stopwatch watch;
    for (int i = 0; i < options.repeats; ++i) {
        side.step();
    }
    const double total = watch.seconds() * options.threads;
    const engine::StepProfile profile = side.engine().profile();
    return {
        {"products", profile.products * options.threads / total},
        {"quantisation", profile.quantisation / total},
        {"elementwise", profile.elementwise / total},
        {"movement", profile.movement / total},
    };
}

/// The milliseconds of steps in another PyTorch.
struct OtherTorch {
    std::string version;
    std::vector<double> fp32;
    std::vector<double> recorded;  ///< the same as a CUDA graph; empty on a CPU
    std::vector<double> bf16;      ///< empty if the CPU has no instructions for it; on a GPU recorded
};

/// Not where ASSAY_INSTRUCTIONS has this CPU take the place of an older one.
bool has_bf16() {
    if (std::getenv("ASSAY_INSTRUCTIONS") != nullptr) {
        return false;
    }
    std::ifstream cpu("/proc/cpuinfo");
    const std::string text((std::istreambuf_iterator<char>(cpu)), std::istreambuf_iterator<char>());
    return text.find("avx512_bf16") != std::string::npos || text.find("amx_bf16") != std::string::npos;
}

OtherTorch run_other_torch(const Model& model, const CanonicalOptions& options) {
    static std::map<std::string, json> found;  // the profile does not matter to it
    json& out = found[model.name];
    if (out.is_null()) {
        const bool is_cpu = options.device == "cpu";
        const std::string modes =
            std::string("fp32") + (is_cpu ? "" : " recorded") + (is_cpu && !has_bf16() ? "" : " bf16");
        out = json::parse(output_of_command(
            options.torch + " " + options.torch_script + " --model '" + model.size.dump() + "' --device " +
            options.device + " --threads " + std::to_string(options.threads) + " --steps " +
            std::to_string(options.repeats) + " --modes " + modes
        ));
    }
    return {
        .version = out.at("version"),
        .fp32 = out.at("fp32"),
        .recorded = out.value("recorded", std::vector<double>{}),
        .bf16 = out.value("bf16", std::vector<double>{})};
}

double median(std::vector<double> values) { return spread(std::move(values)).at("median"); }

std::vector<double> over(std::vector<double> values, double divisor) {
    for (double& value : values) {
        value /= divisor;
    }
    return values;
}

void compare_with_other_torch(
    const OtherTorch& other, double fastest, const std::vector<double>& canonical_ms, json& out
) {
    out["torch_version"] = other.version;
    const auto compare = [&](const std::string& key, const std::vector<double>& ms, const std::string& how) {
        if (ms.empty()) {
            return;
        }
        out[key] = spread(ms);
        if (median(ms) < fastest) {
            fastest = median(ms);
            out["baseline"] = "PyTorch " + other.version + how;
            out["ratio"] = spread(over(canonical_ms, fastest));
        }
    };
    compare("torch_ms", other.fp32, "");
    compare("torch_recorded_ms", other.recorded, ", as a CUDA graph");
    if (!other.bf16.empty()) {
        out["torch_bf16_ms"] = spread(other.bf16);
        out["ratio_bf16"] = spread(over(canonical_ms, median(other.bf16)));
    }
}

json measure_model(const Model& model, const std::string& profile_name, const CanonicalOptions& options) {
    const Profile profile = profile_named(profile_name);
    json memory = options.device == "cpu" ? measure_memory(model, profile_name, options) : json();
    CanonicalSide canonical(model, profile, options);
    NativeSide native(model, canonical.program(), options);
    const auto work = static_cast<double>(dispute::work_of(canonical.program().step));
    std::vector<double> ratios;
    std::vector<double> canonical_ms;
    std::vector<double> native_ms;
    std::vector<double> commitments;
    std::vector<double> speeds;
    for (int i = -2; i < options.repeats; ++i) {  // two to warm up
        set_native_threads(options.threads);
        const Stopwatch native_watch;
        native.step();
        const double native_s = native_watch.seconds();
        const Stopwatch canonical_watch;
        canonical.step();
        const double canonical_s = canonical_watch.seconds();
        if (i >= 0) {
            ratios.push_back(canonical_s / native_s);
            canonical_ms.push_back(canonical_s * 1e3);
            native_ms.push_back(native_s * 1e3);
            speeds.push_back(work / canonical_s / 1e6);
            commitments.push_back(canonical.commit() / (canonical_s * static_cast<double>(options.segment_steps)));
        }
    }
    json out = {
        {"model", model.name},
        {"parameters", parameters_of(canonical.program())},
        {"size", model.size},
        {"device", options.device},
        {"threads", options.threads},
        {"profile", profile_name},
        {"nodes", canonical.program().step.size()},
        {"state_tensors", canonical.program().state.size()},
        {"baseline", "libtorch " + native_version()},
        {"ratio", spread(ratios)},
        {"canonical_ms", spread(canonical_ms)},
        {"native_ms", spread(native_ms)},
        {"work", work},
        {"speed", spread(speeds)},  // WRK-3: in the unit of a class's least score
        {"commitment_share", spread(commitments)},
        {"commitment_steps", options.segment_steps},
        {"shares", shares_of(canonical, options)},
    };
    if (!options.torch.empty()) {
        compare_with_other_torch(run_other_torch(model, options), median(native_ms), canonical_ms, out);
    }
    if (!memory.is_null()) {
        out["peak_memory"] = std::move(memory);
    }
    return out;
}

/// A graph whose only work is one product: state a, b, c -> a, b, a b^T.
canonical::Graph product_graph(Shape a, Shape b, const Profile& profile) {
    program::GraphBuilder graph;
    const auto value = [](std::uint32_t index, Shape shape) {
        return program::GraphBuilder::state(index, {canonical::DType::kF32, shape});
    };
    const std::vector<program::Value> next{
        value(0, a), value(1, b), graph.matmul_nt(value(0, a), value(1, b), profile)};
    return std::move(graph).commit(next);
}

Tensor numbers(Shape shape) {
    Tensor out = canonical::make_tensor(canonical::DType::kF32, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        const float value = static_cast<float>(i * 2654435761U / 256U % 2001U) / 1000.0F - 1.0F;
        std::memcpy(out.data.data() + i * sizeof value, &value, sizeof value);
    }
    return out;
}

/// On an accelerator each exact way to multiply has a speed of its own: GFLOP/s by the name of the way.
json measure_ways(std::array<std::uint32_t, 3> size, const std::string& profile_name, const CanonicalOptions& options) {
    const auto [m, n, k] = size;
    const auto rows = std::make_shared<Numbers>(1, 2);
    json out = json::object();
    for (const auto& [name, choice] :
         {std::pair{"floats", engine::ProductChoice::kFloats}, std::pair{"doubles", engine::ProductChoice::kDoubles},
          std::pair{"residues", engine::ProductChoice::kResidues}}) {
        engine::Engine engine(
            product_graph({m, k}, {n, k}, profile_named(profile_name)), rows,
            {.device = options.device, .threads = options.threads, .products = choice}
        );
        engine.set_state(std::vector<Tensor>{
            numbers({m, k}), numbers({n, k}), canonical::make_tensor(canonical::DType::kF32, {m, n})});
        std::vector<double> gflops;
        for (int i = -2; i < options.repeats; ++i) {
            const Stopwatch watch;
            (void)engine.run_step({.seed = kSeed, .step = 0, .dataset = rows->shape()});
            if (i >= 0) {
                gflops.push_back(2e-9 * m * n * k / watch.seconds());
            }
        }
        out[name] = spread(gflops);
    }
    return out;
}

json measure_product(
    std::array<std::uint32_t, 3> size, const std::string& profile_name, const CanonicalOptions& options
) {
    const auto [m, n, k] = size;
    const Shape a{m, k};
    const Shape b{n, k};
    const auto rows = std::make_shared<Numbers>(1, 2);
    engine::Engine engine(
        product_graph(a, b, profile_named(profile_name)), rows, {.device = options.device, .threads = options.threads}
    );
    engine.set_state(std::vector<Tensor>{numbers(a), numbers(b), canonical::make_tensor(canonical::DType::kF32, {m, n})}
    );
    NativeProduct native(m, n, k, options.device);
    std::vector<double> ratios;
    std::vector<double> gflops;
    for (int i = -2; i < options.repeats; ++i) {
        set_native_threads(options.threads);
        const Stopwatch native_watch;
        native.run();
        const double native_s = native_watch.seconds();
        const Stopwatch watch;
        if (!engine.run_step({.seed = kSeed, .step = 0, .dataset = rows->shape()})) {
            throw std::runtime_error("a product has diverged");
        }
        const double seconds = watch.seconds();
        if (i >= 0) {
            ratios.push_back(seconds / native_s);
            gflops.push_back(2e-9 * m * n * k / seconds);
        }
    }
    json out = {
        {"m", m},
        {"n", n},
        {"k", k},
        {"device", options.device},
        {"threads", options.threads},
        {"profile", profile_name},
        {"ratio", spread(ratios)},
        {"canonical_gflops", spread(gflops)},
    };
    if (options.device != "cpu") {
        out["ways_gflops"] = measure_ways(size, profile_name, options);
    }
    return out;
}

}  // namespace

program::Program canonical_program(const std::string& model, const std::string& profile) {
    return model_named(model).canonical(profile_named(profile));
}

json run_peak(const PeakOptions& options) {
    const Model model = model_named(options.model);
    const CanonicalOptions sides{.threads = options.threads, .memory_bytes = options.memory_bytes};
    const program::Program program = model.canonical(profile_named(options.profile));
    // Both sides have the program, and libtorch has started, before either is measured.
    set_native_threads(options.threads);
    NativeProduct(32, 32, 32, "cpu").run();
    const long before = peak_kib();
    std::vector<double> seconds;
    const auto run = [&](auto side) {
        for (int i = 0; i < options.steps; ++i) {
            const Stopwatch watch;
            side.step();
            seconds.push_back(watch.seconds());
        }
    };
    if (options.side == "canonical") {
        run(CanonicalSide(model, profile_named(options.profile), sides));
    } else {
        run(NativeSide(model, program, sides));
    }
    const double mib = static_cast<double>(peak_kib() - before) / 1024.0;
    return {{"mib", mib}, {"step_s", *std::min_element(seconds.begin(), seconds.end())}};
}

json run_canonical_bench(const CanonicalOptions& options) {
    json models = json::array();
    for (const std::string& model : options.models) {
        for (const std::string& profile : options.profiles) {
            models.push_back(measure_model(model_named(model), profile, options));
        }
    }
    json products = json::array();
    std::vector<std::array<std::uint32_t, 3>> sizes{{64, 64, 64},     {1024, 128, 128},   {1024, 512, 128},
                                                    {512, 128, 1024}, {1024, 1024, 1024}, {2048, 2048, 2048}};
    if (options.device != "cpu") {
        sizes.insert(sizes.end(), {{4096, 4096, 4096}, {8192, 8192, 8192}});
    }
    for (const auto& size : sizes) {
        for (const std::string& profile : options.only_models ? std::vector<std::string>{} : options.profiles) {
            products.push_back(measure_product(size, profile, options));
        }
    }
    return {{"bench", "canonical"}, {"repeats", options.repeats}, {"models", models}, {"gemm", products}};
}

}  // namespace assay::bench
