// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/layout.hpp>

#include <algorithm>

namespace assay::plan {
namespace {

constexpr std::uint32_t kOpen = 0;  // a number that was not given
constexpr std::string_view kTurns = "turns";
constexpr std::uint32_t kMaxShare = 1U << 16U;

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

bool take_part(std::string_view& text, Layout& out, bool& has_zero) {
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
        if (has_zero || level < '1' || level > '3') {
            return false;
        }
        text.remove_prefix(1);
        out.zero = static_cast<Zero>(level - '0');
        has_zero = true;
        return true;
    }
    std::uint32_t* part = nullptr;
    if (take(text, "dp")) {
        part = &out.data;
    } else if (take(text, "tp")) {
        part = &out.tensor;
    } else if (take(text, "pp")) {
        part = &out.stages;
    }
    if (part == nullptr || *part != 1) {
        return false;
    }
    const auto number = take_number(text);
    *part = number ? *number : kOpen;
    return !number || *number >= 1;
}

std::optional<std::vector<std::uint32_t>> decode_shares(std::string_view text) {
    std::vector<std::uint32_t> out;
    while (true) {
        const auto share = take_number(text);
        if (!share || *share > kMaxShare) {
            return std::nullopt;
        }
        out.push_back(*share);
        if (text.empty()) {
            break;
        }
        if (!take(text, ",")) {
            return std::nullopt;
        }
    }
    const bool has_any = std::any_of(out.begin(), out.end(), [](std::uint32_t share) { return share > 0; });
    return has_any ? std::optional(out) : std::nullopt;
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
    const bool is_divided = data > 1 || tensor > 1 || stages > 1 || zero != Zero::kNone || !shares.empty();
    const bool takes_turns = turns > 1;
    return is_known && has_parts && turns >= 1 && is_small && (!is_cut || may_be_cut) &&
           (!takes_turns || !is_divided) && (shares.empty() || shares.size() == data);
}

std::vector<std::uint32_t> Layout::data_shares() const {
    return shares.empty() ? std::vector<std::uint32_t>(data, 1) : shares;
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
    Layout out;
    if (name == kTurns) {
        out.turns = ranks;
        return out;
    }
    const std::size_t colon = name.find(':');
    std::string_view parts = name.substr(0, colon);
    bool has_zero = false;
    bool is_first = true;
    while (!parts.empty()) {
        if (!is_first) {
            take(parts, "+");
        }
        if (!take_part(parts, out, has_zero)) {
            return std::nullopt;
        }
        is_first = false;
    }
    if (is_first) {
        return std::nullopt;
    }
    const std::uint32_t open =
        (out.data == kOpen ? 1U : 0U) + (out.tensor == kOpen ? 1U : 0U) + (out.stages == kOpen ? 1U : 0U);
    const bool is_data_open = out.data == kOpen || (open == 0 && has_zero && out.data == 1);
    std::uint64_t given = 1;
    for (const std::uint32_t part : {out.data, out.tensor, out.stages}) {
        given *= part == kOpen ? 1 : part;
    }
    if (open > 1 || ranks % given != 0) {
        return std::nullopt;
    }
    const auto rest = static_cast<std::uint32_t>(ranks / given);
    if (is_data_open) {
        out.data = rest;
    } else if (out.tensor == kOpen) {
        out.tensor = rest;
    } else if (out.stages == kOpen) {
        out.stages = rest;
        out.micro_batches = rest == 1 ? 1 : out.micro_batches;  // a machine that is left alone
    } else if (rest != 1) {
        return std::nullopt;
    }
    if (colon != std::string_view::npos) {
        auto shares = decode_shares(name.substr(colon + 1));
        if (!shares || shares->size() != out.data) {
            return std::nullopt;
        }
        out.shares = *std::move(shares);
    }
    return out.is_valid() ? std::optional(out) : std::nullopt;
}

std::string to_string(const Layout& layout) {
    if (layout.turns > 1) {
        return std::string(kTurns);
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
    append("tp", layout.tensor);
    append("pp", layout.stages);
    if (out.empty()) {
        out = "dp1";
    }
    append(layout.pipeline == Pipeline::kGPipe ? "+gpipe" : "+1f1b", layout.micro_batches);
    for (std::size_t i = 0; i < layout.shares.size(); ++i) {
        out += (i == 0 ? ':' : ',') + std::to_string(layout.shares[i]);
    }
    return out;
}

}  // namespace assay::plan
