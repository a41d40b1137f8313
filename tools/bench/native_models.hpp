// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The models of verifier/compile/program, implemented with libtorch alone: its own layers, autograd, fp32. Canonical
/// training is compared with them.
namespace assay::bench {

class NativeModel {
  public:
    virtual ~NativeModel() = default;
    /// Runs one training step on `batch`, the concatenated rows of the dataset's i32 values.
    virtual void step(const std::vector<std::int32_t>& batch) = 0;
    /// Returns the loss of the last step; waits for the device.
    virtual float loss() const = 0;
};

/// Returns the initial values of the parameter with this name, in the layout of verifier/compile/program; null: random
/// values.
using Initial = std::function<const float*(const std::string& name)>;

/// AdamW's learning rate and weight decay. Decay applies to matrices only, as in verifier/compile/program.
struct NativeOptimizer {
    double learning_rate = 1e-3;
    double weight_decay = 0.01;
};

struct NativeGptConfig {
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t width = 128;
    std::int64_t context = 64;
    std::int64_t vocabulary = 96;
    std::int64_t batch = 16;
};
struct NativeMlpConfig {
    std::int64_t inputs = 64;
    std::vector<std::int64_t> hidden;
    std::int64_t classes = 10;
    std::int64_t batch = 64;
};
struct NativeCnnConfig {
    std::int64_t side = 8;
    std::vector<std::int64_t> channels;
    std::int64_t classes = 10;
    std::int64_t batch = 64;
};

/// A residual network of basic blocks, two in each stage, as torchvision's ResNet-18.
struct NativeResnetConfig {
    std::int64_t side = 224;
    std::int64_t channels = 3;
    std::vector<std::int64_t> widths{64, 128, 256, 512};  ///< filters of each stage; the first follows the stem
    std::int64_t classes = 1000;
    std::int64_t batch = 2;
    /// Dataset rows of an image, from top to bottom, each with the label behind its values: an image is wider than a
    /// row may be.
    std::int64_t strips = 48;
};

/// `device` is a torch device string.
struct NativeOptions {
    std::string device = "cpu";
    NativeOptimizer optimizer{};
    Initial initial{};
};
std::unique_ptr<NativeModel> make_native_gpt(const NativeGptConfig& config, const NativeOptions& options);
std::unique_ptr<NativeModel> make_native_mlp(const NativeMlpConfig& config, const NativeOptions& options);
std::unique_ptr<NativeModel> make_native_cnn(const NativeCnnConfig& config, const NativeOptions& options);
std::unique_ptr<NativeModel> make_native_resnet(const NativeResnetConfig& config, const NativeOptions& options);

/// Sets the number of threads of libtorch and of its BLAS.
void set_native_threads(int threads);
/// Returns libtorch's version, such as "1.13.1".
std::string native_version();
/// A single-precision matrix product [m,k] x [k,n] on the device, for the GEMM ratios. run() computes it once and waits
/// for it.
class NativeProduct {
  public:
    NativeProduct(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& device);
    ~NativeProduct();
    void run();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::bench
