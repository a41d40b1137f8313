// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/view_rows.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

#include <verifier/engine/fused/instructions.hpp>
#include <verifier/engine/fused/transpose.hpp>
#include <verifier/engine/fused/vectorised.hpp>

namespace assay::engine::fused {
namespace {

constexpr std::int64_t kSquare = 8;  // rows and columns that are transposed at once
constexpr std::int64_t kShortRun = 16;
constexpr std::int64_t kMaxTable = 1 << 20;
constexpr std::int32_t kFillPlace = -1;

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

/// Reads as an input would whose every element is its own place.
struct Places {
    std::int64_t first = 0;
    Places operator+(std::int64_t count) const { return {first + count}; }
    std::int32_t operator[](std::int64_t i) const { return static_cast<std::int32_t>(first + i); }
};

template <class Input, class T>
ASSAY_INLINE void copy_strided(Input from, std::int64_t step, std::int64_t count, T* out) {
    if (step == 0) {
        std::fill_n(out, count, from[0]);
        return;
    }
    if constexpr (std::is_pointer_v<Input>) {
        if (step == 1) {
            std::copy_n(from, count, out);
            return;
        }
    }
    for (std::int64_t j = 0; j < count; ++j) {
        out[j] = from[j * step];
    }
}

// out[i * stride + j] = from[i + j * step] for i < rows, j < cols.
struct Transposition {
    std::int64_t step = 0;
    std::int64_t stride = 0;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
};

template <class T>
void transpose_plain(const T* from, const Transposition& t, std::int64_t first, std::int64_t end, T* out) {
    for (std::int64_t i = 0; i < t.rows; ++i) {
        for (std::int64_t j = first; j < end; ++j) {
            out[i * t.stride + j] = from[i + j * t.step];
        }
    }
}

template <class T>
void transpose_by_columns(const T* from, const Transposition& t, T* out) {
    for (std::int64_t j = 0; j < t.cols; j += kSquare) {
        transpose_plain(from, t, j, std::min(j + kSquare, t.cols), out);
    }
}

void transpose_into(const std::uint64_t* from, const Transposition& t, std::uint64_t* out) {
    transpose_by_columns(from, t, out);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) inline void transpose_square(
    const std::uint32_t* from, std::int64_t step, std::uint32_t* out, std::int64_t stride
) {
    __m256i row[kSquare];
    __m256i pair[kSquare];
    for (std::int64_t j = 0; j < kSquare; ++j) {
        row[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + j * step));
    }
    for (std::int64_t j = 0; j < kSquare; j += 2) {
        pair[j] = _mm256_unpacklo_epi32(row[j], row[j + 1]);
        pair[j + 1] = _mm256_unpackhi_epi32(row[j], row[j + 1]);
    }
    for (std::int64_t half = 0; half < 2; ++half) {
        const __m256i upper_even = _mm256_unpacklo_epi64(pair[half], pair[2 + half]);
        const __m256i upper_odd = _mm256_unpackhi_epi64(pair[half], pair[2 + half]);
        const __m256i lower_even = _mm256_unpacklo_epi64(pair[4 + half], pair[6 + half]);
        const __m256i lower_odd = _mm256_unpackhi_epi64(pair[4 + half], pair[6 + half]);
        const auto store = [&](std::int64_t i, __m256i value) __attribute__((target("avx2"))) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i * stride), value);
        };
        store(2 * half, _mm256_permute2x128_si256(upper_even, lower_even, 0x20));
        store(2 * half + 1, _mm256_permute2x128_si256(upper_odd, lower_odd, 0x20));
        store(2 * half + 4, _mm256_permute2x128_si256(upper_even, lower_even, 0x31));
        store(2 * half + 5, _mm256_permute2x128_si256(upper_odd, lower_odd, 0x31));
    }
}

// Whole squares from the first on, and what is left of the rows and columns by `rest`.
template <std::int64_t kSize, auto square, auto rest>
void transpose_by_squares(const std::uint32_t* from, const Transposition& t, std::uint32_t* out) {
    const std::int64_t rows = t.rows / kSize * kSize;
    const std::int64_t cols = t.cols / kSize * kSize;
    for (std::int64_t i = 0; i < rows; i += kSize) {
        for (std::int64_t j = 0; j < cols; j += kSize) {
            square(from + i + j * t.step, t.step, out + i * t.stride + j, t.stride);
        }
    }
    if (cols < t.cols) {
        rest(
            from + cols * t.step, {.step = t.step, .stride = t.stride, .rows = rows, .cols = t.cols - cols}, out + cols
        );
    }
    if (rows < t.rows) {
        rest(
            from + rows, {.step = t.step, .stride = t.stride, .rows = t.rows - rows, .cols = t.cols},
            out + rows * t.stride
        );
    }
}

void transpose_into(const std::uint32_t* from, const Transposition& t, std::uint32_t* out) {
    constexpr auto kByColumns = transpose_by_columns<std::uint32_t>;
    constexpr auto kBySmallSquares = transpose_by_squares<kSquare, transpose_square, kByColumns>;
    static const bool kHasWide = may_use(Instructions::kAvx512);
    static const bool kHasSquares = may_use(Instructions::kAvx2);
    if (kHasWide) {
        return transpose_by_squares<kWideSquare, transpose_wide_square, kBySmallSquares>(from, t, out);
    }
    kHasSquares ? kBySmallSquares(from, t, out) : kByColumns(from, t, out);
}

#else

void transpose_into(const std::uint32_t* from, const Transposition& t, std::uint32_t* out) {
    transpose_by_columns(from, t, out);
}

#endif

// A negative place stands for the fill; element 0 is always there to be read.
template <class T>
ASSAY_INLINE void look_up_each(const T* from, const std::int32_t* table, std::uint64_t count, T fill, T* out) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::int32_t at = table[i];
        const T value = from[at < 0 ? 0 : at];
        out[i] = at < 0 ? fill : value;
    }
}
ASSAY_VECTORISED void look_up(
    const std::uint32_t* from, const std::int32_t* table, std::uint64_t count, std::uint32_t fill, std::uint32_t* out
) {
    look_up_each(from, table, count, fill, out);
}
ASSAY_VECTORISED void look_up(
    const std::uint64_t* from, const std::int32_t* table, std::uint64_t count, std::uint64_t fill, std::uint64_t* out
) {
    look_up_each(from, table, count, fill, out);
}

}  // namespace

ViewRows::ViewRows(const canonical::View& view) {
    axis_count_ = view.axes.size();
    std::int64_t weight = 1;
    for (std::size_t a = axis_count_; a-- > 0;) {
        const canonical::ViewAxis& from = view.axes[a];
        axes_[a].size = from.size;
        axes_[a].offset = from.offset;
        axes_[a].divisor = from.divisor;
        axes_[a].weight = weight;
        weight *= from.size;
    }
    // Two neighbouring axes of the output are one when every coordinate goes on at the same pace.
    std::size_t before = 0;  // the last axis that is longer than 1
    for (std::size_t k = 0; k < view.dims.size(); ++k) {
        const std::int64_t size = view.dims[k];
        if (size == 1 && (dim_count_ > 0 || k + 1 < view.dims.size())) {
            continue;
        }
        const bool runs_on = dim_count_ > 0 && std::all_of(view.axes.begin(), view.axes.end(), [&](const auto& axis) {
                                 return std::int64_t{axis.strides[before]} == axis.strides[k] * size;
                             });
        before = k;
        const std::size_t at = runs_on ? dim_count_ - 1 : dim_count_++;
        dims_[at] = runs_on ? dims_[at] * size : size;
        for (std::size_t a = 0; a < axis_count_; ++a) {
            axes_[a].strides[at] = view.axes[a].strides[k];
        }
    }
    find_steps();
    find_table();
}

void ViewRows::find_steps() {
    const std::size_t last = dim_count_ - 1;
    is_plain_ = true;
    std::int64_t weight = 1;
    for (std::size_t k = dim_count_; k-- > 0;) {
        out_steps_[k] = weight;
        weight *= dims_[k];
    }
    for (std::size_t a = 0; a < axis_count_; ++a) {
        const Axis& axis = axes_[a];
        is_divided_ = is_divided_ || (axis.divisor != 1 && axis.strides[last] != 0);
        step_ += axis.strides[last] * axis.weight;
        std::int64_t low = axis.offset;
        std::int64_t high = axis.offset;
        for (std::size_t k = 0; k < dim_count_; ++k) {
            (axis.strides[k] < 0 ? low : high) += axis.strides[k] * (dims_[k] - 1);
            in_steps_[k] += axis.strides[k] * axis.weight;
        }
        start_ += axis.offset * axis.weight;
        is_plain_ = is_plain_ && axis.divisor == 1 && low >= 0 && high < axis.size;
    }
    transposed_ = last;
    for (std::size_t k = 0; k < last && in_steps_[last] > 1; ++k) {
        if (in_steps_[k] == 1 && dims_[k] >= kSquare) {
            transposed_ = k;
        }
    }
}

// Whether this axis moves only along coordinates that are always in range and that no later axis moves along.
bool ViewRows::is_separate(std::size_t dim) const {
    for (std::size_t a = 0; a < axis_count_; ++a) {
        const Axis& axis = axes_[a];
        if (axis.strides[dim] == 0) {
            continue;
        }
        std::int64_t low = axis.offset;
        std::int64_t high = axis.offset;
        for (std::size_t k = 0; k < dim_count_; ++k) {
            (axis.strides[k] < 0 ? low : high) += axis.strides[k] * (dims_[k] - 1);
            if (k > dim && axis.strides[k] != 0) {
                return false;
            }
        }
        if (axis.divisor != 1 || low < 0 || high >= axis.size) {
            return false;
        }
    }
    return true;
}

void ViewRows::find_table() {
    const std::size_t last = dim_count_ - 1;
    if (is_plain_ || (dims_[last] >= kShortRun && !is_divided_)) {
        return;
    }
    while (table_first_ < last && is_separate(table_first_)) {
        ++table_first_;
    }
    const std::int64_t size = out_steps_[table_first_] * dims_[table_first_];
    std::int64_t input_size = 1;
    for (std::size_t a = 0; a < axis_count_; ++a) {
        input_size *= axes_[a].size;
    }
    if (size <= kMaxTable && input_size <= std::numeric_limits<std::int32_t>::max()) {
        table_size_ = static_cast<std::size_t>(size);
    }
}

const std::int32_t* ViewRows::table() const {
    std::call_once(table_made_, [&] {
        table_.resize(table_size_);
        copy_checked(Places{}, 0, table_size_, kFillPlace, table_.data());
    });
    return table_.data();
}

ViewRows::Run ViewRows::run_of(const Index& base, std::int64_t inner) const {
    Run run{.low = 0, .high = inner};
    const std::size_t last = dim_count_ - 1;
    for (std::size_t a = 0; a < axis_count_; ++a) {
        const Axis& axis = axes_[a];
        const std::int64_t stride = axis.strides[last];
        if (stride == 0) {
            if (base[a] < 0 || base[a] % axis.divisor != 0 || base[a] / axis.divisor >= axis.size) {
                return {};
            }
            run.start += base[a] / axis.divisor * axis.weight;
            continue;
        }
        // 0 <= base + stride * j < size
        const std::int64_t end = axis.size - 1;
        const std::int64_t low = stride > 0 ? ceil_div(-base[a], stride) : ceil_div(end - base[a], stride);
        const std::int64_t high = stride > 0 ? floor_div(end - base[a], stride) : floor_div(-base[a], stride);
        run.low = std::max(run.low, low);
        run.high = std::min(run.high, high + 1);
        run.start += base[a] * axis.weight;
    }
    return run.low < run.high ? run : Run{};
}

template <class Input, class T>
void ViewRows::copy_divided(Input input, const Index& base, std::int64_t first, std::int64_t count, T fill, T* out)
    const {
    const std::size_t last = dim_count_ - 1;
    for (std::int64_t j = first; j < first + count; ++j) {
        std::int64_t from = 0;
        bool is_inside = true;
        for (std::size_t a = 0; a < axis_count_ && is_inside; ++a) {
            std::int64_t coordinate = base[a] + axes_[a].strides[last] * j;
            if (axes_[a].divisor != 1) {
                is_inside = coordinate % axes_[a].divisor == 0;
                coordinate /= axes_[a].divisor;
            }
            is_inside = is_inside && coordinate >= 0 && coordinate < axes_[a].size;
            from += coordinate * axes_[a].weight;
        }
        *out++ = is_inside ? input[from] : fill;
    }
}

ViewRows::Index ViewRows::index_of(std::uint64_t element) const {
    Index index{};
    auto rest = static_cast<std::int64_t>(element);
    for (std::size_t k = dim_count_; k-- > 0;) {
        index[k] = rest % dims_[k];
        rest /= dims_[k];
    }
    return index;
}

// `rows` indices of the transposed axis, each with everything inside it.
template <class T>
void ViewRows::transpose_rows(const T* input, std::int64_t rows, T* out) const {
    const std::size_t last = dim_count_ - 1;
    const Transposition square{
        .step = in_steps_[last], .stride = out_steps_[transposed_], .rows = rows, .cols = dims_[last]};
    Index index{};
    for (;;) {
        transpose_into(input, square, out);
        out += dims_[last];
        std::size_t k = last;
        while (--k > transposed_) {
            input += in_steps_[k];
            if (++index[k] < dims_[k]) {
                break;
            }
            input -= in_steps_[k] * dims_[k];
            index[k] = 0;
        }
        if (k == transposed_) {
            return;
        }
    }
}

template <class T>
void ViewRows::copy_plain(const T* input, std::uint64_t first, std::uint64_t count, T* out) const {
    const std::size_t last = dim_count_ - 1;
    Index index = index_of(first);
    auto left = static_cast<std::int64_t>(count);
    while (left > 0) {
        std::int64_t from = start_;
        std::size_t whole = 0;  // the outermost axis of which `index` is at the beginning of an element
        for (std::size_t k = 0; k < dim_count_; ++k) {
            from += in_steps_[k] * index[k];
            whole = index[k] != 0 ? k : whole;
        }
        // What is copied in one go: indices of one axis, with everything inside it.
        std::size_t axis = last;
        std::int64_t rows = std::min(dims_[last] - index[last], left);
        const std::size_t outer = transposed_ != last ? transposed_ : last == 0 ? 0 : last - 1;
        const std::int64_t possible = std::min(dims_[outer] - index[outer], left / out_steps_[outer]);
        if (outer != last && whole <= outer && possible > 0) {
            axis = outer;
            rows = possible;
        }
        if (axis == last) {
            copy_strided(input + from, step_, rows, out);
        } else if (transposed_ != last) {
            transpose_rows(input + from, rows, out);
        } else {
            for (std::int64_t i = 0; i < rows; ++i) {
                copy_strided(input + from + i * in_steps_[outer], step_, dims_[last], out + i * dims_[last]);
            }
        }
        out += rows * out_steps_[axis];
        left -= rows * out_steps_[axis];
        index[axis] += rows;
        for (std::size_t k = axis; k > 0 && index[k] == dims_[k]; --k) {
            index[k] = 0;
            ++index[k - 1];
        }
    }
}

template <class Input, class T>
void ViewRows::copy_checked(Input input, std::uint64_t first, std::uint64_t count, T fill, T* out) const {
    const std::size_t last = dim_count_ - 1;
    Index index = index_of(first);
    Index base{};  // coordinates at index 0 of the innermost axis
    for (std::size_t a = 0; a < axis_count_; ++a) {
        base[a] = axes_[a].offset;
        for (std::size_t k = 0; k < last; ++k) {
            base[a] += axes_[a].strides[k] * index[k];
        }
    }
    auto left = static_cast<std::int64_t>(count);
    while (left > 0) {
        const std::int64_t inner = index[last];
        const std::int64_t length = std::min(dims_[last] - inner, left);
        if (is_divided_) {
            copy_divided(input, base, inner, length, fill, out);
        } else {
            const Run run = run_of(base, dims_[last]);
            const std::int64_t low = std::clamp(run.low, inner, inner + length);
            const std::int64_t high = std::clamp(run.high, low, inner + length);
            std::fill_n(out, low - inner, fill);
            if (low < high) {
                copy_strided(input + run.start + low * step_, step_, high - low, out + (low - inner));
            }
            std::fill_n(out + (high - inner), inner + length - high, fill);
        }
        out += length;
        left -= length;
        index[last] = 0;
        for (std::size_t k = last; k-- > 0;) {
            const bool carries = ++index[k] == dims_[k];
            for (std::size_t a = 0; a < axis_count_; ++a) {
                base[a] += carries ? axes_[a].strides[k] * (1 - dims_[k]) : axes_[a].strides[k];
            }
            if (!carries) {
                break;
            }
            index[k] = 0;
        }
    }
}

template <class T>
void ViewRows::copy_by_table(const T* input, std::uint64_t first, std::uint64_t count, T fill, T* out) const {
    const std::int32_t* places = table();
    const std::uint64_t size = table_size_;
    while (count > 0) {
        const std::uint64_t inside = first % size;
        const std::uint64_t length = std::min(size - inside, count);
        const Index index = index_of(first - inside);
        std::int64_t base = 0;
        for (std::size_t k = 0; k < table_first_; ++k) {
            base += in_steps_[k] * index[k];
        }
        look_up(input + base, places + inside, length, fill, out);
        first += length;
        count -= length;
        out += length;
    }
}

template <class T>
void ViewRows::copy_any(const T* input, std::uint64_t first, std::uint64_t count, T fill, T* out) const {
    if (is_plain_) {
        copy_plain(input, first, count, out);
    } else if (table_size_ != 0) {
        copy_by_table(input, first, count, fill, out);
    } else {
        copy_checked(input, first, count, fill, out);
    }
}

void ViewRows::copy(
    const std::uint32_t* input, std::uint64_t first, std::uint64_t count, std::uint32_t fill, std::uint32_t* out
) const {
    copy_any(input, first, count, fill, out);
}

void ViewRows::copy(
    const std::uint64_t* input, std::uint64_t first, std::uint64_t count, std::uint64_t fill, std::uint64_t* out
) const {
    copy_any(input, first, count, fill, out);
}

}  // namespace assay::engine::fused
