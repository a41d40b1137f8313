// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/array.hpp>

using namespace assay;
using namespace assay::program;
using canonical::View;
using canonical::ViewAxis;
using test::Numbers;

namespace {

std::size_t input_count(const View& view) {
    std::size_t count = 1;
    for (const ViewAxis& axis : view.axes) {
        count *= axis.size;
    }
    return count;
}

// NUM-34, once more and independently: which element of the input each one of the output copies.
std::vector<std::optional<std::size_t>> sources(const View& view) {
    std::vector<std::optional<std::size_t>> out;
    const std::size_t count = element_count(view.dims);
    for (std::size_t n = 0; n < count; ++n) {
        std::vector<std::int64_t> index(view.dims.size());
        std::size_t rest = n;
        for (std::size_t j = view.dims.size(); j-- > 0;) {
            index[j] = static_cast<std::int64_t>(rest % view.dims[j]);
            rest /= view.dims[j];
        }
        std::optional<std::size_t> from = 0;
        for (const ViewAxis& axis : view.axes) {
            std::int64_t at = axis.offset;
            for (std::size_t j = 0; j < index.size(); ++j) {
                at += axis.strides[j] * index[j];
            }
            const std::int64_t divisor = axis.divisor;
            if (at < 0 || at % divisor != 0 || at / divisor >= axis.size) {
                from.reset();
                break;
            }
            *from = *from * axis.size + static_cast<std::size_t>(at / divisor);
        }
        out.push_back(from);
    }
    return out;
}

std::vector<std::int64_t> apply(const View& view, const std::vector<std::int64_t>& x, std::int64_t fill) {
    REQUIRE(x.size() == input_count(view));
    std::vector<std::int64_t> out;
    for (const auto& from : sources(view)) {
        out.push_back(from ? x[*from] : fill);
    }
    return out;
}

std::vector<std::int64_t> counting(std::size_t count) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(static_cast<std::int64_t>(i));
    }
    return out;
}

std::vector<std::int64_t> whole_numbers(Numbers& numbers, std::size_t count) {
    std::vector<std::int64_t> out(count);
    for (std::int64_t& x : out) {
        x = numbers.between(-9, 9);
    }
    return out;
}

Dims random_dims(Numbers& numbers, std::size_t axes, std::uint64_t longest) {
    Dims dims;
    for (std::size_t i = 0; i < axes; ++i) {
        dims.push_back(static_cast<std::uint32_t>(1 + numbers.below(longest)));
    }
    return dims;
}

// A random factorisation of the same number of elements.
Dims random_reshape(Numbers& numbers, const Dims& dims) {
    Dims out;
    auto rest = static_cast<std::uint32_t>(element_count(dims));
    while (rest > 1 && out.size() < 4) {
        std::uint32_t factor = 1 + static_cast<std::uint32_t>(numbers.below(rest));
        while (rest % factor != 0) {
            ++factor;
        }
        out.push_back(factor);
        rest /= factor;
    }
    if (rest > 1 || out.empty()) {
        out.push_back(rest);
    }
    return out;
}

Windows random_windows(Numbers& numbers, std::size_t axes) {
    Windows windows;
    for (std::size_t i = 0; i < axes; ++i) {
        windows.kernel.push_back(static_cast<std::uint32_t>(1 + numbers.below(3)));
        windows.stride.push_back(static_cast<std::uint32_t>(1 + numbers.below(3)));
        windows.dilation.push_back(static_cast<std::uint32_t>(1 + numbers.below(2)));
        const auto reach = static_cast<std::int32_t>(windows.dilation[i] * (windows.kernel[i] - 1));
        windows.pad_before.push_back(static_cast<std::int32_t>(numbers.between(0, reach)));
        windows.pad_after.push_back(reach - windows.pad_before[i]);
    }
    windows.rounds_up = numbers.below(2) == 0;
    return windows;
}

View random_slice(Numbers& numbers, const Dims& dims) {
    const auto axis = static_cast<std::uint32_t>(numbers.below(dims.size()));
    const std::int64_t size = dims[axis];
    std::int32_t step = static_cast<std::int32_t>(numbers.between(-2, 2));
    step = step == 0 ? 1 : step;
    const std::int64_t first = numbers.between(0, size - 1);
    const std::int64_t most = (step > 0 ? size - 1 - first : first) / std::abs(step) + 1;
    return slice_view(dims, axis, first, static_cast<std::uint32_t>(numbers.between(1, most)), step);
}

// One of the builders at random.
View random_view(Numbers& numbers, const Dims& dims) {
    const std::size_t n = dims.size();
    switch (numbers.below(6)) {
        case 0:
            return reshape_view(dims, random_reshape(numbers, dims));
        case 1: {
            std::vector<std::uint32_t> order;
            for (std::uint32_t i = 0; i < n; ++i) {
                order.push_back(i);
                std::swap(order[i], order[numbers.below(i + 1)]);
            }
            return permute_view(dims, order);
        }
        case 2:
            return random_slice(numbers, dims);
        case 3: {
            std::vector<std::int32_t> before;
            std::vector<std::int32_t> after;
            for (const std::uint32_t size : dims) {
                before.push_back(static_cast<std::int32_t>(numbers.between(size > 2 ? -1 : 0, 2)));
                after.push_back(static_cast<std::int32_t>(numbers.between(size > 2 ? -1 : 0, 2)));
            }
            return pad_view(dims, before, after);
        }
        case 4: {
            Dims to = dims;
            for (std::uint32_t& size : to) {
                size = size == 1 ? static_cast<std::uint32_t>(1 + numbers.below(3)) : size;
            }
            if (n < 4) {
                to.insert(to.begin(), static_cast<std::uint32_t>(1 + numbers.below(3)));
            }
            return expand_view(dims, to);
        }
        default:
            return n == 3 || n == 4 ? windows_view(dims, random_windows(numbers, n - 2)) : random_slice(numbers, dims);
    }
}

// Any map at all: strides, offsets and divisors that no builder would write.
View wild_view(Numbers& numbers) {
    View view{random_dims(numbers, 1 + numbers.below(3), 4), {}};
    const std::size_t axes = 1 + numbers.below(3);
    for (std::size_t i = 0; i < axes; ++i) {
        ViewAxis axis{
            static_cast<std::uint32_t>(1 + numbers.below(6)),
            static_cast<std::int32_t>(numbers.between(-3, 3)),
            static_cast<std::uint32_t>(1 + numbers.below(3)),
            {}};
        for (std::size_t j = 0; j < view.dims.size(); ++j) {
            axis.strides.push_back(static_cast<std::int32_t>(numbers.between(-3, 3)));
        }
        view.axes.push_back(std::move(axis));
    }
    return view;
}

// <A x, y> == <x, A^T y> over the integers, the adjoint's readings summed.
void check_adjoint(Numbers& numbers, const View& view) {
    const View back = adjoint_view(view);
    const std::size_t inputs = input_count(view);
    const std::size_t outputs = element_count(view.dims);
    REQUIRE(input_count(back) == outputs);
    REQUIRE(element_count(back.dims) % inputs == 0);
    const std::vector<std::int64_t> x = whole_numbers(numbers, inputs);
    const std::vector<std::int64_t> y = whole_numbers(numbers, outputs);
    const std::vector<std::int64_t> forward = apply(view, x, 0);
    const std::vector<std::int64_t> readings = apply(back, y, 0);
    std::int64_t left = 0;
    for (std::size_t i = 0; i < outputs; ++i) {
        left += forward[i] * y[i];
    }
    const std::size_t times = readings.size() / inputs;
    std::int64_t right = 0;
    for (std::size_t i = 0; i < readings.size(); ++i) {
        right += readings[i] * x[i / times];
    }
    CHECK(left == right);
}

}  // namespace

TEST_CASE("arrays of more than 2^28 elements are reshaped by axes that both shapes have") {
    // What element `index` of the output reads.
    const auto read = [](const View& view, std::uint64_t index) {
        std::vector<std::int64_t> at(view.dims.size());
        for (std::size_t i = view.dims.size(); i-- > 0; index /= view.dims[i]) {
            at[i] = static_cast<std::int64_t>(index % view.dims[i]);
        }
        std::uint64_t out = 0;
        for (const canonical::ViewAxis& axis : view.axes) {
            std::int64_t place = axis.offset;
            for (std::size_t i = 0; i < at.size(); ++i) {
                place += at[i] * axis.strides[i];
            }
            REQUIRE(place >= 0);
            REQUIRE(place < std::int64_t{axis.size});
            out = out * axis.size + static_cast<std::uint64_t>(place);
        }
        return out;
    };
    const std::vector<std::pair<Dims, Dims>> cases{
        {{8192, 50257}, {8, 1024, 50257}}, {{16384, 30522}, {512, 976704}},      {{512, 976704}, {16384, 30522}},
        {{12000000, 90}, {90000, 12000}},  {{6, 4, 20000000}, {4, 6, 20000000}}, {{1, 20000, 1, 20000}, {100, 4000000}},
    };
    for (const auto& [from, to] : cases) {
        const auto view = try_reshape_view(from, to);
        REQUIRE(view.has_value());
        const std::uint64_t count = element_count(to);
        CHECK(element_count(view->dims) == count);
        for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, count / 3, count / 2 + 7, count - 1}) {
            CHECK(read(*view, index) == index);
        }
        for (const canonical::ViewAxis& axis : view->axes) {
            CHECK(axis.size <= canonical::kMaxViewSize);
        }
    }
    // Two primes: no axis is common to both.
    CHECK_FALSE(try_reshape_view({16381, 32749}, {32749, 16381}).has_value());
}

TEST_CASE("an array is the matrix whose columns are its last axis") {
    using canonical::Shape;
    CHECK((matrix_shape(Dims{}) == Shape{1, 1}));
    CHECK((matrix_shape(Dims{7}) == Shape{1, 7}));
    CHECK((matrix_shape(Dims{2, 3, 4}) == Shape{6, 4}));
}

TEST_CASE("reshapes, permutations, slices, paddings and expansions copy what they say") {
    using Row = std::vector<std::int64_t>;
    CHECK(apply(reshape_view({2, 6}, {3, 4}), counting(12), -1) == counting(12));
    CHECK(apply(reshape_view({2, 3, 2}, {1, 6, 2, 1}), counting(12), -1) == counting(12));
    CHECK(apply(permute_view({2, 3}, std::array<std::uint32_t, 2>{1, 0}), counting(6), -1) == Row{0, 3, 1, 4, 2, 5});
    CHECK(
        apply(permute_view({2, 1, 3}, std::array<std::uint32_t, 3>{2, 1, 0}), counting(6), -1) == Row{0, 3, 1, 4, 2, 5}
    );
    CHECK(apply(slice_view({2, 5}, 1, 1, 2, 2), counting(10), -1) == Row{1, 3, 6, 8});
    CHECK(apply(slice_view({2, 3}, 1, 2, 3, -1), counting(6), -1) == Row{2, 1, 0, 5, 4, 3});
    CHECK(
        apply(pad_view({2, 2}, std::array{1, 0}, std::array{0, 1}), counting(4), -1) ==
        Row{-1, -1, -1, 0, 1, -1, 2, 3, -1}
    );
    CHECK(apply(pad_view({3}, std::array{-1}, std::array{1}), counting(3), -1) == Row{1, 2, -1});
    CHECK(apply(expand_view({2, 1}, {2, 2, 2}), counting(2), -1) == Row{0, 0, 1, 1, 0, 0, 1, 1});
    CHECK(apply(expand_view({}, {2, 2}), counting(1), -1) == Row{0, 0, 0, 0});
}

TEST_CASE("windows are those of a convolution with stride, dilation and padding") {
    using Row = std::vector<std::int64_t>;
    const Dims dims{1, 5, 1};
    const Windows three{.kernel = {3}, .stride = {2}, .dilation = {}, .pad_before = {1}, .pad_after = {1}};
    CHECK(window_dims(dims, three) == Dims{1, 3, 1});
    CHECK(apply(windows_view(dims, three), counting(5), -1) == Row{-1, 0, 1, 1, 2, 3, 3, 4, -1});
    CHECK(
        apply(windows_view(dims, {.kernel = {2}, .stride = {}, .dilation = {3}}), counting(5), -1) == Row{0, 3, 1, 4}
    );
    Windows pairs{.kernel = {2}, .stride = {2}};
    CHECK(window_dims(dims, pairs) == Dims{1, 2, 1});
    pairs.rounds_up = true;
    CHECK(apply(windows_view(dims, pairs), counting(5), -1) == Row{0, 1, 2, 3, 4, -1});
    // A window that would start in the padding behind is none.
    pairs.pad_after = {1};
    CHECK(window_dims({1, 4, 1}, pairs) == Dims{1, 2, 1});
    // Two axes, two channels: the channels of a place stay together.
    const View square = windows_view({1, 2, 2, 2}, {.kernel = {2, 1}});
    CHECK(square.dims == Dims{1, 1, 2, 2, 1, 2});
    CHECK(apply(square, counting(8), -1) == Row{0, 1, 4, 5, 2, 3, 6, 7});
    CHECK(apply(kernel_last(square, 2), counting(8), -1) == Row{0, 4, 1, 5, 2, 6, 3, 7});
}

TEST_CASE("the windows at a place are those that read it") {
    Numbers numbers(3);
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        const std::size_t axes = 1 + numbers.below(2);
        const Dims dims = random_dims(numbers, axes + 2, 5);
        const Windows windows = random_windows(numbers, axes);
        const View forward = windows_view(dims, windows);
        const auto read = sources(forward);
        const View back = windows_at_view(dims, windows, 1);
        const auto windows_read = sources(back);
        const std::size_t kernel = element_count(windows.kernel);
        const std::size_t channels = dims.back();
        // Place p through position k of the kernel is read by window w if and only if w reads p through k.
        for (std::size_t p = 0; p < element_count(dims) / channels; ++p) {
            for (std::size_t k = 0; k < kernel; ++k) {
                const auto window = windows_read[p * kernel + k];
                std::size_t readers = 0;
                for (std::size_t w = 0; w < read.size() / kernel / channels; ++w) {
                    const bool reads = read[(w * kernel + k) * channels] == p * channels;
                    readers += reads ? 1 : 0;
                    CHECK(reads == (window == w));
                }
                CHECK(readers == (window ? 1 : 0));
            }
        }
    }
}

TEST_CASE("the adjoint of a view passes every gradient to where its element came from") {
    Numbers numbers(1);
    for (int round = 0; round < 3'000; ++round) {
        CAPTURE(round);
        check_adjoint(numbers, random_view(numbers, random_dims(numbers, 1 + numbers.below(4), 6)));
    }
}

TEST_CASE("the adjoint of any affine map is right, diagonals and divisors included") {
    Numbers numbers(2);
    for (int round = 0; round < 5'000; ++round) {
        CAPTURE(round);
        check_adjoint(numbers, wild_view(numbers));
    }
}

TEST_CASE("the adjoint of a view that reads nothing twice needs no sum") {
    Numbers numbers(4);
    const auto readings = [](const View& view) { return element_count(adjoint_view(view).dims) / input_count(view); };
    CHECK(readings(reshape_view({4, 6}, {2, 3, 4})) == 1);
    CHECK(readings(permute_view({2, 3, 4}, std::array<std::uint32_t, 3>{2, 0, 1})) == 1);
    CHECK(readings(slice_view({3, 7}, 1, 1, 3, 2)) == 1);
    CHECK(readings(pad_view({3, 4}, std::array{1, -1}, std::array{0, 2})) == 1);
    CHECK(readings(windows_view({2, 4, 6, 3}, {.kernel = {2, 3}, .stride = {2, 3}})) == 1);
    CHECK(readings(windows_view({2, 5, 5, 3}, {.kernel = {3, 3}, .stride = {}, .dilation = {}})) == 9);
    CHECK(readings(expand_view({1, 4}, {5, 4})) == 5);
    // Of windows and places of the kernel, the fewer are walked over.
    CHECK(readings(windows_view({2, 4, 3}, {.kernel = {3}})) == 2);
    CHECK(readings(windows_view({2, 6, 3}, {.kernel = {2}})) == 2);
}

TEST_CASE("two views in a row are the one they are composed to") {
    Numbers numbers(5);
    int composed_views = 0;
    int kept_apart = 0;
    for (int round = 0; round < 4'000; ++round) {
        CAPTURE(round);
        const Dims dims = random_dims(numbers, 1 + numbers.below(4), 4);
        const View inner = random_view(numbers, dims);
        // The second view may cut the same elements differently, as one of the adjoint does.
        const bool cuts_anew = numbers.below(2) == 0;
        const View outer = random_view(numbers, cuts_anew ? random_reshape(numbers, inner.dims) : inner.dims);
        const auto composed = compose_views(inner, outer);
        if (!composed) {
            ++kept_apart;
            continue;
        }
        ++composed_views;
        const std::vector<std::int64_t> x = whole_numbers(numbers, element_count(dims));
        CHECK(apply(*composed, x, 100) == apply(outer, apply(inner, x, 100), 100));
        check_adjoint(numbers, *composed);
    }
    MESSAGE(composed_views << " composed, " << kept_apart << " kept apart");
    CHECK(composed_views > 2'000);
    CHECK(kept_apart > 100);
}

TEST_CASE("composition of arbitrary maps is right or refused") {
    Numbers numbers(6);
    int composed_views = 0;
    for (int round = 0; round < 20'000; ++round) {
        CAPTURE(round);
        const View inner = wild_view(numbers);
        const View outer = wild_view(numbers);
        if (element_count(inner.dims) != input_count(outer)) {
            continue;
        }
        if (const auto composed = compose_views(inner, outer)) {
            ++composed_views;
            const std::vector<std::int64_t> x = whole_numbers(numbers, input_count(inner));
            CHECK(apply(*composed, x, 100) == apply(outer, apply(inner, x, 100), 100));
        }
    }
    CHECK(composed_views > 20);
}

TEST_CASE("identities are recognised and nothing else is") {
    Numbers numbers(7);
    CHECK(is_identity(reshape_view({4, 6}, {2, 2, 6})));
    CHECK(is_identity(permute_view({1, 6}, std::array<std::uint32_t, 2>{1, 0})));
    for (int round = 0; round < 3'000; ++round) {
        CAPTURE(round);
        const View view =
            round % 2 == 0 ? random_view(numbers, random_dims(numbers, 1 + numbers.below(3), 3)) : wild_view(numbers);
        const std::vector<std::int64_t> x = counting(input_count(view));
        const std::vector<std::int64_t> y = apply(view, x, -1);
        if (is_identity(view)) {
            CHECK(y == x);
        }
        if (never_fills(view)) {
            CHECK(std::count(y.begin(), y.end(), -1) == 0);
        }
    }
}
