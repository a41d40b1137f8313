// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/parser_orders.hpp>

#include <bit>
#include <type_traits>
#include <utility>

namespace assay::taskdir {
namespace {

/// Writes values one after another.
struct Writer {
    Bytes out;
    void operator()(std::uint32_t value) {
        for (std::size_t i = 0; i < 4; ++i) {
            out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
        }
    }
};

/// Reads what a Writer wrote; what is missing is 0.
struct Reader {
    ByteView in;
    void operator()(std::uint32_t& value) {
        value = 0;
        if (in.size() < 4) {
            return;
        }
        for (std::size_t i = 0; i < 4; ++i) {
            value |= std::uint32_t{in[i]} << (8 * i);
        }
        in = in.subspan(4);
    }
};

template <class Value>
std::uint32_t to_word(Value value) {
    if constexpr (std::is_same_v<Value, float>) {
        return std::bit_cast<std::uint32_t>(value);
    } else {
        return static_cast<std::uint32_t>(value);
    }
}

template <class Value>
Value from_word(std::uint32_t word) {
    if constexpr (std::is_same_v<Value, float>) {
        return std::bit_cast<float>(word);
    } else {
        return static_cast<Value>(word);
    }
}

template <class... Values>
void visit(Writer& writer, const Values&... values) {
    (writer(to_word(values)), ...);
}
template <class... Values>
void visit(Reader& reader, Values&... values) {
    const auto read = [&reader](auto& value) {
        std::uint32_t word = 0;
        reader(word);
        value = from_word<std::remove_reference_t<decltype(value)>>(word);
    };
    (read(values), ...);
}

void visit_points(Writer& writer, const std::vector<program::SchedulePoint>& points) {
    visit(writer, static_cast<std::uint32_t>(points.size()));
    for (const auto& [update, factor] : points) {
        visit(writer, update, factor);
    }
}
void visit_points(Reader& reader, std::vector<program::SchedulePoint>& points) {
    std::uint32_t count = 0;
    visit(reader, count);
    points.clear();
    for (std::uint32_t i = 0; i < count && !reader.in.empty(); ++i) {
        auto& [update, factor] = points.emplace_back();
        visit(reader, update, factor);
    }
}

/// All members of an optimizer, by structured bindings: one that is added and not written here does not compile.
template <class Archive, class Config>
void visit_optimizer(Archive& archive, Config& config) {
    auto& [kind, rate, momentum, alpha, beta1, beta2, epsilon, decay, clip_norm, accumulation, schedule, replicas, moments] =
        config;
    visit(archive, kind, rate, momentum, alpha, beta1, beta2, epsilon, decay, clip_norm, accumulation, moments);
    auto& [shape, warmup, total, final_fraction, from_zero, period, gamma, points, is_curved] = schedule;
    visit(archive, shape, warmup, total, final_fraction, from_zero, period, gamma, is_curved);
    visit_points(archive, points);
    auto& [count, exchange, block, dense_below] = replicas;
    visit(archive, count, exchange, block, dense_below);
}

}  // namespace

ModelOrder to_order(const onnx::TrainingConfig& config) {
    const auto& [loss, batch_size, dataset_rows, optimizer, profile, frozen, decayed, rates, dimensions, external] =
        config;
    static_cast<void>(external);  // the files' names take its place
    ModelOrder out;
    out.loss = loss;
    out.batch_size = batch_size;
    out.dataset_rows = dataset_rows;
    Writer writer;
    visit_optimizer(writer, optimizer);
    out.optimizer = std::move(writer.out);
    out.precision = profile.precision;
    out.chunk = profile.chunk;
    out.frozen = frozen;
    out.decayed = decayed;
    for (const auto& [name, rate] : rates) {
        out.rates.emplace(name, to_word(rate));
    }
    out.dimensions = dimensions;
    return out;
}

onnx::TrainingConfig to_config(const ModelOrder& order) {
    onnx::TrainingConfig out;
    out.loss = order.loss;
    out.batch_size = order.batch_size;
    out.dataset_rows = order.dataset_rows;
    Reader reader{order.optimizer};
    visit_optimizer(reader, out.optimizer);
    out.profile = {.precision = order.precision, .chunk = order.chunk};
    out.frozen = order.frozen;
    out.decayed = order.decayed;
    for (const auto& [name, rate] : order.rates) {
        out.rates.emplace(name, from_word<float>(rate));
    }
    out.dimensions = order.dimensions;
    return out;
}

Bytes length_of(ByteView answer) {
    Writer out;
    out(static_cast<std::uint32_t>(answer.size()));
    out(static_cast<std::uint32_t>(std::uint64_t{answer.size()} >> 32U));
    return std::move(out.out);
}

std::optional<ByteView> take_answer(ByteView& bytes) {
    constexpr std::size_t kLengthBytes = 8;
    if (bytes.size() < kLengthBytes) {
        return std::nullopt;
    }
    Reader reader{bytes};
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    visit(reader, low, high);
    const std::uint64_t length = std::uint64_t{high} << 32U | low;
    if (length > reader.in.size()) {
        return std::nullopt;
    }
    bytes = reader.in.subspan(length);
    return reader.in.first(length);
}

}  // namespace assay::taskdir
