// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/table.hpp>

#include <algorithm>
#include <charconv>

#include <core/base/integers.hpp>
#include <tools/cli/amount.hpp>

namespace assay::cli {

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string out;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size()) {
                line += std::string(widths[i] - row[i].size() + 2, ' ');
            }
        }
        out += line + "\n";
    }
    return out;
}

std::string Fields::text() const {
    std::size_t width = 0;
    for (const auto& [name, value] : items_) {
        width = std::max(width, name.size());
    }
    std::string out;
    for (const auto& [name, value] : items_) {
        out += name + std::string(width - name.size() + 2, ' ') + value + "\n";
    }
    return out;
}

std::string text_of(const nlohmann::json& object, const std::string& name) {
    const nlohmann::json value = object.value(name, nlohmann::json());
    if (value.is_null()) {
        return "-";
    }
    if (value.is_boolean()) {
        return value.get<bool>() ? "yes" : "no";
    }
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string amount_of(const nlohmann::json& object, const std::string& name) {
    const std::string text = text_of(object, name);
    Amount amount;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), amount.grains);
    return parsed.ec == std::errc{} ? to_text(amount) : text;
}

std::string short_of(const nlohmann::json& object, const std::string& name) {
    const std::string text = text_of(object, name);
    return text.size() > 16 ? text.substr(0, text.starts_with("assay1") ? 14 : 12) + ".." : text;
}

}  // namespace assay::cli
