// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/native_models.hpp>

#include <cmath>
#include <optional>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <dlfcn.h>
#include <torch/version.h>

namespace assay::bench {
namespace {

using at::Tensor;

// Parameters and AdamW as libtorch's own optimizer does it, tensor by tensor and in place.
class Trained : public NativeModel {
  public:
    explicit Trained(const NativeOptions& options) : options_(options), device_(options.device) {}

    void step(const std::vector<std::int32_t>& batch) final {
        const Tensor rows =
            at::from_blob(const_cast<std::int32_t*>(batch.data()), {batch_rows(), row_width()}, at::kInt)
                .to(device_, at::kLong);
        loss_ = forward(rows);
        for (Tensor& parameter : parameters_) {
            parameter.mutable_grad() = Tensor();
        }
        loss_.backward();
        update();
    }

    float loss() const final { return loss_.item<float>(); }

  protected:
    virtual Tensor forward(const Tensor& rows) = 0;
    virtual std::int64_t batch_rows() const = 0;
    virtual std::int64_t row_width() const = 0;

    Tensor parameter(const std::string& name, at::IntArrayRef sizes, double deviation) {
        if (const Tensor given = given_value(name, sizes); given.defined()) {
            return keep(given);
        }
        return keep(at::randn(sizes, at::TensorOptions(device_).dtype(at::kFloat)) * deviation);
    }
    Tensor constant(const std::string& name, at::IntArrayRef sizes, double value) {
        const Tensor given = given_value(name, sizes);
        return keep(given.defined() ? given : at::full(sizes, value, at::TensorOptions(device_).dtype(at::kFloat)));
    }
    /// Filters [out, in, side, side], which verifier/compile/program keeps as [out, side * side * in].
    Tensor filters(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t side) {
        const Tensor given = given_value(name, {out, side, side, in});
        const double deviation = 1.0 / std::sqrt(static_cast<double>(side * side * in));
        return keep(
            given.defined() ? given.permute({0, 3, 1, 2}).contiguous()
                            : at::randn({out, in, side, side}, at::TensorOptions(device_)) * deviation
        );
    }
    at::Device device() const { return device_; }

  private:
    Tensor given_value(const std::string& name, at::IntArrayRef sizes) const {
        const float* values = options_.initial ? options_.initial(name) : nullptr;
        if (values == nullptr) {
            return {};
        }
        return at::from_blob(const_cast<float*>(values), sizes, at::kFloat).clone().to(device_);
    }

    Tensor keep(const Tensor& value) {
        parameters_.push_back(value.detach().requires_grad_(true));
        first_.push_back(at::zeros_like(value));
        second_.push_back(at::zeros_like(value));
        return parameters_.back();
    }

    void update() {
        const c10::AutoGradMode no_autograd(false);
        constexpr double kBeta1 = 0.9;
        constexpr double kBeta2 = 0.999;
        const double rate = options_.optimizer.learning_rate;
        ++steps_;
        const double correction1 = 1.0 - std::pow(kBeta1, steps_);
        const double correction2 = std::sqrt(1.0 - std::pow(kBeta2, steps_));
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const Tensor gradient = parameters_[i].grad();
            if (parameters_[i].dim() > 1) {
                parameters_[i].mul_(1.0 - rate * options_.optimizer.weight_decay);
            }
            first_[i].mul_(kBeta1).add_(gradient, 1.0 - kBeta1);
            second_[i].mul_(kBeta2).addcmul_(gradient, gradient, 1.0 - kBeta2);
            const Tensor deviation = second_[i].sqrt().div_(correction2).add_(1e-8);
            parameters_[i].addcdiv_(first_[i], deviation, -rate / correction1);
        }
    }

    NativeOptions options_;
    at::Device device_;
    std::vector<Tensor> parameters_;
    std::vector<Tensor> first_;
    std::vector<Tensor> second_;
    int steps_ = 0;
    Tensor loss_;
};

class Gpt final : public Trained {
  public:
    Gpt(const NativeGptConfig& config, const NativeOptions& options) : Trained(options), c_(config) {
        const std::int64_t d = c_.width;
        tokens_ = parameter("wte.weight", {c_.vocabulary, d}, 0.02);
        positions_ = parameter("wpe.weight", {c_.context, d}, 0.02);
        for (std::int64_t i = 0; i < c_.layers; ++i) {
            const std::string name = "h." + std::to_string(i);
            blocks_.push_back({
                .ln1 = norm(name + ".ln_1"),
                .qkv = linear(name + ".attn.c_attn", 3 * d, d),
                .out = linear(name + ".attn.c_proj", d, d),
                .ln2 = norm(name + ".ln_2"),
                .up = linear(name + ".mlp.c_fc", 4 * d, d),
                .down = linear(name + ".mlp.c_proj", d, 4 * d),
            });
        }
        last_ = norm("ln_f");
        head_ = parameter("lm_head.weight", {c_.vocabulary, d}, 0.02);
        mask_ = at::ones({c_.context, c_.context}, at::TensorOptions(device()).dtype(at::kBool)).tril().logical_not();
        const auto head_width = d / c_.heads;
        scale_ = 1.0 / std::sqrt(static_cast<double>(head_width));
    }

  private:
    struct Layer {
        Tensor weight, bias;
    };
    struct Block {
        Layer ln1, qkv, out, ln2, up, down;
    };

    Layer norm(const std::string& name) {
        return {constant(name + ".weight", {c_.width}, 1.0), constant(name + ".bias", {c_.width}, 0.0)};
    }
    Layer linear(const std::string& name, std::int64_t out, std::int64_t in) {
        return {parameter(name + ".weight", {out, in}, 0.02), constant(name + ".bias", {out}, 0.0)};
    }
    Tensor apply_norm(const Layer& layer, const Tensor& x) const {
        return at::layer_norm(x, {c_.width}, layer.weight, layer.bias);
    }
    static Tensor apply(const Layer& layer, const Tensor& x) { return at::linear(x, layer.weight, layer.bias); }

    std::int64_t batch_rows() const override { return c_.batch; }
    std::int64_t row_width() const override { return c_.context + 1; }

    Tensor attend(const Block& b, const Tensor& x) const {
        const std::int64_t depth = c_.width / c_.heads;
        const auto parts = apply(b.qkv, x).split(c_.width, 2);
        const auto heads = [&](const Tensor& t) {
            return t.view({c_.batch, c_.context, c_.heads, depth}).transpose(1, 2);
        };
        Tensor scores = at::matmul(heads(parts[0]), heads(parts[1]).transpose(2, 3)) * scale_;
        scores = scores.masked_fill(mask_, -INFINITY).softmax(-1);
        const Tensor y = at::matmul(scores, heads(parts[2])).transpose(1, 2).reshape({c_.batch, c_.context, c_.width});
        return apply(b.out, y);
    }

    Tensor forward(const Tensor& rows) override {
        const Tensor input = rows.narrow(1, 0, c_.context);
        const Tensor target = rows.narrow(1, 1, c_.context).reshape({-1});
        Tensor x = at::embedding(tokens_, input) + positions_;
        for (const Block& b : blocks_) {
            x = x + attend(b, apply_norm(b.ln1, x));
            x = x + apply(b.down, at::gelu(apply(b.up, apply_norm(b.ln2, x))));
        }
        x = apply_norm(last_, x);
        return at::cross_entropy_loss(at::linear(x, head_).view({-1, c_.vocabulary}), target);
    }

    NativeGptConfig c_;
    Tensor tokens_, positions_, head_, mask_;
    Layer last_;
    std::vector<Block> blocks_;
    double scale_ = 1.0;
};

class Mlp final : public Trained {
  public:
    Mlp(const NativeMlpConfig& config, const NativeOptions& options) : Trained(options), c_(config) {
        std::int64_t width = c_.inputs;
        for (const std::int64_t next : c_.hidden) {
            add_layer("hidden" + std::to_string(weights_.size() + 1), width, next);
            width = next;
        }
        add_layer("output", width, c_.classes);
    }

  private:
    void add_layer(const std::string& name, std::int64_t from, std::int64_t to) {
        weights_.push_back(parameter(name + ".weight", {to, from}, 1.0 / std::sqrt(static_cast<double>(from))));
        biases_.push_back(constant(name + ".bias", {to}, 0.0));
    }
    std::int64_t batch_rows() const override { return c_.batch; }
    std::int64_t row_width() const override { return c_.inputs + 1; }
    Tensor forward(const Tensor& rows) override {
        Tensor x = rows.narrow(1, 0, c_.inputs).to(at::kFloat) * (1.0 / 16.0);
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            x = at::linear(x, weights_[i], biases_[i]);
            x = i + 1 < weights_.size() ? at::relu(x) : x;
        }
        return at::cross_entropy_loss(x, rows.select(1, c_.inputs));
    }

    NativeMlpConfig c_;
    std::vector<Tensor> weights_;
    std::vector<Tensor> biases_;
};

class Cnn final : public Trained {
  public:
    Cnn(const NativeCnnConfig& config, const NativeOptions& options) : Trained(options), c_(config) {
        std::int64_t from = 1;
        std::int64_t side = c_.side;
        for (const std::int64_t to : c_.channels) {
            const std::string name = "conv" + std::to_string(weights_.size() + 1);
            weights_.push_back(filters(name + ".weight", to, from, 3));
            biases_.push_back(constant(name + ".bias", {to}, 0.0));
            from = to;
            side /= 2;
        }
        head_ = parameter("output.weight", {c_.classes, from * side * side}, 0.05);
        head_bias_ = constant("output.bias", {c_.classes}, 0.0);
    }

  private:
    std::int64_t batch_rows() const override { return c_.batch; }
    std::int64_t row_width() const override { return c_.side * c_.side + 1; }
    Tensor forward(const Tensor& rows) override {
        Tensor x = rows.narrow(1, 0, c_.side * c_.side).to(at::kFloat) * (1.0 / 16.0);
        x = x.view({c_.batch, 1, c_.side, c_.side});
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            x = at::max_pool2d(at::relu(at::conv2d(x, weights_[i], biases_[i], 1, 1)), 2);
        }
        // Pixel by pixel, as verifier/compile/program reads it.
        const Tensor flat = x.permute({0, 2, 3, 1}).flatten(1);
        return at::cross_entropy_loss(at::linear(flat, head_, head_bias_), rows.select(1, c_.side * c_.side));
    }

    NativeCnnConfig c_;
    std::vector<Tensor> weights_;
    std::vector<Tensor> biases_;
    Tensor head_, head_bias_;
};

class Resnet final : public Trained {
  public:
    Resnet(const NativeResnetConfig& config, const NativeOptions& options) : Trained(options), c_(config) {
        std::int64_t from = c_.widths.front();
        stem_ = conv("conv1", "bn1", from, c_.channels, {.side = 7, .stride = 2});
        for (std::size_t stage = 0; stage < c_.widths.size(); ++stage) {
            for (int block = 0; block < 2; ++block) {
                const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block) + ".";
                const std::int64_t to = c_.widths[stage];
                const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
                Block& made = blocks_.emplace_back();
                made.first = conv(name + "conv1", name + "bn1", to, from, {.side = 3, .stride = stride});
                made.second = conv(name + "conv2", name + "bn2", to, to, {.side = 3});
                if (stride != 1) {
                    made.down =
                        conv(name + "downsample.0", name + "downsample.1", to, from, {.side = 1, .stride = stride});
                }
                from = to;
            }
        }
        head_ = parameter("fc.weight", {c_.classes, from}, 1.0 / std::sqrt(static_cast<double>(from)));
        head_bias_ = constant("fc.bias", {c_.classes}, 0.0);
    }

  private:
    struct Kernel {
        std::int64_t side = 1;
        std::int64_t stride = 1;
    };
    /// A convolution without bias, and batch normalisation.
    struct Conv {
        Tensor weight, gain, bias, mean, variance;
        Kernel kernel;
    };
    struct Block {
        Conv first, second;
        std::optional<Conv> down;
    };

    Conv conv(
        const std::string& name, const std::string& norm, std::int64_t to, std::int64_t from, const Kernel& kernel
    ) {
        const auto options = at::TensorOptions(device()).dtype(at::kFloat);
        return {
            .weight = filters(name + ".weight", to, from, kernel.side),
            .gain = constant(norm + ".weight", {to}, 1.0),
            .bias = constant(norm + ".bias", {to}, 0.0),
            .mean = at::zeros({to}, options),
            .variance = at::ones({to}, options),
            .kernel = kernel};
    }
    static Tensor apply(const Conv& c, const Tensor& x) {
        const Tensor y = at::conv2d(x, c.weight, {}, c.kernel.stride, c.kernel.side / 2);
        return at::batch_norm(y, c.gain, c.bias, c.mean, c.variance, true, 0.1, 1e-5, false);
    }
    static Tensor apply(const Block& block, const Tensor& x) {
        const Tensor y = apply(block.second, at::relu(apply(block.first, x)));
        return at::relu(y + (block.down ? apply(*block.down, x) : x));
    }

    std::int64_t strip_width() const { return c_.side * c_.side * c_.channels / c_.strips; }
    std::int64_t batch_rows() const override { return c_.batch * c_.strips; }
    std::int64_t row_width() const override { return strip_width() + 1; }
    Tensor forward(const Tensor& rows) override {
        const Tensor pixels = rows.narrow(1, 0, strip_width()).to(at::kFloat) * (1.0 / 16.0);
        Tensor x = pixels.reshape({c_.batch, c_.side, c_.side, c_.channels}).permute({0, 3, 1, 2}).contiguous();
        x = at::max_pool2d(at::relu(apply(stem_, x)), 3, 2, 1);
        for (const Block& block : blocks_) {
            x = apply(block, x);
        }
        const Tensor labels = rows.select(1, strip_width()).view({c_.batch, c_.strips}).select(1, 0);
        return at::cross_entropy_loss(at::linear(x.mean({2, 3}), head_, head_bias_), labels);
    }

    NativeResnetConfig c_;
    Conv stem_;
    std::vector<Block> blocks_;
    Tensor head_, head_bias_;
};

}  // namespace

std::unique_ptr<NativeModel> make_native_gpt(const NativeGptConfig& config, const NativeOptions& options) {
    return std::make_unique<Gpt>(config, options);
}
std::unique_ptr<NativeModel> make_native_mlp(const NativeMlpConfig& config, const NativeOptions& options) {
    return std::make_unique<Mlp>(config, options);
}
std::unique_ptr<NativeModel> make_native_cnn(const NativeCnnConfig& config, const NativeOptions& options) {
    return std::make_unique<Cnn>(config, options);
}
std::unique_ptr<NativeModel> make_native_resnet(const NativeResnetConfig& config, const NativeOptions& options) {
    return std::make_unique<Resnet>(config, options);
}

std::string native_version() {
    return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
           std::to_string(TORCH_VERSION_PATCH);
}

void set_native_threads(int threads) {
    at::set_num_threads(threads);
    using SetThreads = void (*)(int);
    if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); found != nullptr) {
        reinterpret_cast<SetThreads>(found)(threads);
    }
}

struct NativeProduct::Impl {
    Tensor a, b, out;
};

NativeProduct::NativeProduct(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& device)
    : impl_(std::make_unique<Impl>()) {
    const auto options = at::TensorOptions(at::Device(device)).dtype(at::kFloat);
    impl_->a = at::randn({m, k}, options);
    impl_->b = at::randn({n, k}, options);
    impl_->out = at::empty({m, n}, options);
}
NativeProduct::~NativeProduct() = default;
void NativeProduct::run() {
    at::mm_out(impl_->out, impl_->a, impl_->b.t());
    if (!impl_->out.is_cpu()) {
        (void)impl_->out[0][0].item<float>();  // waits for the device
    }
}

}  // namespace assay::bench
