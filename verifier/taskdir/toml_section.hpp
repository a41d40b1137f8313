// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include <core/base/integers.hpp>
#include <verifier/taskdir/findings.hpp>

namespace assay::taskdir {

/// A table of task.toml. What is wrong with a key becomes a finding, and the reader's default stands in for it, so that
/// the rest of the file is looked at too.
class TomlSection {
  public:
    /// `name` is what stands before a key in findings: "" for the root, "[model] " for a section.
    TomlSection(Findings& findings, std::string name, const toml::table& table);

    void fail(const std::string& key, const std::string& what) const { findings_.error(name_ + key, what); }
    /// Every other key is an error.
    void allow(std::initializer_list<const char*> keys) const;
    bool has(const std::string& key) const { return table_.contains(key); }

    /// A key that must be there. After a finding: "".
    std::string text(const std::string& key) const;
    std::string text_or(const std::string& key, const std::string& otherwise) const;
    /// One of `choices`, of which the first stands in after a finding.
    std::string choice(const std::string& key, const std::vector<std::string>& choices) const;
    std::string choice_or(const std::string& key, const std::vector<std::string>& choices, const char* otherwise) const;
    std::vector<std::string> texts(const std::string& key) const;
    Amount amount(const std::string& key) const;
    bool flag(const std::string& key, bool otherwise) const;

    /// A whole number that must be there. After a finding: `min`.
    template <class T>
    T number(const std::string& key, T min, T max) const {
        return static_cast<T>(whole(key, min, max));
    }
    /// Leaves `out` alone when the key is absent.
    template <class T>
    void read(const std::string& key, T min, T max, T& out) const {
        if (has(key)) {
            out = number<T>(key, min, max);
        }
    }
    /// A list of whole numbers, at most `most` of them.
    std::vector<std::uint32_t> numbers(
        const std::string& key, std::uint32_t min, std::uint32_t max, std::size_t most
    ) const;

    /// What a real number may be. The bounds themselves are allowed unless `above` or `below` says otherwise.
    struct Range {
        double min = 0.0;
        double max = std::numeric_limits<double>::max();
        bool above = false;  ///< greater than min
        bool below = false;  ///< less than max
    };
    /// Leaves `out` alone when the key is absent.
    void read(const std::string& key, const Range& range, float& out) const;
    void read(const std::string& key, const Range& range, double& out) const;

    /// The section [key]; an empty one when it is absent, or not a section.
    TomlSection section(const std::string& key) const;

  private:
    std::uint64_t whole(const std::string& key, std::uint64_t min, std::uint64_t max) const;
    /// Whether the key is there; a finding otherwise.
    bool require(const std::string& key) const;

    Findings& findings_;
    std::string name_;
    const toml::table& table_;
};

}  // namespace assay::taskdir
