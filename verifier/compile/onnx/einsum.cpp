// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/products.hpp>

namespace assay::onnx {

using canonical::Shape;

namespace {

// An operand with a label for each axis; they are combined two by two.
struct Labelled {
    Operand operand;
    std::string labels;
};

// An ellipsis stands for axes without names; they get these.
constexpr char kFirstUnnamed = '0';

std::string expand_ellipsis(const std::string& labels, std::size_t count) {
    const std::size_t at = labels.find("...");
    if (at == std::string::npos) {
        return labels;
    }
    std::string unnamed;
    for (std::size_t i = 0; i < count; ++i) {
        unnamed += static_cast<char>(kFirstUnnamed + static_cast<char>(i));
    }
    return labels.substr(0, at) + unnamed + labels.substr(at + 3);
}

// Keeps the diagonal of axes that share a label.
Labelled without_repeats(Lowering& lowering, const Labelled& x) {
    Labelled out{x.operand, {}};
    canonical::View view;
    for (std::size_t axis = 0; axis < x.labels.size(); ++axis) {
        if (out.labels.find(x.labels[axis]) == std::string::npos) {
            out.labels += x.labels[axis];
            view.dims.push_back(x.operand->dims[axis]);
        }
    }
    if (out.labels.size() == x.labels.size()) {
        return x;
    }
    for (std::size_t axis = 0; axis < x.labels.size(); ++axis) {
        const std::size_t to = out.labels.find(x.labels[axis]);
        canonical::ViewAxis source{.size = x.operand->dims[axis], .offset = 0, .divisor = 1, .strides = {}};
        source.strides.assign(view.dims.size(), 0);
        source.strides[to] = 1;
        view.axes.push_back(source);
    }
    out.operand = lowering.apply(x.operand, view);
    return out;
}

// Sums over every label that is not in `kept`.
Labelled summed(Lowering& lowering, const Labelled& x, const std::string& kept) {
    Labelled out{x.operand, {}};
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> gone;
    Dims dims;
    for (std::uint32_t axis = 0; axis < x.labels.size(); ++axis) {
        if (kept.find(x.labels[axis]) != std::string::npos) {
            out.labels += x.labels[axis];
            order.push_back(axis);
            dims.push_back(x.operand->dims[axis]);
        } else {
            gone.push_back(axis);
        }
    }
    if (gone.empty()) {
        return x;
    }
    order.insert(order.end(), gone.begin(), gone.end());
    const std::uint64_t rows = checked_elements(dims);
    const Shape shape = checked_shape(rows, checked_elements(x.operand->dims) / rows);
    const Value value = lowering.tape().row_sum(lowering.matrix(lowering.array(x.operand), order, shape));
    out.operand = lowering.add_array(lowering.from_matrix(value, x.operand->type, dims));
    return out;
}

// Axes of `x` in the order of `labels`, as a matrix with `groups` * `rows` rows.
Value arranged(Lowering& lowering, const Labelled& x, const std::string& labels, std::uint64_t rows) {
    std::vector<std::uint32_t> order;
    for (const char label : labels) {
        order.push_back(static_cast<std::uint32_t>(x.labels.find(label)));
    }
    const std::uint64_t count = checked_elements(x.operand->dims);
    return lowering.matrix(lowering.array(x.operand), order, checked_shape(rows, count / rows));
}

std::uint64_t size_of_labels(const std::map<char, std::uint32_t>& sizes, const std::string& labels) {
    Dims dims;
    for (const char label : labels) {
        dims.push_back(sizes.at(label));
    }
    return checked_elements(dims);
}

// Labels of both that are kept are groups; labels of both that are not are summed over.
Labelled combined(
    Lowering& lowering, const Labelled& a, const Labelled& b, const std::string& kept,
    const std::map<char, std::uint32_t>& sizes
) {
    std::string groups;
    std::string inner;
    std::string rows;
    std::string cols;
    for (const char label : a.labels) {
        const bool is_shared = b.labels.find(label) != std::string::npos;
        const bool is_kept = kept.find(label) != std::string::npos;
        (is_shared ? (is_kept ? groups : inner) : rows) += label;
    }
    for (const char label : b.labels) {
        if (a.labels.find(label) == std::string::npos) {
            cols += label;
        }
    }
    const std::uint64_t group_count = size_of_labels(sizes, groups);
    const Value left = arranged(lowering, a, groups + rows + inner, group_count * size_of_labels(sizes, rows));
    const Value right = arranged(lowering, b, groups + cols + inner, group_count * size_of_labels(sizes, cols));
    const Value product = grouped_product(lowering, left, right, static_cast<std::uint32_t>(group_count));
    Labelled out{nullptr, groups + rows + cols};
    Dims dims;
    for (const char label : out.labels) {
        dims.push_back(sizes.at(label));
    }
    out.operand = lowering.add_array(lowering.from_matrix(product, a.operand->type, dims));
    return out;
}

struct Equation {
    std::vector<std::string> operands;
    std::optional<std::string> output;
};

Equation split_equation(const std::string& text) {
    Equation out;
    std::string plain;
    std::remove_copy(text.begin(), text.end(), std::back_inserter(plain), ' ');
    const std::size_t arrow = plain.find("->");
    if (arrow != std::string::npos) {
        out.output = plain.substr(arrow + 2);
        plain.resize(arrow);
    }
    std::size_t first = 0;
    while (first <= plain.size()) {
        const std::size_t comma = std::min(plain.find(',', first), plain.size());
        out.operands.push_back(plain.substr(first, comma - first));
        first = comma + 1;
    }
    return out;
}

void require_labels(const std::string& labels) {
    for (const char label : labels) {
        const bool is_letter = (label >= 'a' && label <= 'z') || (label >= 'A' && label <= 'Z');
        if (!is_letter && !(label >= kFirstUnnamed && label <= '9')) {
            refuse_invalid("the equation is not understood");
        }
    }
}

// Without an arrow: labels that occur once, in alphabetical order, behind the unnamed axes.
std::string implied_output(const std::vector<Labelled>& operands) {
    std::map<char, int> uses;
    for (const Labelled& x : operands) {
        for (const char label : x.labels) {
            ++uses[label];
        }
    }
    std::string out;
    for (const auto& [label, count] : uses) {
        if (label <= '9' || count == 1) {
            out += label;
        }
    }
    return out;
}

Outputs lower_einsum(Call& call) {
    Lowering& lowering = call.lowering();
    const Attribute* given = call.attribute("equation", AttributeKind::kString);
    const Equation equation = split_equation(given == nullptr ? "" : given->text);
    if (equation.operands.size() != call.input_count()) {
        refuse_invalid("the equation has " + std::to_string(equation.operands.size()) + " operands");
    }
    std::vector<Labelled> operands;
    std::map<char, std::uint32_t> sizes;
    std::size_t unnamed = 0;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        require_real(call.in(i));
        call.require_same_type(0, i);
        const std::string& labels = equation.operands[i];
        const bool has_ellipsis = labels.find("...") != std::string::npos;
        const std::size_t named = labels.size() - (has_ellipsis ? 3 : 0);
        if (named > call.rank(i) || (!has_ellipsis && named != call.rank(i)) || call.in(i)->is_empty()) {
            refuse_invalid("labels '" + labels + "' for dimensions " + to_text(call.in(i)->dims));
        }
        const std::size_t rest = call.rank(i) - named;
        if (has_ellipsis && unnamed != 0 && rest != unnamed) {
            refuse_unsupported("ellipses that stand for different numbers of axes");
        }
        unnamed = has_ellipsis ? rest : unnamed;
        operands.push_back({call.in(i), expand_ellipsis(labels, rest)});
        require_labels(operands.back().labels);
        for (std::size_t axis = 0; axis < call.rank(i); ++axis) {
            const auto [known, is_new] = sizes.emplace(operands.back().labels[axis], call.in(i)->dims[axis]);
            if (!is_new && known->second != call.in(i)->dims[axis]) {
                refuse_unsupported(std::string("label '") + known->first + "' has two sizes");
            }
        }
    }
    const std::string output = equation.output ? expand_ellipsis(*equation.output, unnamed) : implied_output(operands);
    require_labels(output);
    Labelled total;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        std::string later = output;
        for (std::size_t j = i + 1; j < operands.size(); ++j) {
            later += operands[j].labels;
        }
        const Labelled next = summed(lowering, without_repeats(lowering, operands[i]), later + total.labels);
        total = i == 0 ? next : combined(lowering, total, next, later, sizes);
    }
    total = summed(lowering, total, output);
    std::vector<std::uint32_t> order;
    for (const char label : output) {
        const std::size_t at = total.labels.find(label);
        if (at == std::string::npos || std::count(output.begin(), output.end(), label) != 1) {
            refuse_invalid(std::string("output label '") + label + "' is repeated or unknown");
        }
        order.push_back(static_cast<std::uint32_t>(at));
    }
    return {lowering.permute(total.operand, order)};
}

}  // namespace

std::vector<Operator> einsum_operators() { return {{"Einsum", 12, Derivative::kExact, {"equation"}, lower_einsum}}; }

}  // namespace assay::onnx
