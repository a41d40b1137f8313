// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Formats the node's answers as text for people.
namespace assay::cli {

/// Rows in aligned columns. A column whose name ends in '>' is right-aligned.
class Table {
  public:
    explicit Table(std::vector<std::string> columns);
    /// Adds a row. It must have as many cells as there are columns.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    std::string text() const;

  private:
    std::vector<std::string> columns_;
    std::vector<bool> right_;
    std::vector<std::vector<std::string>> rows_;
};

/// Names and values, one pair per line, with aligned values.
class Facts {
  public:
    void add(const std::string& name, const std::string& value);
    std::string text() const;

  private:
    std::vector<std::pair<std::string, std::string>> lines_;
};

/// Returns a value as text without quotes; "-" for null.
std::string to_text(const nlohmann::json& value);
/// Formats grains in a decimal string, as the RPC gives them, as "1.5 ASY"; "-" for null.
std::string amount_text(const nlohmann::json& grains);

}  // namespace assay::cli
