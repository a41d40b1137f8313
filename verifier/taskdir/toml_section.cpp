// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/toml_section.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <core/base/nearest.hpp>
#include <core/base/amount.hpp>

namespace assay::taskdir {
namespace {

std::string joined(const std::vector<std::string>& words, const char* quote) {
    std::string out;
    for (const std::string& word : words) {
        out += (out.empty() ? "" : ", ") + (quote + word) + quote;
    }
    return out;
}

std::string short_text(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g", value);
    return buffer;
}

std::string range_text(const TomlSection::Range& range) {
    std::string out = "must be a number " + std::string(range.above ? "above " : "from ") + short_text(range.min);
    if (range.max < std::numeric_limits<double>::max()) {
        out += (range.below ? " and below " : " to ") + short_text(range.max);
    }
    return out;
}

bool is_within(double value, const TomlSection::Range& range) {
    return std::isfinite(value) && (range.above ? value > range.min : value >= range.min) &&
           (range.below ? value < range.max : value <= range.max);
}

}  // namespace

TomlSection::TomlSection(Findings& findings, std::string name, const toml::table& table)
    : findings_(findings), name_(std::move(name)), table_(table) {
    for (const auto& [key, value] : table_) {
        findings_.place(name_ + std::string(key.str()), value.source().begin.line);
    }
}

void TomlSection::allow(std::initializer_list<const char*> keys) const {
    const std::vector<std::string> known(keys.begin(), keys.end());
    for (const auto& [key, value] : table_) {
        const std::string name(key.str());
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            fail(name, "unknown key; nearest: " + name_ + nearest(name, known) + "; known: " + joined(known, ""));
        }
    }
}

std::vector<std::string> TomlSection::keys() const {
    std::vector<std::string> out;
    for (const auto& [key, value] : table_) {
        out.emplace_back(key.str());
    }
    return out;
}

bool TomlSection::require(const std::string& key) const {
    if (!has(key)) {
        fail(key, "is missing");
        return false;
    }
    return true;
}

std::string TomlSection::text(const std::string& key) const {
    if (!require(key)) {
        return "";
    }
    const auto* value = table_.get(key)->as_string();
    if (value == nullptr) {
        fail(key, "must be a text in quotes");
        return "";
    }
    return value->get();
}

std::string TomlSection::text_or(const std::string& key, const std::string& otherwise) const {
    return has(key) ? text(key) : otherwise;
}

std::string TomlSection::choice(const std::string& key, const std::vector<std::string>& choices) const {
    if (!require(key)) {
        return choices.front();
    }
    const auto* value = table_.get(key)->as_string();
    if (value == nullptr) {
        fail(key, "must be one of " + joined(choices, "\""));
        return choices.front();
    }
    if (std::find(choices.begin(), choices.end(), value->get()) == choices.end()) {
        fail(
            key, "\"" + value->get() + "\" is unknown; nearest: \"" + nearest(value->get(), choices) +
                     "\"; known: " + joined(choices, "\"")
        );
        return choices.front();
    }
    return value->get();
}

std::string TomlSection::choice_or(
    const std::string& key, const std::vector<std::string>& choices, const char* otherwise
) const {
    return has(key) ? choice(key, choices) : otherwise;
}

std::vector<std::string> TomlSection::texts(const std::string& key) const {
    std::vector<std::string> out;
    if (!has(key)) {
        return out;
    }
    const toml::array* const list = table_.get(key)->as_array();
    const bool good = list != nullptr &&
                      std::all_of(list->begin(), list->end(), [](const toml::node& item) { return item.is_string(); });
    if (!good) {
        fail(key, "must be a list of texts in quotes");
        return out;
    }
    for (const toml::node& item : *list) {
        out.push_back(item.as_string()->get());
    }
    return out;
}

Amount TomlSection::amount(const std::string& key) const {
    if (!require(key)) {
        return {};
    }
    const auto* const written = table_.get(key)->as_string();
    if (written == nullptr) {
        fail(key, "must be a text such as \"1.5 ASY\" or \"500 grains\"");
        return {};
    }
    const auto value = decode_amount(written->get());
    if (!value) {
        fail(key, to_string(value.error()));
        return {};
    }
    return *value;
}

bool TomlSection::flag(const std::string& key, bool otherwise) const {
    if (!has(key)) {
        return otherwise;
    }
    const auto* const value = table_.get(key)->as_boolean();
    if (value == nullptr) {
        fail(key, "must be true or false");
        return otherwise;
    }
    return value->get();
}

std::uint64_t TomlSection::whole(const std::string& key, std::uint64_t min, std::uint64_t max) const {
    if (!require(key)) {
        return min;
    }
    const auto* const value = table_.get(key)->as_integer();
    const bool good = value != nullptr && value->get() >= 0 && static_cast<std::uint64_t>(value->get()) >= min &&
                      static_cast<std::uint64_t>(value->get()) <= max;
    if (!good) {
        fail(key, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
        return min;
    }
    return static_cast<std::uint64_t>(value->get());
}

std::vector<std::uint32_t> TomlSection::numbers(
    const std::string& key, std::uint32_t min, std::uint32_t max, std::size_t most
) const {
    std::vector<std::uint32_t> out;
    if (!require(key)) {
        return out;
    }
    const toml::array* const list = table_.get(key)->as_array();
    const auto is_good = [min, max](const toml::node& item) {
        const auto* const value = item.as_integer();
        return value != nullptr && value->get() >= std::int64_t{min} && value->get() <= std::int64_t{max};
    };
    if (list == nullptr || list->size() > most || !std::all_of(list->begin(), list->end(), is_good)) {
        fail(
            key, "must be a list of at most " + std::to_string(most) + " whole numbers from " + std::to_string(min) +
                     " to " + std::to_string(max)
        );
        return out;
    }
    for (const toml::node& item : *list) {
        out.push_back(static_cast<std::uint32_t>(item.as_integer()->get()));
    }
    return out;
}

void TomlSection::read(const std::string& key, const Range& range, float& out) const {
    if (!has(key)) {
        return;
    }
    const auto value = table_.get(key)->value<double>();
    // What is above 0 must still be so as an f32.
    const bool vanishes = value && range.above && range.min >= 0.0 && static_cast<float>(*value) <= 0.0F;
    if (!value || !is_within(*value, range) || !std::isfinite(static_cast<float>(*value)) || vanishes) {
        fail(key, range_text(range));
        return;
    }
    out = static_cast<float>(*value);
}

void TomlSection::read(const std::string& key, const Range& range, double& out) const {
    if (!has(key)) {
        return;
    }
    const auto value = table_.get(key)->value<double>();
    if (!value || !is_within(*value, range)) {
        fail(key, range_text(range));
        return;
    }
    out = *value;
}

std::vector<float> TomlSection::reals(const std::string& key, const Range& range, std::size_t most) const {
    std::vector<float> out;
    if (!require(key)) {
        return out;
    }
    const toml::array* const list = table_.get(key)->as_array();
    const auto is_good = [&range](const toml::node& item) {
        const auto value = item.value<double>();
        return value && is_within(*value, range);
    };
    if (list == nullptr || list->size() > most || !std::all_of(list->begin(), list->end(), is_good)) {
        fail(key, "must be a list of at most " + std::to_string(most) + ", each of which " + range_text(range));
        return out;
    }
    for (const toml::node& item : *list) {
        out.push_back(static_cast<float>(*item.value<double>()));
    }
    return out;
}

std::map<std::string, float> TomlSection::real_table(const Range& range) const {
    std::map<std::string, float> out;
    for (const auto& [key, node] : table_) {
        const std::string name(key.str());
        out[name] = 0.0F;
        read(name, range, out[name]);
    }
    return out;
}

TomlSection TomlSection::section(const std::string& key) const {
    static const toml::table kEmpty;
    const std::string name = name_.empty() ? "[" + key + "] " : name_.substr(0, name_.size() - 2) + "." + key + "] ";
    if (!has(key)) {
        return {findings_, name, kEmpty};
    }
    const toml::table* const table = table_.get(key)->as_table();
    if (table == nullptr) {
        fail(key, "must be a section [" + key + "]");
        return {findings_, name, kEmpty};
    }
    return {findings_, name, *table};
}

}  // namespace assay::taskdir
