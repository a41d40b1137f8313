// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/gathering.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/rows.hpp>

namespace assay::onnx {
namespace {

struct Settings {
    std::string mode;
    std::string coordinates;
    std::string nearest;
    double cubic = -0.75;
    bool excludes_outside = false;
};

// One axis: where each element of the result lies among those of the input.
struct Axis {
    std::uint32_t from = 1;
    std::uint32_t to = 1;
    double scale = 1.0;
};

double position(const Settings& settings, const Axis& axis, double at) {
    if (settings.coordinates == "half_pixel") {
        return (at + 0.5) / axis.scale - 0.5;
    }
    if (settings.coordinates == "pytorch_half_pixel") {
        return axis.to > 1 ? (at + 0.5) / axis.scale - 0.5 : 0.0;
    }
    if (settings.coordinates == "align_corners") {
        // With a scale that is given, the result's length before it was rounded.
        return axis.to > 1 ? at * (axis.from - 1) / (axis.scale * axis.from - 1.0) : 0.0;
    }
    if (settings.coordinates == "tf_half_pixel_for_nn") {
        return (at + 0.5) / axis.scale;
    }
    return at / axis.scale;
}

double nearest_of(const std::string& rule, double at) {
    if (rule == "floor") {
        return std::floor(at);
    }
    if (rule == "ceil") {
        return std::ceil(at);
    }
    return rule == "round_prefer_ceil" ? std::floor(at + 0.5) : std::ceil(at - 0.5);
}

std::vector<std::int64_t> nearest_positions(const Settings& settings, const Axis& axis) {
    std::vector<std::int64_t> out;
    for (std::uint32_t i = 0; i < axis.to; ++i) {
        const double at = nearest_of(settings.nearest, position(settings, axis, i));
        out.push_back(static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.from - 1))));
    }
    return out;
}

// The weights of the elements around a position, the first of them `first` from its floor.
std::vector<double> weights_of(const Settings& settings, double fraction) {
    if (settings.mode == "linear") {
        return {1.0 - fraction, fraction};
    }
    const double a = settings.cubic;
    const auto near = [a](double t) { return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0; };
    const auto far = [a](double t) { return ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a; };
    return {far(fraction + 1.0), near(fraction), near(1.0 - fraction), far(2.0 - fraction)};
}

// [to, from]: each row says how an element of the result is made.
std::vector<double> weight_matrix(const Settings& settings, const Axis& axis) {
    std::vector<double> out(std::size_t{axis.to} * axis.from, 0.0);
    for (std::uint32_t i = 0; i < axis.to; ++i) {
        const double at = position(settings, axis, i);
        std::vector<double> weights = weights_of(settings, at - std::floor(at));
        const std::int64_t first = static_cast<std::int64_t>(std::floor(at)) - (weights.size() == 4 ? 1 : 0);
        double total = 0.0;
        for (std::size_t k = 0; k < weights.size(); ++k) {
            const std::int64_t place = first + static_cast<std::int64_t>(k);
            const bool is_outside = place < 0 || place >= std::int64_t{axis.from};
            weights[k] = is_outside && settings.excludes_outside ? 0.0 : weights[k];
            total += weights[k];
        }
        for (std::size_t k = 0; k < weights.size(); ++k) {
            const std::int64_t place = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(k), 0, axis.from - 1);
            out[std::size_t{i} * axis.from + static_cast<std::size_t>(place)] +=
                settings.excludes_outside ? weights[k] / total : weights[k];
        }
    }
    return out;
}

// Each element `times` in a row.
bool repeats(const std::vector<std::int64_t>& positions, std::uint32_t times) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
        if (positions[i] != static_cast<std::int64_t>(i / times)) {
            return false;
        }
    }
    return true;
}

Operand resize_nearest(
    Lowering& lowering, const Settings& settings, const Operand& x, std::uint32_t at, const Axis& axis
) {
    const std::vector<std::int64_t> positions = nearest_positions(settings, axis);
    if (axis.to % axis.from != 0 || !repeats(positions, axis.to / axis.from)) {
        return pick(lowering, x, at, positions);
    }
    std::uint64_t inner = 1;
    for (std::size_t d = at + 1; d < x->dims.size(); ++d) {
        inner *= x->dims[d];
    }
    const auto outer = static_cast<std::uint32_t>(checked_elements(x->dims) / inner);
    const auto width = static_cast<std::uint32_t>(inner);
    const Operand spread = lowering.expand(lowering.reshape(x, {outer, 1, width}), {outer, axis.to / axis.from, width});
    Dims dims = x->dims;
    dims[at] = axis.to;
    return lowering.reshape(spread, dims);
}

Operand resize_smooth(
    Lowering& lowering, const Settings& settings, const Operand& x, std::uint32_t at, const Axis& axis
) {
    if (std::uint64_t{axis.to} * axis.from > kMaxConstant) {
        refuse_too_large("an axis of " + std::to_string(axis.from) + " elements made " + std::to_string(axis.to));
    }
    const Operand matrix =
        lowering.add_constant(make_reals(ElementType::kFloat, {axis.to, axis.from}, weight_matrix(settings, axis)));
    const Rows rows = rows_along(lowering, x, one_axis(at));
    checked_shape(rows.shape.rows, axis.to);
    const Value product = lowering.tape().matmul_nt(rows.value, lowering.array(matrix).value);
    Dims dims = rows.kept;
    dims.push_back(axis.to);
    return lowering.permute(lowering.add_array(lowering.from_matrix(product, x->type, dims)), inverse(rows.order));
}

Axis axis_of_scale(std::uint32_t from, double scale) {
    const double to = std::floor(from * scale);
    if (!(scale > 0.0) || !(to >= 1.0) || to > static_cast<double>(canonical::kMaxDimension)) {
        refuse_invalid("a scale of " + std::to_string(scale) + " for " + std::to_string(from) + " elements");
    }
    return {from, static_cast<std::uint32_t>(to), scale};
}

Axis axis_of_size(std::uint32_t from, std::int64_t to) {
    if (to < 1 || to > std::int64_t{canonical::kMaxDimension}) {
        refuse_invalid("a size of " + std::to_string(to));
    }
    return {from, static_cast<std::uint32_t>(to), static_cast<double>(to) / from};
}

std::vector<double> known_scales(const Call& call, std::size_t i) {
    const Constant scales = call.known(i, "scales");
    std::vector<double> out;
    for (std::size_t k = 0; k < scales.count(); ++k) {
        out.push_back(scales.real(k));
    }
    return out;
}

Outputs resized(Call& call, const Settings& settings, const std::vector<Axis>& axes) {
    Operand out = call.in(0);
    for (std::uint32_t at = 0; at < axes.size(); ++at) {
        const Axis& axis = axes[at];
        if (axis.from == axis.to && axis.scale == 1.0) {
            continue;
        }
        out = settings.mode == "nearest" ? resize_nearest(call.lowering(), settings, out, at, axis)
                                         : resize_smooth(call.lowering(), settings, out, at, axis);
    }
    return {out};
}

std::vector<Axis> axes_of_scales(const Operand& x, const std::vector<double>& scales) {
    if (scales.size() != x->dims.size()) {
        refuse_invalid(std::to_string(scales.size()) + " scales for dimensions " + to_text(x->dims));
    }
    std::vector<Axis> out;
    for (std::size_t i = 0; i < scales.size(); ++i) {
        out.push_back(axis_of_scale(x->dims[i], scales[i]));
    }
    return out;
}

void require_choice(
    const Call& call, const char* name, const std::string& value, std::initializer_list<const char*> choices
) {
    if (std::none_of(choices.begin(), choices.end(), [&](const char* choice) { return value == choice; })) {
        call.unsupported_attribute(name, "'" + value + "'");
    }
}

Outputs lower_resize(Call& call) {
    const Operand& x = call.in(0);
    if (x->is_empty()) {
        refuse_unsupported("the input has no elements");
    }
    Settings settings;
    settings.mode = call.text("mode", "nearest");
    settings.coordinates = call.text("coordinate_transformation_mode", "half_pixel");
    settings.nearest = call.text("nearest_mode", "round_prefer_floor");
    settings.cubic = static_cast<double>(call.real("cubic_coeff_a", -0.75F));
    settings.excludes_outside = call.integer("exclude_outside", 0) != 0;
    require_choice(call, "mode", settings.mode, {"nearest", "linear", "cubic"});
    require_choice(
        call, "coordinate_transformation_mode", settings.coordinates,
        {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"}
    );
    require_choice(
        call, "nearest_mode", settings.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}
    );
    if (settings.mode != "nearest") {
        require_real(x);
    }
    // An empty tensor stands for scales that are not given.
    if (call.has(3)) {
        const std::vector<std::int64_t> sizes = call.known_integers(3, "sizes");
        if (sizes.size() != x->dims.size()) {
            refuse_invalid(std::to_string(sizes.size()) + " sizes for dimensions " + to_text(x->dims));
        }
        std::vector<Axis> axes;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            axes.push_back(axis_of_size(x->dims[i], sizes[i]));
        }
        return resized(call, settings, axes);
    }
    return resized(call, settings, axes_of_scales(x, known_scales(call, 2)));
}

Outputs lower_upsample(Call& call) {
    const Operand& x = call.in(0);
    if (x->is_empty()) {
        refuse_unsupported("the input has no elements");
    }
    const Settings settings{.mode = call.text("mode", "nearest"), .coordinates = "asymmetric", .nearest = "floor"};
    require_choice(call, "mode", settings.mode, {"nearest", "linear"});
    if (settings.mode != "nearest") {
        require_real(x);
    }
    if (const Attribute* scales = call.attribute("scales", AttributeKind::kFloats)) {
        return resized(call, settings, axes_of_scales(x, {scales->reals.begin(), scales->reals.end()}));
    }
    return resized(call, settings, axes_of_scales(x, known_scales(call, 1)));
}

}  // namespace

std::vector<Operator> resize_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"Resize",
         11,
         kExact,
         {"coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "mode",
          "nearest_mode"},
         lower_resize},
        {"Upsample", 7, kExact, {"mode", "scales"}, lower_upsample},
    };
}

}  // namespace assay::onnx
