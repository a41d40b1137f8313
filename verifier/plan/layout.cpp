// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/layout.hpp>

#include <algorithm>
#include <utility>

namespace assay::plan {
namespace {

constexpr std::uint32_t kOpen = 0;  // a number that was not given
constexpr std::string_view kTurns = "turns";
constexpr std::uint32_t kMaxNamedShare = 1U << 16U;
using Shares = std::vector<std::uint32_t>;

// Takes a number of at most five digits from the front of `text`.
std::optional<std::uint32_t> take_number(std::string_view& text) {
    std::size_t digits = 0;
    std::uint32_t value = 0;
    while (digits < text.size() && digits < 5 && text[digits] >= '0' && text[digits] <= '9') {
        value = value * 10 + static_cast<std::uint32_t>(text[digits++] - '0');
    }
    if (digits == 0) {
        return std::nullopt;
    }
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

bool take_micro_batches(std::string_view& text, Layout& out) {
    const auto number = take_number(text);
    if (out.micro_batches != 1 || !number || *number < 2) {
        return false;
    }
    out.micro_batches = *number;
    return true;
}

// A name that is read from its front.
struct Reading {
    std::string_view text;
    Layout out{};
    bool has_zero = false;
    // What the last part divides, and the shares of that; the batch unless it is another part.
    std::uint32_t* last = nullptr;
    Shares* last_shares = nullptr;
};

bool take_part(Reading& reading) {
    std::string_view& text = reading.text;
    Layout& out = reading.out;
    reading.last = &out.data;
    reading.last_shares = &out.shares;
    if (take(text, "1f1b")) {
        out.pipeline = Pipeline::kOneForwardOneBackward;
        return take_micro_batches(text, out);
    }
    if (take(text, "gpipe")) {
        out.pipeline = Pipeline::kGPipe;
        return take_micro_batches(text, out);
    }
    if (take(text, "zero")) {
        const char level = text.empty() ? '0' : text.front();
        if (reading.has_zero || level < '1' || level > '3') {
            return false;
        }
        text.remove_prefix(1);
        out.zero = static_cast<Zero>(level - '0');
        reading.has_zero = true;
        return true;
    }
    if (take(text, "tp")) {
        reading.last = &out.tensor;
        reading.last_shares = &out.tensor_shares;
    } else if (take(text, "pp")) {
        reading.last = &out.stages;
        reading.last_shares = &out.stage_shares;
    } else if (!take(text, "dp")) {
        return false;
    }
    if (*reading.last != 1) {
        return false;
    }
    const auto number = take_number(text);
    *reading.last = number ? *number : kOpen;
    return !number || *number >= 1;
}

std::optional<Shares> take_shares(std::string_view& text) {
    Shares out;
    do {
        const auto share = take_number(text);
        if (!share || *share > kMaxNamedShare) {
            return std::nullopt;
        }
        out.push_back(*share);
    } while (take(text, ","));
    return out;
}

// The shares at the end of a name. They were always the batch's before other parts could have any.
void give_last_shares(Reading& reading, Shares shares) {
    const bool has_rows = reading.out.data > 1 && reading.out.shares.empty();
    (has_rows || shares.size() == 1 ? reading.out.shares : *reading.last_shares) = std::move(shares);
}

// Reads all parts, and shares that follow one. Returns those at the end.
std::optional<Shares> take_parts(Reading& reading) {
    do {
        if (!take_part(reading)) {
            return std::nullopt;
        }
        if (take(reading.text, ":")) {
            auto shares = take_shares(reading.text);
            if (!shares || reading.text.empty()) {
                return shares;
            }
            if (!reading.text.starts_with("+") || !reading.last_shares->empty()) {
                return std::nullopt;
            }
            if (*reading.last == kOpen) {
                *reading.last = static_cast<std::uint32_t>(shares->size());
            }
            *reading.last_shares = *std::move(shares);
        }
        const bool goes_on = take(reading.text, "+");
        if (reading.text.empty()) {
            return goes_on ? std::nullopt : std::optional(Shares{});
        }
    } while (true);
}

// Gives the part without a number what is left of the ranks. Returns whether all parts make the ranks then.
bool fill_open_part(Layout& out, bool has_zero, std::uint32_t ranks) {
    const std::uint32_t open =
        (out.data == kOpen ? 1U : 0U) + (out.tensor == kOpen ? 1U : 0U) + (out.stages == kOpen ? 1U : 0U);
    const bool is_data_open = out.data == kOpen || (open == 0 && has_zero && out.data == 1);
    std::uint64_t given = 1;
    for (const std::uint32_t part : {out.data, out.tensor, out.stages}) {
        given *= part == kOpen ? 1 : part;
    }
    if (open > 1 || ranks % given != 0) {
        return false;
    }
    const auto rest = static_cast<std::uint32_t>(ranks / given);
    if (is_data_open) {
        out.data = rest;
    } else if (out.tensor == kOpen) {
        out.tensor = rest;
    } else if (out.stages == kOpen) {
        out.stages = rest;
        if (rest == 1) {  // a machine that is left alone
            out.micro_batches = 1;
            out.pipeline = Pipeline::kOneForwardOneBackward;
        }
    } else if (rest != 1) {
        return false;
    }
    return true;
}

bool are_shares(const Shares& shares, std::uint32_t parts, bool may_be_none) {
    const auto most = [](std::uint32_t share) { return share <= kShareMax; };
    const auto some = [](std::uint32_t share) { return share > 0; };
    const bool has_some = may_be_none ? std::any_of(shares.begin(), shares.end(), some)
                                      : parts > 1 && std::all_of(shares.begin(), shares.end(), some);
    return shares.empty() || (shares.size() == parts && has_some && std::all_of(shares.begin(), shares.end(), most));
}

std::string to_text(const Shares& shares) {
    std::string out;
    for (const std::uint32_t share : shares) {
        out += (out.empty() ? ':' : ',') + std::to_string(share);
    }
    return out;
}

}  // namespace

bool Layout::is_valid() const {
    const bool is_cut = micro_batches > 1;
    const bool has_parts = data >= 1 && tensor >= 1 && stages >= 1 && micro_batches >= 1;
    const bool may_be_cut = stages > 1 && tensor == 1 && zero <= Zero::kOptimizer && micro_batches <= kMaxMicroBatches;
    // Each at most kMaxRanks first, so that the product does not overflow.
    const bool is_small = data <= kMaxRanks && tensor <= kMaxRanks && stages <= kMaxRanks && turns <= kMaxRanks &&
                          std::uint64_t{data} * tensor * stages * turns <= kMaxRanks;
    const bool is_known = zero <= Zero::kParameters && pipeline <= Pipeline::kGPipe;
    const bool is_divided = data > 1 || tensor > 1 || stages > 1 || zero != Zero::kNone || has_shares();
    const bool takes_turns = turns > 1;
    return is_known && has_parts && turns >= 1 && is_small && (!is_cut || may_be_cut) &&
           (!takes_turns || !is_divided) && are_shares(shares, data, true) && are_shares(stage_shares, stages, false) &&
           are_shares(tensor_shares, tensor, false);
}

std::vector<std::uint32_t> Layout::data_shares() const { return shares.empty() ? Shares(data, 1) : shares; }

std::vector<std::uint32_t> Layout::shares_of_stages() const {
    return stage_shares.empty() ? Shares(stages, 1) : stage_shares;
}

Layout Layout::without_shares() const {
    Layout out = *this;
    out.shares.clear();
    out.stage_shares.clear();
    out.tensor_shares.clear();
    return out;
}

Layout largest_layout(std::string_view name, std::size_t machines) {
    for (auto ranks = static_cast<std::uint32_t>(machines); ranks > 0; --ranks) {
        if (const auto layout = decode_layout(name, ranks)) {
            return *layout;
        }
    }
    return {};
}

std::optional<Layout> decode_layout(std::string_view name, std::uint32_t ranks) {
    if (ranks == 0 || ranks > kMaxRanks) {
        return std::nullopt;
    }
    if (name == kTurns) {
        Layout out;
        out.turns = ranks;
        return out;
    }
    Reading reading{name};
    auto shares = take_parts(reading);
    if (!shares || !fill_open_part(reading.out, reading.has_zero, ranks)) {
        return std::nullopt;
    }
    if (!shares->empty()) {
        give_last_shares(reading, *std::move(shares));
    }
    return reading.out.is_valid() ? std::optional(reading.out) : std::nullopt;
}

std::string to_string(const Layout& layout) {
    if (layout.turns > 1) {
        return std::string(kTurns);
    }
    // Parts with shares stand first, so that those at the end are the batch's.
    std::string unequal = layout.tensor_shares.empty() ? "" : "tp" + to_text(layout.tensor_shares);
    if (!layout.stage_shares.empty()) {
        unequal += (unequal.empty() ? "pp" : "+pp") + to_text(layout.stage_shares);
    }
    std::string out;
    const auto append = [&](const char* part, std::uint32_t number) {
        if (number > 1) {
            out += part + std::to_string(number);
        }
    };
    if (layout.zero != Zero::kNone) {
        out = "zero" + std::to_string(static_cast<int>(layout.zero));
        append("+dp", layout.data);
    } else {
        append("dp", layout.data);
    }
    append("tp", layout.tensor_shares.empty() ? layout.tensor : 1);
    append("pp", layout.stage_shares.empty() ? layout.stages : 1);
    if (out.empty() && (unequal.empty() || !layout.shares.empty())) {
        out = "dp1";
    }
    if (!unequal.empty()) {
        out = unequal + (out.empty() ? "" : "+") + out;
    }
    append(layout.pipeline == Pipeline::kGPipe ? "+gpipe" : "+1f1b", layout.micro_batches);
    return out + to_text(layout.shares);
}

}  // namespace assay::plan
