// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

/// Text for people, made from the node's JSON.
namespace assay::cli {

/// Columns as wide as their widest cell; two spaces between them.
class Table {
  public:
    explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    std::string text() const;

  private:
    std::vector<std::vector<std::string>> rows_;
};

/// "name  value" lines with the values aligned.
class Fields {
  public:
    Fields& add(const std::string& name, const std::string& value) {
        items_.emplace_back(name, value);
        return *this;
    }
    std::string text() const;

  private:
    std::vector<std::pair<std::string, std::string>> items_;
};

/// A member as text: "-" for null or missing.
std::string text_of(const nlohmann::json& object, const std::string& name);
/// A member that is an amount in grains, in ASY.
std::string amount_of(const nlohmann::json& object, const std::string& name);
/// The head of an id or a hash, enough to tell them apart.
std::string short_of(const nlohmann::json& object, const std::string& name);

}  // namespace assay::cli
