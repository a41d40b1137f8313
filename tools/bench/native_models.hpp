// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The models of verifier/compile/program as somebody would write them with libtorch alone: its own layers, autograd, fp32.
/// What canonical training is compared with.
namespace assay::bench {

class NativeModel {
  public:
    virtual ~NativeModel() = default;
    /// One step of training on `batch`, row after row of the dataset's i32 values.
    virtual void step(const std::vector<std::int32_t>& batch) = 0;
    /// Of the last step; waits for the device.
    virtual float loss() const = 0;
};

/// The values that the parameter of this name starts from, in verifier/compile/program's layout; null: random ones.
using Initial = std::function<const float*(const std::string& name)>;

/// AdamW's rate and decay; decay is for matrices, as in verifier/compile/program.
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

/// `device` is a torch device string.
struct NativeOptions {
    std::string device = "cpu";
    NativeOptimizer optimizer{};
    Initial initial{};
};
std::unique_ptr<NativeModel> make_native_gpt(const NativeGptConfig& config, const NativeOptions& options);
std::unique_ptr<NativeModel> make_native_mlp(const NativeMlpConfig& config, const NativeOptions& options);
std::unique_ptr<NativeModel> make_native_cnn(const NativeCnnConfig& config, const NativeOptions& options);

/// Threads of libtorch and of its BLAS.
void set_native_threads(int threads);
/// Single-precision matrix product [m,k] x [k,n] on the device, for the GEMM ratios: a callable that runs it once and
/// waits for it.
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
