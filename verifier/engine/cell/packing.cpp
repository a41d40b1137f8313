// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/packing.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <core/base/assert.hpp>

namespace assay::engine::cell {

using canonical::Tensor;
using canonical::TensorType;

namespace {

constexpr std::size_t kLeastRow = 8;
constexpr std::size_t kLine = 4096;
constexpr std::size_t kTableMax = 16;
constexpr int kWidthMax = 24;       // bits of an integer
constexpr int kExponentBias = 150;  // the least exponent is -149
constexpr int kExponentMax = 100;

/// The low two bits of a line's first byte. Those above are an integer's width; of kTable, 1 if the table has
/// magnitudes, or at least kLike: the line has integers of the width of those before it, and these bits are the
/// difference of their exponents.
enum Form : std::uint8_t { kRaw = 0, kTable = 1, kNatural = 2, kSigned = 3 };
constexpr unsigned kFormBits = 2;
constexpr int kOfMagnitudes = 1;
constexpr int kLike = 2;
constexpr int kUpperMax = 63;
constexpr int kSameExponent = 32;  // these bits where exponents are equal
constexpr std::uint32_t kSignBit = std::uint32_t{1} << 31U;

std::size_t line_of(canonical::Shape shape) { return shape.cols >= kLeastRow ? shape.cols : kLine; }

/// Bits from the lowest on.
class BitWriter {
  public:
    explicit BitWriter(Bytes& out) : out_(out) {}
    void write(std::uint32_t value, int width) {
        kept_ |= std::uint64_t{value} << count_;
        count_ += width;
        for (; count_ >= 8; count_ -= 8, kept_ >>= 8U) {
            out_.push_back(static_cast<std::uint8_t>(kept_));
        }
    }
    void finish() {
        if (count_ > 0) {
            out_.push_back(static_cast<std::uint8_t>(kept_));
        }
    }

  private:
    Bytes& out_;
    std::uint64_t kept_ = 0;
    int count_ = 0;
};

class BitReader {
  public:
    explicit BitReader(ByteView bytes) : bytes_(bytes) {}
    std::uint32_t read(int width) {
        for (; count_ < width; count_ += 8) {
            kept_ |= std::uint64_t{bytes_[at_++]} << count_;
        }
        const auto value = static_cast<std::uint32_t>(kept_ & ((std::uint64_t{1} << width) - 1));
        kept_ >>= width;
        count_ -= width;
        return value;
    }

  private:
    ByteView bytes_;
    std::size_t at_ = 0;
    std::uint64_t kept_ = 0;
    int count_ = 0;
};

std::size_t bytes_for(std::size_t count, int width) { return (count * static_cast<std::size_t>(width) + 7) / 8; }

int width_for(std::size_t values) { return static_cast<int>(std::bit_width(values - 1)); }

void append_float(Bytes& out, float value) {
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &value, 4);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

/// The values of a line, or their magnitudes, if they are few.
struct ValueTable {
    std::vector<std::uint32_t> values;
    bool of_magnitudes = false;

    std::uint32_t mask() const { return of_magnitudes ? ~kSignBit : ~std::uint32_t{0}; }
    int index_width() const { return width_for(values.size()); }
    int width() const { return index_width() + (of_magnitudes ? 1 : 0); }
    std::size_t size_bytes(std::size_t line) const { return 2 + 4 * values.size() + bytes_for(line, width()); }
};

std::optional<ValueTable> table_of(std::span<const std::uint32_t> bits, bool of_magnitudes) {
    ValueTable table{.values = {}, .of_magnitudes = of_magnitudes};
    for (const std::uint32_t x : bits) {
        const std::uint32_t value = x & table.mask();
        if (std::find(table.values.begin(), table.values.end(), value) == table.values.end()) {
            if (table.values.size() == kTableMax) {
                return std::nullopt;
            }
            table.values.push_back(value);
        }
    }
    return table;
}

std::optional<ValueTable> smallest_table(std::span<const std::uint32_t> bits) {
    const auto plain = table_of(bits, false);
    const auto magnitudes = table_of(bits, true);
    const bool is_plain = plain && plain->size_bytes(bits.size()) <= magnitudes->size_bytes(bits.size());
    return is_plain ? plain : magnitudes;
}

void write_table(const ValueTable& table, std::span<const std::uint32_t> bits, Bytes& out) {
    out.push_back(static_cast<std::uint8_t>(kTable | (table.of_magnitudes ? kOfMagnitudes << kFormBits : 0)));
    out.push_back(static_cast<std::uint8_t>(table.values.size()));
    for (const std::uint32_t x : table.values) {
        append_float(out, std::bit_cast<float>(x));
    }
    BitWriter writer(out);
    for (const std::uint32_t x : bits) {
        const auto found = std::find(table.values.begin(), table.values.end(), x & table.mask());
        const auto index = static_cast<std::uint32_t>(found - table.values.begin());
        writer.write(index | (x & ~table.mask()) >> 31U << static_cast<unsigned>(table.index_width()), table.width());
    }
    writer.finish();
}

/// A line as integers of `width` bits times 2^exponent, in two's complement if any is negative.
struct Integers {
    int exponent = 0;
    int width = 0;
    bool is_signed = false;
};

std::optional<Integers> integers_of(std::span<const float> line) {
    int exponent = 1000;
    for (const float x : line) {
        if (!std::isfinite(x) || (x == 0.0F && std::signbit(x))) {
            return std::nullopt;
        }
        if (x != 0.0F) {
            int place = 0;
            const auto mantissa = static_cast<std::uint32_t>(std::abs(std::frexp(x, &place)) * 0x1p24F);
            exponent = std::min(exponent, place - 24 + std::countr_zero(mantissa));
        }
    }
    exponent = exponent == 1000 ? 0 : exponent;
    double most = 0.0;
    bool is_signed = false;
    for (const float x : line) {
        most = std::max(most, std::ldexp(std::abs(static_cast<double>(x)), -exponent));
        is_signed = is_signed || x < 0.0F;
    }
    if (exponent > kExponentMax || most >= static_cast<double>(1U << static_cast<unsigned>(kWidthMax - 1))) {
        return std::nullopt;
    }
    const int width = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(most))) + (is_signed ? 1 : 0);
    return Integers{exponent, width, is_signed};
}

/// The bits above the form of a line that has the width of the integers before it; nothing if it has not.
std::optional<int> likeness(const Integers& integers, const std::optional<Integers>& before) {
    if (!before || before->width != integers.width || before->is_signed != integers.is_signed) {
        return std::nullopt;
    }
    const int upper = integers.exponent - before->exponent + kSameExponent;
    return upper >= kLike && upper <= kUpperMax ? std::optional(upper) : std::nullopt;
}

void write_integers(const Integers& integers, std::optional<int> like, std::span<const float> line, Bytes& out) {
    if (like) {
        out.push_back(static_cast<std::uint8_t>(kTable | *like << kFormBits));
    } else {
        const auto width = static_cast<std::uint8_t>(integers.width << kFormBits);
        out.push_back(static_cast<std::uint8_t>(width | (integers.is_signed ? kSigned : kNatural)));
        out.push_back(static_cast<std::uint8_t>(integers.exponent + kExponentBias));
    }
    BitWriter writer(out);
    const std::uint32_t mask = (std::uint32_t{1} << static_cast<unsigned>(integers.width)) - 1;
    for (const float x : line) {
        const auto n = static_cast<std::int32_t>(std::ldexp(static_cast<double>(x), -integers.exponent));
        writer.write(static_cast<std::uint32_t>(n) & mask, integers.width);
    }
    writer.finish();
}

/// `before` are the integers of the last line that had any, in this tensor.
void pack_line(std::span<const float> line, std::optional<Integers>& before, Bytes& out) {
    std::vector<std::uint32_t> bits(line.size());
    std::memcpy(bits.data(), line.data(), line.size_bytes());
    const auto table = smallest_table(bits);
    const auto integers = integers_of(line);
    const auto like = integers ? likeness(*integers, before) : std::nullopt;
    const std::size_t raw = 1 + line.size_bytes();
    const std::size_t by_table = table ? table->size_bytes(line.size()) : raw;
    const std::size_t by_integers = integers ? (like ? 1 : 2) + bytes_for(line.size(), integers->width) : raw;
    if (table && by_table < raw && by_table <= by_integers) {
        write_table(*table, bits, out);
    } else if (integers && by_integers < raw) {
        write_integers(*integers, like, line, out);
        before = integers;
    } else {
        out.push_back(kRaw);
        std::for_each(line.begin(), line.end(), [&](float x) { append_float(out, x); });
    }
}

ByteView take(ByteView& bytes, std::size_t count) {
    const ByteView out = bytes.first(count);
    bytes = bytes.subspan(count);
    return out;
}

bool read_table(ByteView& bytes, bool of_magnitudes, std::span<float> line) {
    if (bytes.empty()) {
        return false;
    }
    const std::size_t count = take(bytes, 1)[0];
    if (count == 0 || count > kTableMax) {
        return false;
    }
    ValueTable table{.values = std::vector<std::uint32_t>(count), .of_magnitudes = of_magnitudes};
    const std::size_t indices = bytes_for(line.size(), table.width());
    if (bytes.size() < 4 * count + indices) {
        return false;
    }
    std::memcpy(table.values.data(), take(bytes, 4 * count).data(), 4 * count);
    BitReader reader(take(bytes, indices));
    for (float& x : line) {
        const std::uint32_t index = reader.read(table.index_width());
        if (index >= count) {
            return false;
        }
        const std::uint32_t sign = of_magnitudes ? reader.read(1) << 31U : 0;
        x = std::bit_cast<float>(table.values[index] ^ sign);
    }
    return true;
}

bool read_integers(ByteView& bytes, const Integers& integers, std::span<float> line) {
    const int width = integers.width;
    if (width > kWidthMax || bytes.size() < bytes_for(line.size(), width)) {
        return false;
    }
    const std::uint32_t sign =
        integers.is_signed && width > 0 ? std::uint32_t{1} << static_cast<unsigned>(width - 1) : 0;
    BitReader reader(take(bytes, bytes_for(line.size(), width)));
    for (float& x : line) {
        const std::uint32_t n = reader.read(width);
        const double value = static_cast<double>(n) - ((n & sign) != 0 ? 2.0 * static_cast<double>(sign) : 0.0);
        x = static_cast<float>(std::ldexp(value, integers.exponent));
    }
    return true;
}

bool read_line(ByteView& bytes, std::optional<Integers>& before, std::span<float> line) {
    if (bytes.empty()) {
        return false;
    }
    const std::uint8_t head = take(bytes, 1)[0];
    const auto form = static_cast<Form>(head & ((1U << kFormBits) - 1));
    const int upper = head >> kFormBits;
    if (form == kNatural || form == kSigned) {
        if (bytes.empty()) {
            return false;
        }
        before = Integers{int{take(bytes, 1)[0]} - kExponentBias, upper, form == kSigned};
        return read_integers(bytes, *before, line);
    }
    if (form == kTable && upper >= kLike) {
        if (!before) {
            return false;
        }
        before->exponent += upper - kSameExponent;
        return read_integers(bytes, *before, line);
    }
    if (form == kTable) {
        return read_table(bytes, upper == kOfMagnitudes, line);
    }
    if (bytes.size() < line.size_bytes()) {
        return false;
    }
    std::memcpy(line.data(), take(bytes, line.size_bytes()).data(), line.size_bytes());
    return true;
}

}  // namespace

Bytes pack(const Tensor& tensor) {
    ASSERT(tensor.dtype == canonical::DType::kF32);
    std::vector<float> values(tensor.shape.element_count());
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    Bytes out;
    std::optional<Integers> before;
    for (std::size_t at = 0; at < values.size(); at += line_of(tensor.shape)) {
        pack_line(std::span(values).subspan(at, std::min(line_of(tensor.shape), values.size() - at)), before, out);
    }
    return out;
}

Result<Tensor, PackingError> unpack(ByteView& bytes, const TensorType& type) {
    ASSERT(type.dtype == canonical::DType::kF32);
    std::vector<float> values(type.shape.element_count());
    std::optional<Integers> before;
    for (std::size_t at = 0; at < values.size(); at += line_of(type.shape)) {
        const std::size_t size = std::min(line_of(type.shape), values.size() - at);
        if (!read_line(bytes, before, std::span(values).subspan(at, size))) {
            return Unexpected{PackingError::kMalformed};
        }
    }
    Tensor out = canonical::make_tensor(type.dtype, type.shape);
    std::memcpy(out.data.data(), values.data(), out.data.size());
    return out;
}

}  // namespace assay::engine::cell
