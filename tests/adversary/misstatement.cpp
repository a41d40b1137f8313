// SPDX-License-Identifier: Apache-2.0
#include <tests/adversary/misstatement.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/plan/message.hpp>

namespace assay::adversary {

using canonical::Source;
using engine::Contents;
using plan::MessagePiece;

namespace {

constexpr std::array<std::pair<Misstatement, const char*>, 7> kMisstatements{
    {{Misstatement::kShard, "shard"},
     {Misstatement::kZeros, "zeros"},
     {Misstatement::kStale, "stale"},
     {Misstatement::kReduce, "reduce"},
     {Misstatement::kStage, "stage"},
     {Misstatement::kEquivocate, "equivocate"},
     {Misstatement::kWithhold, "withhold"}}};

constexpr std::uint32_t kExponentBits = 0x7f800000;  // of an f32
constexpr std::uint32_t kExponentLow = 0x00800000;

// Inverts the bit of an integer below its highest one, or a higher bit, so that it survives rounding.
std::uint64_t other_integer(std::uint64_t bits, std::uint32_t width, std::uint32_t lowest) {
    const std::uint32_t unused = 64 - 8 * width;
    const auto value = static_cast<std::int64_t>(bits << unused) >> unused;
    const std::uint64_t magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
    const auto used = static_cast<std::uint32_t>(std::bit_width(magnitude));
    return bits ^ (std::uint64_t{1} << std::max(used < 2 ? 0 : used - 2, lowest));
}

// What a piece says does not tell floats from integers. A small integer would be a denormal f32 or none.
std::uint64_t other_word(std::uint32_t bits) {
    const auto value = static_cast<std::int32_t>(bits);
    const std::uint32_t exponent = bits & kExponentBits;
    if (exponent == 0 || exponent == kExponentBits) {
        constexpr std::int32_t kLeast = -(1 << 23);
        return value >= kLeast ? other_integer(bits, 4, 0) : bits;
    }
    const bool stays_finite = ((bits ^ kExponentLow) & kExponentBits) != kExponentBits;
    return bits ^ (stays_finite ? kExponentLow : kExponentLow >> 1U);
}

// Another value in the place of this one.
void alter_value(std::uint8_t* at, std::uint32_t width) {
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < width; ++i) {
        bits |= std::uint64_t{at[i]} << (8 * i);
    }
    if (width == 4) {
        bits = other_word(static_cast<std::uint32_t>(bits));
    } else if (width <= 2) {
        bits ^= 0x40;  // of a bf16 the highest bit of its fraction
    } else {
        bits = other_integer(bits, width, 4 * width);
    }
    for (std::uint32_t i = 0; i < width; ++i) {
        at[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
}

template <class F>
void for_values(const MessagePiece& piece, Bytes& message, F act) {
    for (std::size_t row = 0; row < piece.rows; ++row) {
        for (std::size_t col = 0; col < piece.cols; ++col) {
            act(message.data() + piece.offset + row * piece.stride + col * piece.width);
        }
    }
}

void alter_piece(const MessagePiece& piece, Bytes& message) {
    for_values(piece, message, [&](std::uint8_t* value) { alter_value(value, piece.width); });
}

bool is_output(const MessagePiece& piece) { return !piece.part && piece.source == Source::kNode; }

auto place_of(const MessagePiece& piece) {
    return std::tuple(
        piece.source, piece.index, piece.part, piece.hop, piece.row, piece.col, piece.rows, piece.cols, piece.width
    );
}

class Misstating final : public engine::Collective {
  public:
    Misstating(std::unique_ptr<engine::Collective> inner, const Misstated& lie) : inner_(std::move(inner)), lie_(lie) {}

    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        check_present();
        count(to);
        return inner_->exchange(std::move(to), expected, tag);
    }
    void settle() override {
        check_present();
        inner_->settle();
    }
    void expect(const std::vector<engine::Ahead>& in_step) override { inner_->expect(in_step); }
    bool is_stated() const override { return inner_->is_stated(); }
    void compare_state(const engine::GivenTensor& given, const canonical::Tensor& tensor) override {
        check_present();
        inner_->compare_state(given, tensor);
    }
    std::vector<Bytes> exchange_stated(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag, const Contents& contents
    ) override {
        check_present();
        is_shared_ = is_shared_ || shares_piece(contents);
        if (step_ >= lie_.first_step && step_ <= lie_.last_step) {
            alter(to, tag, contents);
        } else if (lie_.kind == Misstatement::kStale && step_ + 1 == lie_.first_step) {
            for (std::uint32_t other = 0; other < size(); ++other) {
                sent_[{other, tag, messages_[{other, tag}]++}] = to[other];
            }
        }
        count(to);
        return inner_->exchange_stated(std::move(to), expected, tag, contents);
    }
    void begin_segment(const Hash256& before, std::uint64_t first_step) override {
        check_present();
        inner_->begin_segment(before, first_step);
        reset(first_step);
    }
    void end_segment() override {
        check_present();
        inner_->end_segment();
        has_left_ = lie_.kind == Misstatement::kWithhold && step_ >= lie_.first_step;
    }
    void begin_step(std::uint64_t step) override {
        const bool leaves = lie_.kind == Misstatement::kWithhold && !lie_.leaves_late && step >= lie_.first_step;
        has_left_ = has_left_ || leaves;
        check_present();
        inner_->begin_step(step);
        if (step != step_) {
            has_watched_ = true;
            reset(step);
        }
    }

  private:
    void check_present() const {
        if (has_left_) {
            throw std::runtime_error(
                "this member withholds what it has of step " + std::to_string(lie_.first_step) + " of the task"
            );
        }
    }

    void reset(std::uint64_t step) {
        step_ = step;
        messages_.clear();
        has_lied_ = false;
    }

    void alter(std::vector<Bytes>& to, std::uint32_t tag, const Contents& contents) {
        switch (lie_.kind) {
            case Misstatement::kShard:
                return alter_all(to, contents, [](const MessagePiece& piece) { return !piece.part; });
            case Misstatement::kReduce:
                return alter_all(to, contents, [](const MessagePiece& piece) { return piece.part.has_value(); });
            case Misstatement::kStage: {
                const bool was_first = !has_lied_;
                return alter_all(to, contents, [&](const MessagePiece& piece) {
                    return was_first && is_output(piece) && piece.hop == 0;
                });
            }
            case Misstatement::kZeros:
                for (Bytes& message : to) {
                    std::fill(message.begin(), message.end(), 0);
                }
                return;
            case Misstatement::kStale:
                for (std::uint32_t other = 0; other < size(); ++other) {
                    const auto old = sent_.find({other, tag, messages_[{other, tag}]++});
                    if (old != sent_.end() && old->second.size() == to[other].size()) {
                        to[other] = old->second;
                    }
                }
                return;
            case Misstatement::kEquivocate:
                return equivocate(to, contents);
            case Misstatement::kWithhold:
                return;
        }
    }

    template <class F>
    void alter_all(std::vector<Bytes>& to, const Contents& contents, F is_meant) {
        for (std::uint32_t other = 0; other < size(); ++other) {
            if (contents.to[other] == nullptr) {
                continue;
            }
            for (const MessagePiece& piece : contents.to[other]->pieces) {
                if (is_meant(piece)) {
                    alter_piece(piece, to[other]);
                    has_lied_ = true;
                }
            }
        }
    }

    // Once in a step. Of an exchange, so that nobody has been told yet what others are.
    void equivocate(std::vector<Bytes>& to, const Contents& contents) {
        const bool does_one_do = size() == 2 || (has_watched_ && !is_shared_);
        for_pieces(contents, [&](const MessagePiece& piece, std::uint32_t other, bool is_again) {
            if (!has_lied_ && (is_again || does_one_do)) {
                alter_piece(piece, to[other]);
                has_lied_ = true;
            }
        });
    }
    static bool shares_piece(const Contents& contents) {
        bool out = false;
        for_pieces(contents, [&](const MessagePiece&, std::uint32_t, bool is_again) { out = out || is_again; });
        return out;
    }
    // All pieces, by receiver; whether one before was told the same.
    template <class F>
    static void for_pieces(const Contents& contents, F act) {
        std::set<decltype(place_of(MessagePiece{}))> told;
        for (std::uint32_t other = 0; other < contents.to.size(); ++other) {
            if (contents.to[other] == nullptr) {
                continue;
            }
            for (const MessagePiece& piece : contents.to[other]->pieces) {
                act(piece, other, !told.insert(place_of(piece)).second);
            }
        }
    }

    std::unique_ptr<engine::Collective> inner_;
    Misstated lie_;
    std::uint64_t step_ = 0;
    bool has_lied_ = false;  // in this step
    bool has_left_ = false;
    bool has_watched_ = false;  // a step and more
    bool is_shared_ = false;    // two ranks were told one piece in one exchange
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> messages_;  // of this step, by receiver and tag
    // In the step before the lie, by receiver, tag and number of the message.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Bytes> sent_;
};

}  // namespace

const char* to_string(Misstatement kind) noexcept {
    for (const auto& [value, name] : kMisstatements) {
        if (value == kind) {
            return name;
        }
    }
    return "";
}

std::optional<Misstatement> decode_misstatement(const std::string& name) {
    for (const auto& [value, known] : kMisstatements) {
        if (name == known) {
            return value;
        }
    }
    return std::nullopt;
}

std::unique_ptr<engine::Collective> make_misstating(std::unique_ptr<engine::Collective> inner, const Misstated& lie) {
    return std::make_unique<Misstating>(std::move(inner), lie);
}

}  // namespace assay::adversary
