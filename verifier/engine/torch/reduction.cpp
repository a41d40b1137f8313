// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/reduction.hpp>

#include <verifier/engine/torch/math.hpp>
#include <verifier/engine/backend/backend.hpp>

namespace assay::engine {

using canonical::Node;
using canonical::Shape;

namespace {

std::int64_t rows_of(const at::Tensor& x) { return x.size(0); }
std::int64_t cols_of(const at::Tensor& x) { return x.size(1); }

at::Tensor numbers(const DeviceMath& math, const at::Tensor& x) {
    return at::where(x.ne(x), math.f32(kMinusInfinity), x);
}

}  // namespace

// NUM-18
at::Tensor row_max(const DeviceMath& math, const at::Tensor& x) {
    return x.scalar_type() == at::kInt ? x.amax(1, true) : math.canon(numbers(math, x).amax(1, true));
}

// NUM-38
at::Tensor row_arg_max(const DeviceMath& math, const at::Tensor& x) {
    const at::Tensor best = numbers(math, x).amax(1, true);
    const at::Tensor column = math.iota(cols_of(x), at::kInt).unsqueeze(0);
    const at::Tensor none = math.iota(1, at::kInt) + cols_of(x);
    const at::Tensor first = at::where(x.eq(best), column, none).amin(1, true);
    return first * first.lt(cols_of(x)).to(at::kInt);
}

// NUM-13: the exponent from the bits; a denormal's from the bits of its own bits as a number.
at::Tensor row_exponent(const at::Tensor& x, std::int64_t chunk) {
    const at::Tensor all = DeviceMath::magnitude(x);
    at::Tensor finite = all * all.lt(kInfinity).to(at::kInt);
    const std::int64_t chunks = (cols_of(x) + chunk - 1) / chunk;
    if (chunks > 1) {
        if (const std::int64_t missing = chunks * chunk - cols_of(x); missing != 0) {
            finite = at::constant_pad_nd(finite, {0, missing}, 0);
        }
        finite = finite.view({rows_of(x), chunks, chunk});
    } else {
        finite = finite.unsqueeze(1);
    }
    const at::Tensor best = finite.amax(2);
    const at::Tensor biased = best.bitwise_right_shift(23);
    const at::Tensor width = best.to(at::kFloat).view(at::kInt).bitwise_right_shift(23) - 126;
    const at::Tensor exponent = at::where(biased.ne(0), biased - 126, width - 149);
    return exponent * best.ne(0).to(at::kInt);
}

// NUM-14
at::Tensor quantise(const DeviceMath& math, const Node& node, const at::Tensor& x, const at::Tensor& e) {
    const std::int64_t precision = node.attributes[0];
    const std::int64_t chunk = node.attributes[1];
    at::Tensor scale = DeviceMath::power_of_two(precision - e.to(at::kLong));
    if (cols_of(e) > 1) {
        scale = scale.unsqueeze(2).expand({rows_of(e), cols_of(e), chunk}).reshape({rows_of(e), -1});
        scale = scale.narrow(1, 0, cols_of(x));
    }
    const double most = quantised_limit(node.attributes[0]);
    const at::Tensor high = math.f64(most);
    const at::Tensor low = math.f64(-most);
    const at::Tensor is_finite = DeviceMath::magnitude(x).lt(kInfinity);
    at::Tensor scaled = at::mul(at::where(is_finite, x, math.f32(0)).to(at::kDouble), scale);
    scaled = at::where(scaled.gt(high), high, scaled);
    scaled = at::where(scaled.lt(low), low, scaled);
    return math.rint(scaled).to(at::kInt);
}

// NUM-15
at::Tensor dequantise(const DeviceMath& math, const at::Tensor& q, const at::Tensor& e, std::int64_t precision) {
    const at::Tensor scale = DeviceMath::power_of_two(e.to(at::kLong) - precision);
    return math.canon(at::mul(q.to(at::kDouble), scale).to(at::kFloat));
}

RowIndex checked_rows(const at::Tensor& index, std::int64_t rows) {
    const at::Tensor flat = index.reshape({-1}).to(at::kLong);
    const at::Tensor is_row = flat.ge(0).logical_and(flat.lt(rows));
    return {is_row, flat * is_row.to(at::kLong)};
}

at::Tensor gather_rows(const at::Tensor& table, const at::Tensor& index, Shape shape) {
    const auto [is_row, row] = checked_rows(index, rows_of(table));
    const at::Tensor rows = table.index_select(0, row);
    return at::where(is_row.unsqueeze(1), rows, at::zeros({}, table.options())).view(sizes_of(shape));
}

at::Tensor scatter_add_rows(const at::Tensor& q, const at::Tensor& index, Shape shape) {
    const auto [is_row, row] = checked_rows(index, shape.rows);
    const at::Tensor terms =
        q.reshape({-1, std::int64_t{shape.cols}}).to(at::kLong) * is_row.to(at::kLong).unsqueeze(1);
    return at::zeros(sizes_of(shape), terms.options()).index_add_(0, row, terms);
}

at::Tensor one_hot(const DeviceMath& math, const at::Tensor& index, std::int64_t classes) {
    return DeviceMath::truth(math.iota(classes, at::kInt).unsqueeze(0).eq(index));
}

}  // namespace assay::engine
