// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/native/lowering.hpp>

#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace assay::engine::native {

using canonical::Graph;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

constexpr float kInverseSqrt2 = 0.707106781F;
constexpr float kInverseSqrt2Pi = 0.398942280F;

class Lowering {
  public:
    Lowering(const Graph& graph, std::span<const std::uint32_t> kept) : graph_(graph), kept_(kept) {}
    std::vector<Instruction> run();

  private:
    // What a value is made by, as the graph has it; nullptr for the state.
    const Node* maker(const Value& value, Op op) const {
        const bool is_made = value.source == Source::kNode && graph_[value.index].op == op;
        return is_made ? &graph_[value.index] : nullptr;
    }
    // The same, as it has been lowered.
    const Instruction* lowered(const Value& value, Kind kind) const {
        const bool is_made = value.source == Source::kNode && program_[value.index].kind == kind;
        return is_made ? &program_[value.index] : nullptr;
    }
    Value output(std::uint32_t node) const { return {Source::kNode, node, graph_[node].dtype, graph_[node].shape}; }

    std::optional<Value> scaled(const Value& value, float factor) const;
    std::optional<Value> mean_of(const Value& value) const;
    std::optional<Value> product_of(const Value& value, const Value& factor) const;
    /// x where `value` is x minus the largest of its row.
    std::optional<Value> shifted(const Value& value) const;
    /// x where `value` is the sum over each row of exp(x - its largest).
    std::optional<Value> total_of(const Value& value) const;
    /// x where `value` is 1 + exp(-x).
    std::optional<Value> one_plus_exp_negative(const Value& value) const;
    /// x where `value` is (1 + erf(x / sqrt 2)) / 2.
    std::optional<Value> area_of(const Value& value) const;
    std::optional<Value> operand_of(const Value& quantised, const Value& exponent) const;

    void lower_node(std::uint32_t i);
    void lower_product(Instruction& out, const Node& node) const;
    void lower_dequantise(Instruction& out, const Node& node) const;
    void lower_division(Instruction& out, const Node& node) const;
    void lower_subtraction(Instruction& out, const Node& node) const;
    void lower_multiplication(Instruction& out, const Node& node) const;
    bool match_normalise(Instruction& out, const Node& node) const;
    bool match_normalise_back(Instruction& out, const Node& node) const;
    bool match_cross_entropy(Instruction& out, const Node& node) const;

    void find_live();
    /// What this value is made by, if nobody else reads it.
    const Instruction* only_here(const Value& value) const;
    void merge(std::uint32_t i);
    bool merge_term(Instruction& out, const Value& rest, const Value& term, float sign) const;

    const Graph& graph_;
    std::span<const std::uint32_t> kept_;
    std::vector<Instruction> program_;
    std::vector<std::uint32_t> readers_;  // of each node, among what is live
};

float constant_of(const Node& node) { return std::bit_cast<float>(node.attributes[0]); }
bool is_near(float x, float y) { return std::fabs(x - y) <= 1e-6F * std::fabs(y); }

std::optional<Value> Lowering::scaled(const Value& value, float factor) const {
    const Node* scale = maker(value, Op::kScale);
    return scale != nullptr && is_near(constant_of(*scale), factor) ? std::optional(scale->inputs[0]) : std::nullopt;
}

std::optional<Value> Lowering::mean_of(const Value& value) const {
    const Node* scale = maker(value, Op::kScale);
    const Instruction* sum = scale == nullptr ? nullptr : lowered(scale->inputs[0], Kind::kSum);
    if (sum == nullptr || !is_near(constant_of(*scale), 1.0F / static_cast<float>(sum->inputs[0].shape.cols))) {
        return std::nullopt;
    }
    return sum->inputs[0];
}

// The other factor of a product; both ways round, if the shapes are the same.
std::optional<Value> Lowering::product_of(const Value& value, const Value& factor) const {
    const Node* product = maker(value, Op::kMul);
    if (product == nullptr) {
        return std::nullopt;
    }
    if (product->inputs[1] == factor) {
        return product->inputs[0];
    }
    return product->inputs[0] == factor ? std::optional(product->inputs[1]) : std::nullopt;
}

std::optional<Value> Lowering::shifted(const Value& value) const {
    const Node* difference = maker(value, Op::kSub);
    const Node* top = difference == nullptr ? nullptr : maker(difference->inputs[1], Op::kRowMax);
    return top != nullptr && top->inputs[0] == difference->inputs[0] ? std::optional(top->inputs[0]) : std::nullopt;
}

std::optional<Value> Lowering::total_of(const Value& value) const {
    const Instruction* sum = lowered(value, Kind::kSum);
    const Node* power = sum == nullptr ? nullptr : maker(sum->inputs[0], Op::kExp);
    return power == nullptr ? std::nullopt : shifted(power->inputs[0]);
}

std::optional<Value> Lowering::one_plus_exp_negative(const Value& value) const {
    const Node* sum = maker(value, Op::kAddConst);
    const Node* power = sum == nullptr || constant_of(*sum) != 1.0F ? nullptr : maker(sum->inputs[0], Op::kExp);
    return power == nullptr ? std::nullopt : scaled(power->inputs[0], -1.0F);
}

std::optional<Value> Lowering::area_of(const Value& value) const {
    const auto twice = scaled(value, 0.5F);
    const Node* sum = twice ? maker(*twice, Op::kAddConst) : nullptr;
    const Node* erf = sum == nullptr || constant_of(*sum) != 1.0F ? nullptr : maker(sum->inputs[0], Op::kErf);
    return erf == nullptr ? std::nullopt : scaled(erf->inputs[0], kInverseSqrt2);
}

// x where `quantised` holds its values with its own exponents.
std::optional<Value> Lowering::operand_of(const Value& quantised, const Value& exponent) const {
    const Node* quantise = maker(quantised, Op::kQuantise);
    const Node* e = maker(exponent, Op::kRowExponent);
    const bool is_own =
        quantise != nullptr && e != nullptr && quantise->inputs[1] == exponent && e->inputs[0] == quantise->inputs[0];
    return is_own ? std::optional(quantise->inputs[0]) : std::nullopt;
}

void Lowering::lower_product(Instruction& out, const Node& node) const {
    const auto a = operand_of(node.inputs[0], node.inputs[1]);
    const auto b = operand_of(node.inputs[2], node.inputs[3]);
    const auto has_precision = [&](const Value& quantised) {
        return graph_[quantised.index].attributes[0] == node.attributes[0];
    };
    if (a && b && has_precision(node.inputs[0]) && has_precision(node.inputs[2])) {
        out.kind = Kind::kProduct;
        out.inputs = {*a, *b};
    }
}

void Lowering::lower_dequantise(Instruction& out, const Node& node) const {
    const auto has_precision = [&](const Value& quantised) {
        return graph_[quantised.index].attributes[0] == node.attributes[0];
    };
    if (const Node* sum = maker(node.inputs[0], Op::kRowSum)) {
        const auto x = operand_of(sum->inputs[0], node.inputs[1]);
        if (x && has_precision(sum->inputs[0])) {
            out.kind = Kind::kSum;
            out.inputs = {*x};
        }
        return;
    }
    // One exponent for all: the largest of the rows'.
    const Node* scatter = maker(node.inputs[0], Op::kScatterAddRows);
    const Node* quantise = scatter == nullptr ? nullptr : maker(scatter->inputs[0], Op::kQuantise);
    if (quantise == nullptr || quantise->inputs[1] != node.inputs[1] || !has_precision(scatter->inputs[0])) {
        return;
    }
    const Node* largest = maker(node.inputs[1], Op::kRowMax);
    const Node* turned = largest == nullptr ? nullptr : maker(largest->inputs[0], Op::kView);
    const Node* rows = turned == nullptr ? nullptr : maker(turned->inputs[0], Op::kRowExponent);
    const bool is_whole = rows != nullptr && rows->inputs[0] == quantise->inputs[0] &&
                          largest->shape == canonical::Shape{1, 1} &&
                          turned->shape.element_count() == rows->shape.element_count();
    if (is_whole) {
        out.kind = Kind::kScatterSum;
        out.inputs = {quantise->inputs[0], scatter->inputs[1]};
    }
}

bool Lowering::match_normalise(Instruction& out, const Node& node) const {
    const Value& centred = node.inputs[0];
    const Node* root = maker(node.inputs[1], Op::kSqrt);
    const Node* sum = root == nullptr ? nullptr : maker(root->inputs[0], Op::kAddConst);
    const auto squares = sum == nullptr ? std::nullopt : mean_of(sum->inputs[0]);
    const Node* difference = maker(centred, Op::kSub);
    if (!squares || difference == nullptr || product_of(*squares, centred) != centred ||
        mean_of(difference->inputs[1]) != difference->inputs[0]) {
        return false;
    }
    out.kind = Kind::kNormalise;
    out.inputs = {difference->inputs[0]};
    out.constant = constant_of(*sum);
    return true;
}

// (g - (u * mean(g u) + mean(g))) / deviation, u and the deviation those of one normalisation.
bool Lowering::match_normalise_back(Instruction& out, const Node& node) const {
    const Node* difference = maker(node.inputs[0], Op::kSub);
    const Node* rest = difference == nullptr ? nullptr : maker(difference->inputs[1], Op::kAdd);
    const Node* along = rest == nullptr ? nullptr : maker(rest->inputs[0], Op::kMul);
    if (along == nullptr) {
        return false;
    }
    const Value& gradient = difference->inputs[0];
    const Value& unit = along->inputs[0];
    const Instruction* normalise = lowered(unit, Kind::kNormalise);
    const auto share = mean_of(along->inputs[1]);
    if (normalise == nullptr || graph_[unit.index].inputs[1] != node.inputs[1] || !share ||
        product_of(*share, unit) != gradient || mean_of(rest->inputs[1]) != gradient) {
        return false;
    }
    out.kind = Kind::kNormaliseBack;
    out.inputs = {gradient, normalise->inputs[0], unit};
    return true;
}

void Lowering::lower_division(Instruction& out, const Node& node) const {
    const Value& x = node.inputs[0];
    const Value& y = node.inputs[1];
    if (match_normalise(out, node) || match_normalise_back(out, node)) {
        return;
    }
    if (const auto from = total_of(y); from && lowered(y, Kind::kSum)->inputs[0] == x) {
        out.kind = Kind::kSoftmax;
        out.inputs = {*from};
        return;
    }
    const auto logistic = one_plus_exp_negative(y);
    const Node* one = maker(x, Op::kFill);
    if (logistic && one != nullptr && constant_of(*one) == 1.0F) {
        out.kind = Kind::kSigmoid;
        out.inputs = {*logistic};
    } else if (logistic == x) {
        out.kind = Kind::kSilu;
        out.inputs = {x};
    }
}

void Lowering::lower_subtraction(Instruction& out, const Node& node) const {
    const Node* log = maker(node.inputs[1], Op::kLog);
    const auto from = log == nullptr ? std::nullopt : total_of(log->inputs[0]);
    if (from && shifted(node.inputs[0]) == from) {
        out.kind = Kind::kLogSoftmax;
        out.inputs = {*from};
    }
}

// (log(total) - sum(shifted * one_hot)) * row_max(one_hot)
bool Lowering::match_cross_entropy(Instruction& out, const Node& node) const {
    const Instruction* is_column = lowered(node.inputs[1], Kind::kIsColumn);
    const Node* difference = maker(node.inputs[0], Op::kSub);
    const Node* log = difference == nullptr ? nullptr : maker(difference->inputs[0], Op::kLog);
    const auto from = log == nullptr ? std::nullopt : total_of(log->inputs[0]);
    if (is_column == nullptr || !from) {
        return false;
    }
    const Value& one_hot = graph_[node.inputs[1].index].inputs[0];
    const Instruction* chosen = lowered(difference->inputs[1], Kind::kSum);
    const auto terms = chosen == nullptr ? std::nullopt : product_of(chosen->inputs[0], one_hot);
    if (!terms || shifted(*terms) != from) {
        return false;
    }
    out.kind = Kind::kCrossEntropy;
    out.inputs = {*from, is_column->inputs[0]};
    return true;
}

void Lowering::lower_multiplication(Instruction& out, const Node& node) const {
    const Value& x = node.inputs[0];
    const Value& y = node.inputs[1];
    if (match_cross_entropy(out, node)) {
        return;
    }
    if (area_of(y) == x) {
        out.kind = Kind::kGelu;
        out.inputs = {x};
        return;
    }
    const Node* excess = maker(y, Op::kSub);
    const Instruction* sum = excess == nullptr ? nullptr : lowered(excess->inputs[1], Kind::kSum);
    if (sum != nullptr && product_of(sum->inputs[0], x) == excess->inputs[0]) {
        out.kind = Kind::kSoftmaxBack;
        out.inputs = {excess->inputs[0], x};
        return;
    }
    // gradient * (x * bell + area)
    const Node* slope = maker(y, Op::kAdd);
    const auto from = slope == nullptr ? std::nullopt : area_of(slope->inputs[1]);
    const auto bell = from ? product_of(slope->inputs[0], *from) : std::nullopt;
    const auto density = bell ? scaled(*bell, kInverseSqrt2Pi) : std::nullopt;
    const Node* power = density ? maker(*density, Op::kExp) : nullptr;
    const auto square = power == nullptr ? std::nullopt : scaled(power->inputs[0], -0.5F);
    if (square && product_of(*square, *from) == from) {
        out.kind = Kind::kGeluBack;
        out.inputs = {x, *from};
    }
}

void Lowering::lower_node(std::uint32_t i) {
    const Node& node = graph_[i];
    Instruction out{.node = i, .inputs = node.inputs};
    switch (node.op) {
        case Op::kContract:
            lower_product(out, node);
            break;
        case Op::kDequantise:
            lower_dequantise(out, node);
            break;
        case Op::kDiv:
            lower_division(out, node);
            break;
        case Op::kSub:
            lower_subtraction(out, node);
            break;
        case Op::kMul:
            lower_multiplication(out, node);
            break;
        case Op::kRowMax:
            if (const Node* one_hot = maker(node.inputs[0], Op::kOneHot)) {
                out.kind = Kind::kIsColumn;
                out.inputs = {one_hot->inputs[0]};
                out.columns = one_hot->shape.cols;
            }
            break;
        default:
            break;
    }
    program_.push_back(std::move(out));
}

void Lowering::find_live() {
    readers_.assign(program_.size(), 0);
    const auto read = [&](const Value& value) {
        if (value.source == Source::kNode) {
            ++readers_[value.index];
        }
    };
    for (const Value& value : graph_.back().inputs) {
        read(value);
    }
    for (const std::uint32_t node : kept_) {
        ++readers_[node];
    }
    for (std::size_t i = program_.size(); i-- > 0;) {
        if (readers_[i] != 0) {
            for (const Value& value : program_[i].inputs) {
                read(value);
            }
        }
    }
}

const Instruction* Lowering::only_here(const Value& value) const {
    return value.source == Source::kNode && readers_[value.index] == 1 ? &program_[value.index] : nullptr;
}

// rest + sign * term
bool Lowering::merge_term(Instruction& out, const Value& rest, const Value& term, float sign) const {
    const Instruction* made = only_here(term);
    if (made == nullptr) {
        return false;
    }
    if (made->kind == Kind::kProduct && sign > 0.0F && canonical::group_count(graph_[made->node]) == 1) {
        out.kind = Kind::kProductAdd;
        out.inputs = {made->inputs[0], made->inputs[1], rest};
        return true;
    }
    if (made->kind != Kind::kNode) {
        return false;
    }
    const Node& node = graph_[made->node];
    if (node.op == Op::kMul) {
        out.kind = Kind::kMultiplyAdd;
        out.inputs = {rest, node.inputs[0], node.inputs[1]};
        out.constant = sign;
    } else if (node.op == Op::kScale) {
        out.kind = Kind::kAddScaled;
        out.inputs = {rest, node.inputs[0]};
        out.constant = sign * constant_of(node);
    }
    return out.kind != Kind::kNode;
}

// One kernel for a sum and a factor of one of its terms.
void Lowering::merge(std::uint32_t i) {
    const Node& node = graph_[i];
    Instruction& out = program_[i];
    if (out.kind != Kind::kNode || readers_[i] == 0) {
        return;
    }
    const Value x = out.inputs.empty() ? Value{} : out.inputs[0];
    if (node.op == Op::kAdd) {
        const Value y = out.inputs[1];
        if (!merge_term(out, y, x, 1.0F)) {
            merge_term(out, x, y, 1.0F);
        }
    } else if (node.op == Op::kSub) {
        merge_term(out, x, out.inputs[1], -1.0F);
    }
}

std::vector<Instruction> Lowering::run() {
    const auto count = static_cast<std::uint32_t>(graph_.size() - 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        lower_node(i);
    }
    find_live();
    for (std::uint32_t i = 0; i < count; ++i) {
        merge(i);
    }
    find_live();
    std::vector<Instruction> out;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (readers_[i] != 0) {
            out.push_back(std::move(program_[i]));
        }
    }
    return out;
}

}  // namespace

std::vector<Instruction> lower(const Graph& graph, std::span<const std::uint32_t> kept) {
    return Lowering(graph, kept).run();
}

}  // namespace assay::engine::native
