// SPDX-License-Identifier: Apache-2.0
#include <core/system/metrics/registry.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::metrics {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// The shortest decimal that reads back as the same number, whatever the locale.
std::string to_text(double value) {
    if (std::isnan(value)) {
        return "NaN";
    }
    if (std::isinf(value)) {
        return value > 0 ? "+Inf" : "-Inf";
    }
    std::array<char, 32> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    ASSERT(error == std::errc{});
    return {buffer.data(), end};
}

void append_escaped(std::string& out, std::string_view text, bool escapes_quotes) {
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '"' && escapes_quotes) {
            out += "\\\"";
        } else {
            out += c;
        }
    }
}

bool is_name(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    return !name.empty() && is_letter(name[0]) &&
           std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// The length of the UTF-8 character that `text` begins with; 0 if it begins with none.
std::size_t character_size(std::string_view text) {
    const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    const std::size_t size = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
    if (size == 0 || size > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    // Overlong forms, surrogates, and what is beyond U+10FFFF.
    const bool is_wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                          (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
    return is_wrong ? 0 : size;
}

}  // namespace

std::string to_label(std::string_view value) {
    std::string out;
    while (!value.empty()) {
        const std::size_t size = character_size(value);
        const std::string_view character = size == 0 ? kReplacement : value.substr(0, size);
        if (out.size() + character.size() > kLabelBytesMax) {
            break;
        }
        out += character;
        value.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

std::vector<double> second_bounds() {
    return {0.0001, 0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10};
}

Family::Family(Description description) : description_(std::move(description)) {
    ASSERT(is_name(description_.name) && !description_.help.empty());
    ASSERT(std::all_of(description_.labels.begin(), description_.labels.end(), is_name));
}

void Family::render_head(std::string& out, const char* type) const {
    out += "# HELP " + description_.name + " ";
    append_escaped(out, description_.help, false);
    out += "\n# TYPE " + description_.name + " " + type + "\n";
}

void Family::render_sample(
    std::string& out, std::string_view suffix, const Labels& values, std::string_view extra, const std::string& value
) const {
    out += description_.name;
    out += suffix;
    std::string labels;
    for (std::size_t i = 0; i < values.size(); ++i) {
        labels += (labels.empty() ? "" : ",") + description_.labels[i] + "=\"";
        append_escaped(labels, values[i], true);
        labels += '"';
    }
    if (!extra.empty()) {
        labels += labels.empty() ? "" : ",";
        labels += extra;
    }
    if (!labels.empty()) {
        out += "{" + labels + "}";
    }
    out += " " + value + "\n";
}

Labels Family::key_of(const Labels& values, bool is_known, std::size_t count) const {
    ASSERT(values.size() == description_.labels.size());
    if (!is_known && count >= kSeriesMax) {
        return Labels(values.size(), "other");
    }
    Labels out;
    for (const std::string& value : values) {
        out.push_back(to_label(value));
    }
    return out;
}

void Counter::add(const Labels& labels, std::uint64_t amount) {
    const std::lock_guard lock(mutex_);
    series_[key_of(labels, series_.contains(labels), series_.size())] += amount;
}

void Counter::set_total(const Labels& labels, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    series_[key_of(labels, series_.contains(labels), series_.size())] = total;
}

std::uint64_t Counter::value(const Labels& labels) const {
    const std::lock_guard lock(mutex_);
    const auto found = series_.find(labels);
    return found == series_.end() ? 0 : found->second;
}

void Counter::render(std::string& out) const {
    render_head(out, "counter");
    const std::lock_guard lock(mutex_);
    for (const auto& [labels, value] : series_) {
        render_sample(out, "", labels, "", std::to_string(value));
    }
}

void Gauge::set(const Labels& labels, double value) {
    const std::lock_guard lock(mutex_);
    series_[key_of(labels, series_.contains(labels), series_.size())] = value;
}

void Gauge::clear() {
    const std::lock_guard lock(mutex_);
    series_.clear();
}

void Gauge::render(std::string& out) const {
    render_head(out, type_);
    const std::lock_guard lock(mutex_);
    for (const auto& [labels, value] : series_) {
        render_sample(out, "", labels, "", to_text(value));
    }
}

Histogram::Histogram(Description description, std::vector<double> bounds)
    : Family(std::move(description)), bounds_(std::move(bounds)) {
    ASSERT(!bounds_.empty() && std::is_sorted(bounds_.begin(), bounds_.end()));
}

void Histogram::observe(const Labels& labels, double value) {
    const std::lock_guard lock(mutex_);
    Series& series = series_[key_of(labels, series_.contains(labels), series_.size())];
    series.counts.resize(bounds_.size() + 1);
    const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    ++series.counts[static_cast<std::size_t>(bound - bounds_.begin())];
    series.sum += value;
}

std::uint64_t Histogram::count(const Labels& labels) const {
    const std::lock_guard lock(mutex_);
    const auto found = series_.find(labels);
    std::uint64_t out = 0;
    if (found != series_.end()) {
        for (const std::uint64_t count : found->second.counts) {
            out += count;
        }
    }
    return out;
}

void Histogram::render(std::string& out) const {
    render_head(out, "histogram");
    const std::lock_guard lock(mutex_);
    for (const auto& [labels, series] : series_) {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < series.counts.size(); ++i) {
            total += series.counts[i];
            const std::string bound = i < bounds_.size() ? to_text(bounds_[i]) : "+Inf";
            render_sample(out, "_bucket", labels, "le=\"" + bound + "\"", std::to_string(total));
        }
        render_sample(out, "_sum", labels, "", to_text(series.sum));
        render_sample(out, "_count", labels, "", std::to_string(total));
    }
}

template <class T>
T& Registry::add(std::unique_ptr<T> family) {
    const std::lock_guard lock(mutex_);
    ASSERT(std::none_of(families_.begin(), families_.end(), [&](const auto& each) {
        return each->name() == family->name();
    }));
    T& out = *family;
    families_.push_back(std::move(family));
    return out;
}

Counter& Registry::counter(Description description) {
    ASSERT(description.name.ends_with("_total"));
    return add(std::make_unique<Counter>(std::move(description)));
}

Gauge& Registry::gauge(Description description) { return add(std::make_unique<Gauge>(std::move(description))); }

Gauge& Registry::real_counter(Description description) {
    ASSERT(description.name.ends_with("_total"));
    return add(std::make_unique<Gauge>(std::move(description), "counter"));
}

Histogram& Registry::histogram(Description description, std::vector<double> bounds) {
    return add(std::make_unique<Histogram>(std::move(description), std::move(bounds)));
}

std::string Registry::render() const {
    std::string out;
    const std::lock_guard lock(mutex_);
    for (const auto& family : families_) {
        family->render(out);
    }
    return out;
}

}  // namespace assay::metrics
