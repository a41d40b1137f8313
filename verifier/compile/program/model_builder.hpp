// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <verifier/compile/program/autodiff.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/optimizer.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::program {

inline constexpr float kNormEpsilon = 1e-5F;  ///< of all normalisations, as in PyTorch

/// The initial value of a state tensor.
struct Start {
    enum class Kind : std::uint8_t { kConstant, kUniform, kGiven };
    Kind kind = Kind::kConstant;
    float value = 0.0F;  ///< kConstant: of every element; kUniform: the bound

    static constexpr Start zeros() { return {Kind::kConstant, 0.0F}; }
    static constexpr Start constant(float value) { return {Kind::kConstant, value}; }
    static constexpr Start uniform(float bound) { return {Kind::kUniform, bound}; }
    /// The tensor of the same name in Program::initial.
    static constexpr Start given() { return {Kind::kGiven, 0.0F}; }
    /// Uniform with standard deviation `deviation`.
    static Start spread(float deviation);
    /// Uniform within 1 / sqrt(fan_in).
    static Start fan_in(std::uint32_t fan_in);
};

/// Builds a program: state tensors are declared while the forward pass is written; finish() differentiates the loss and
/// adds the optimizer.
class ModelBuilder {
  public:
    explicit ModelBuilder(const Profile& profile) : tape_(graph_, profile) {}
    ModelBuilder(const ModelBuilder&) = delete;
    ModelBuilder& operator=(const ModelBuilder&) = delete;

    GraphBuilder& graph() { return graph_; }
    Tape& tape() { return tape_; }

    /// Declares a trained tensor.
    Value parameter(std::string name, canonical::Shape shape, const Start& start);
    /// Declares a state tensor that is not trained. It stays unchanged unless set_next() gives its next value.
    Value buffer(std::string name, canonical::Shape shape, const Start& start);
    void set_next(const Value& buffer, const Value& next);
    /// Normalises each column of x over its rows, with a gain and a bias. The running mean and variance of the batches
    /// become buffers that nothing reads; the step uses the batch's own.
    Value batch_norm(const std::string& name, const Value& x);
    /// Returns an id that no other random tensor of the program has, in either graph.
    std::uint32_t new_tensor_id() { return tensor_ids_++; }

    struct Data {
        std::uint32_t batch_size = 0;
        canonical::DatasetShape dataset;
    };
    /// A model's forward pass: takes rows of a batch, i32 [rows, width], and returns their mean loss [1,1]. It is
    /// called once for each replica. From the second call on, parameter() and buffer() return the tensors that the
    /// first call has declared under these names, and set_next() does nothing: buffers follow the first replica.
    using Forward = std::function<Value(const Value& batch)>;
    /// Finishes the program with one of these; must be called once, last. `data.batch_size` must be a multiple of
    /// optimizer.replicas.count, and a loss that is there already is that of one replica. The result passes
    /// check_program if it has at most kMaxNodes nodes.
    Program finish(const Forward& forward, const OptimizerConfig& optimizer, const Data& data);
    Program finish(const Value& loss, const OptimizerConfig& optimizer, const Data& data);

  private:
    struct Entry {
        StateTensor tensor;
        Start start;
        std::uint32_t tensor_id = 0;
        Value next;  ///< next value of a buffer
        bool is_parameter = false;
    };
    Value declare(std::string name, canonical::Shape shape, const Start& start, bool is_parameter);
    /// The running value moves towards this batch's; `correction` makes a variance that of a sample.
    void follow(const Value& running, const Value& batch, float correction);
    void write_init(Program& program) const;
    /// The tensors that are trained, as values and as they are declared.
    std::vector<Value> parameters() const;
    std::vector<StateTensor> parameter_tensors() const;
    std::vector<Value> declare_slots(const OptimizerConfig& optimizer);

    GraphBuilder graph_;
    Tape tape_;
    std::vector<Entry> entries_;
    std::map<std::string, std::uint32_t> places_;  // of entries_, by name
    std::uint32_t tensor_ids_ = 0;
    std::uint32_t replica_ = 0;  // whose forward pass is written
};

}  // namespace assay::program
