// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include <verifier/compile/onnx/gathering.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {
namespace {

Outputs lower_transpose(Call& call) {
    const std::size_t rank = call.rank(0);
    std::vector<std::uint32_t> order(rank);
    std::iota(order.rbegin(), order.rend(), 0U);
    if (call.has_attribute("perm")) {
        const std::vector<std::int64_t> perm = call.integers("perm");
        std::vector<bool> is_used(rank, false);
        if (perm.size() != rank) {
            refuse_invalid("perm names " + std::to_string(perm.size()) + " of " + std::to_string(rank) + " axes");
        }
        for (std::size_t i = 0; i < rank; ++i) {
            order[i] = call.axis_of(perm[i], rank);
            if (is_used[order[i]]) {
                refuse_invalid("perm names an axis twice");
            }
            is_used[order[i]] = true;
        }
    }
    return {call.lowering().permute(call.in(0), order)};
}

Outputs lower_concat(Call& call) {
    const Dims& first = call.in(0)->dims;
    const std::uint32_t axis = call.axis_of(call.integer("axis"), first.size());
    std::vector<Operand> parts;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        const Operand& part = call.in(i);
        call.require_same_type(0, i);
        Dims dims = part->dims;
        if (dims.size() != first.size()) {
            refuse_invalid("dimensions " + to_text(dims) + " do not go with " + to_text(first));
        }
        dims[axis] = first[axis];
        if (dims != first) {
            refuse_invalid("dimensions " + to_text(part->dims) + " do not go with " + to_text(first));
        }
        parts.push_back(part);
    }
    return {call.lowering().concat(parts, axis)};
}

Outputs lower_split(Call& call) {
    const Operand& x = call.in(0);
    const std::uint32_t axis = call.axis_of(call.integer("axis", 0), x->dims.size());
    const std::size_t count = call.node().outputs.size();
    std::vector<std::int64_t> sizes(count, 0);
    if (const auto given = call.integers_or_input("split", 1)) {
        sizes = *given;
    } else if (count == 0 || x->dims[axis] % count != 0) {
        refuse_invalid(
            std::to_string(x->dims[axis]) + " elements do not split into " + std::to_string(count) + " equal parts"
        );
    } else {
        std::fill(sizes.begin(), sizes.end(), std::int64_t{x->dims[axis]} / static_cast<std::int64_t>(count));
    }
    std::int64_t total = 0;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > x->dims[axis]) {
            refuse_invalid("a part of " + std::to_string(size) + " elements");
        }
        total += size;
    }
    if (sizes.size() != count || total != x->dims[axis]) {
        refuse_invalid("the parts do not add up to the input");
    }
    Outputs out;
    std::int64_t first = 0;
    for (const std::int64_t size : sizes) {
        out.push_back(call.lowering().slice(x, axis, first, static_cast<std::uint32_t>(size)));
        first += size;
    }
    return out;
}

// start:end:step of NumPy along an axis of `size` elements.
struct Range {
    std::int64_t first = 0;
    std::uint32_t count = 0;
    std::int32_t step = 1;
};

Range range_of(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
    if (step == 0) {
        refuse_invalid("a step of 0");
    }
    const auto from_end = [size](std::int64_t at) { return at < 0 ? at + size : at; };
    const bool forward = step > 0;
    const std::int64_t low = forward ? 0 : -1;
    const std::int64_t high = forward ? size : size - 1;
    const std::int64_t first = std::clamp(from_end(start), low, high);
    // Beyond either end before counting from the end: INT64_MIN means "before everything".
    const std::int64_t last = std::clamp(end < -size ? low : from_end(end), low, high);
    const std::int64_t span = forward ? last - first : first - last;
    constexpr std::int64_t kLargest = canonical::kMaxViewSize;
    const std::int64_t stride = std::clamp(step, -kLargest, kLargest);
    const std::int64_t size_of_step = forward ? stride : -stride;
    const std::int64_t count = span <= 0 ? 0 : (span + size_of_step - 1) / size_of_step;
    return {first, static_cast<std::uint32_t>(count), static_cast<std::int32_t>(count <= 1 ? 1 : stride)};
}

Outputs lower_slice(Call& call) {
    Operand out = call.in(0);
    const std::size_t rank = out->dims.size();
    const bool as_inputs = call.opset() >= 10;
    const auto starts = as_inputs ? call.known_integers(1, "starts") : call.integers("starts");
    const auto ends = as_inputs ? call.known_integers(2, "ends") : call.integers("ends");
    std::vector<std::int64_t> axes(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (const auto given = call.integers_or_input("axes", 3)) {
        axes = *given;
    }
    std::vector<std::int64_t> steps(starts.size(), 1);
    if (call.has(4)) {
        steps = call.known_integers(4, "steps");
    }
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
        refuse_invalid("starts, ends, axes and steps are not equally many");
    }
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::uint32_t axis = call.axis_of(axes[i], rank);
        const Range range = range_of(starts[i], ends[i], steps[i], out->dims[axis]);
        out = call.lowering().slice(out, axis, range.first, range.count, range.step);
    }
    return {out};
}

// Positions along an axis of `size` elements with `before` and `after` more, by how they mirror or repeat.
std::vector<std::int64_t> padded_positions(std::int64_t size, std::int64_t before, std::int64_t after, bool mirrors) {
    if (size == 0 || before + size + after > static_cast<std::int64_t>(kMaxConstant)) {
        refuse_too_large("padding makes a dimension of " + std::to_string(before + size + after));
    }
    std::vector<std::int64_t> out;
    for (std::int64_t i = -before; i < size + after; ++i) {
        if (!mirrors) {
            out.push_back(std::clamp<std::int64_t>(i, 0, size - 1));
            continue;
        }
        const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1);
        const std::int64_t at = ((i % period) + period) % period;
        out.push_back(at < size ? at : period - at);
    }
    return out;
}

Outputs lower_pad(Call& call) {
    Lowering& lowering = call.lowering();
    Operand out = call.in(0);
    const std::size_t rank = out->dims.size();
    const auto pads = call.opset() >= 11 ? call.known_integers(1, "pads") : call.integers("pads");
    if (pads.size() != 2 * rank) {
        refuse_invalid("there are " + std::to_string(pads.size()) + " pads for " + std::to_string(rank) + " axes");
    }
    std::vector<std::int32_t> before;
    std::vector<std::int32_t> after;
    for (std::size_t i = 0; i < 2 * rank; ++i) {
        if (pads[i] < -std::int64_t{canonical::kMaxViewSize} || pads[i] > std::int64_t{canonical::kMaxViewSize}) {
            refuse_too_large("a pad of " + std::to_string(pads[i]));
        }
        (i < rank ? before : after).push_back(static_cast<std::int32_t>(pads[i]));
    }
    const std::string mode = call.text("mode", "constant");
    if (mode == "constant") {
        const double fill =
            call.has(2) ? call.known_real(2, "constant_value") : static_cast<double>(call.real("value", 0.0F));
        return {lowering.pad(out, before, after, fill)};
    }
    if (mode != "reflect" && mode != "edge") {
        call.unsupported_attribute("mode", "'" + mode + "'");
    }
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
        const auto positions = padded_positions(out->dims[axis], before[axis], after[axis], mode == "reflect");
        out = pick(lowering, out, axis, positions);
    }
    return {out};
}

// [N, C, H, W] -> [N, C / b^2, H b, W b]
Outputs lower_depth_to_space(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    const std::int64_t block = call.integer("blocksize");
    if (x->dims.size() != 4 || block < 1 || block > 0x1000 || x->dims[1] % (block * block) != 0) {
        refuse_invalid("dimensions " + to_text(x->dims) + " and blocksize " + std::to_string(block) + " do not fit");
    }
    const auto b = static_cast<std::uint32_t>(block);
    const auto [n, c, h, w] = std::array{x->dims[0], x->dims[1] / (b * b), x->dims[2], x->dims[3]};
    const std::string mode = call.text("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") {
        call.unsupported_attribute("mode", "'" + mode + "'");
    }
    const bool depth_first = mode == "DCR";
    const Operand split = lowering.reshape(x, depth_first ? Dims{n, b, b, c, h, w} : Dims{n, c, b, b, h, w});
    const std::vector<std::uint32_t> order =
        depth_first ? std::vector<std::uint32_t>{0, 3, 4, 1, 5, 2} : std::vector<std::uint32_t>{0, 1, 4, 2, 5, 3};
    return {lowering.reshape(lowering.permute(split, order), Dims{n, c, h * b, w * b})};
}

Outputs lower_space_to_depth(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    const std::int64_t block = call.integer("blocksize");
    if (x->dims.size() != 4 || block < 1 || block > 0x1000 || x->dims[2] % block != 0 || x->dims[3] % block != 0) {
        refuse_invalid("dimensions " + to_text(x->dims) + " and blocksize " + std::to_string(block) + " do not fit");
    }
    const auto b = static_cast<std::uint32_t>(block);
    const auto [n, c, h, w] = std::array{x->dims[0], x->dims[1], x->dims[2] / b, x->dims[3] / b};
    const Operand split = lowering.reshape(x, Dims{n, c, h, b, w, b});
    const std::vector<std::uint32_t> order{0, 3, 5, 1, 2, 4};
    return {lowering.reshape(lowering.permute(split, order), Dims{n, b * b * c, h, w})};
}

// Keeps what lies on one side of the k-th diagonal of the last two axes.
Outputs lower_trilu(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    if (x->dims.size() < 2) {
        refuse_invalid("the input has fewer than two axes");
    }
    if (x->is_empty()) {
        return {x};
    }
    const bool upper = call.integer("upper", 1) != 0;
    const std::int64_t k = call.has(1) ? call.known_integer(1, "k") : 0;
    const Dims mask_dims(x->dims.end() - 2, x->dims.end());
    if (checked_elements(mask_dims) > kMaxConstant) {
        refuse_too_large("a mask of dimensions " + to_text(mask_dims));
    }
    std::vector<std::int64_t> mask;
    for (std::int64_t row = 0; row < mask_dims[0]; ++row) {
        for (std::int64_t col = 0; col < mask_dims[1]; ++col) {
            mask.push_back((upper ? col - row >= k : col - row <= k) ? 1 : 0);
        }
    }
    Constant keeps = make_integers(ElementType::kBool, mask_dims, std::move(mask));
    if (x->constant) {
        const Constant zero = make_uniform(x->type, {}, 0.0);
        return {lowering.add_constant(where_constant(keeps, *x->constant, zero, x->dims))};
    }
    const Operand condition = lowering.add_constant(std::move(keeps));
    const Value whole = lowering.whole(lowering.array(x), x->dims, false);
    const Value picks = lowering.fit(lowering.array(condition), x->dims, false);
    return {lowering.add_array({x->type, x->dims, call.tape().select(whole, picks, lowering.scalar(0.0F)), false})};
}

}  // namespace

std::vector<Operator> movement_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"Transpose", 1, kExact, {"perm"}, lower_transpose},
        {"Concat", 4, kExact, {"axis"}, lower_concat},
        {"Split", 2, kExact, {"axis", "split"}, lower_split},
        {"Slice", 1, kExact, {"axes", "ends", "starts"}, lower_slice},
        {"Pad", 2, kExact, {"mode", "pads", "value"}, lower_pad},
        {"DepthToSpace", 11, kExact, {"blocksize", "mode"}, lower_depth_to_space},
        {"SpaceToDepth", 1, kExact, {"blocksize"}, lower_space_to_depth},
        {"Trilu", 14, kExact, {"upper"}, lower_trilu},
    };
}

}  // namespace assay::onnx
