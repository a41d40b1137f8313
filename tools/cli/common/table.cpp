// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/table.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/base/amount.hpp>

namespace assay::cli {
namespace {

constexpr const char* kGap = "  ";

std::string pad(const std::string& text, std::size_t width, bool right) {
    const std::string space(width > text.size() ? width - text.size() : 0, ' ');
    return right ? space + text : text + space;
}

std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

}  // namespace

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {
    for (std::string& column : columns_) {
        right_.push_back(column.ends_with('>'));
        if (right_.back()) {
            column.pop_back();
        }
    }
}

void Table::add(std::vector<std::string> cells) {
    ASSERT(cells.size() == columns_.size());
    rows_.push_back(std::move(cells));
}

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = columns_[i].size();
        for (const auto& row : rows_) {
            width = std::max(width, row[i].size());
        }
        widths.push_back(width);
    }
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string out;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            out += (i == 0 ? "" : kGap) + pad(cells[i], widths[i], right_[i]);
        }
        return trimmed(out);
    };
    std::string out = line(columns_);
    for (const auto& row : rows_) {
        out += line(row);
    }
    return out;
}

void Facts::add(const std::string& name, const std::string& value) { lines_.emplace_back(name, value); }

std::string Facts::text() const {
    std::size_t width = 0;
    for (const auto& [name, value] : lines_) {
        width = std::max(width, name.size());
    }
    std::string out;
    for (const auto& [name, value] : lines_) {
        out += trimmed(pad(name, width, false) + kGap + value);
    }
    return out;
}

std::string to_text(const nlohmann::json& value) {
    if (value.is_null()) {
        return "-";
    }
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string amount_text(const nlohmann::json& grains) {
    if (!grains.is_string()) {
        return to_text(grains);
    }
    const auto amount = decode_amount(grains.get<std::string>() + " grains");
    return amount ? to_text(*amount) : grains.get<std::string>();
}

}  // namespace assay::cli
