// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include <core/base/integers.hpp>
#include <verifier/taskdir/findings.hpp>

namespace assay::taskdir {

/// A table of task.toml. An invalid key adds a finding and yields a default value, so that the rest of the file is
/// checked too.
class TomlSection {
  public:
    /// `name` is the prefix of keys in findings: "" for the root, "[model] " for a section.
    TomlSection(Findings& findings, std::string name, const toml::table& table);

    void fail(const std::string& key, const std::string& what) const { findings_.error(name_ + key, what); }
    /// Adds an error for every key not in `keys`.
    void allow(std::initializer_list<const char*> keys) const;
    bool has(const std::string& key) const { return table_.contains(key); }
    /// The prefix of keys in findings.
    const std::string& name() const { return name_; }
    /// The keys of a table whose keys are the user's, in order.
    std::vector<std::string> keys() const;

    /// A required string. Returns "" after a finding.
    std::string text(const std::string& key) const;
    std::string text_or(const std::string& key, const std::string& otherwise) const;
    /// A required string out of `choices`. Returns the first of them after a finding.
    std::string choice(const std::string& key, const std::vector<std::string>& choices) const;
    std::string choice_or(const std::string& key, const std::vector<std::string>& choices, const char* otherwise) const;
    std::vector<std::string> texts(const std::string& key) const;
    Amount amount(const std::string& key) const;
    bool flag(const std::string& key, bool otherwise) const;

    /// A required integer. Returns `min` after a finding.
    template <class T>
    T number(const std::string& key, T min, T max) const {
        return static_cast<T>(whole(key, min, max));
    }
    /// Reads an integer; leaves `out` unchanged if the key is absent.
    template <class T>
    void read(const std::string& key, T min, T max, T& out) const {
        if (has(key)) {
            out = number<T>(key, min, max);
        }
    }
    /// A list of integers, with at most `most` elements.
    std::vector<std::uint32_t> numbers(const std::string& key, std::uint32_t min, std::uint32_t max, std::size_t most)
        const;

    /// The allowed range of a real number. The bounds are included unless `above` or `below` is set.
    struct Range {
        double min = 0.0;
        double max = std::numeric_limits<double>::max();
        bool above = false;  ///< excludes min
        bool below = false;  ///< excludes max
    };
    /// Reads a real number; leaves `out` unchanged if the key is absent.
    void read(const std::string& key, const Range& range, float& out) const;
    void read(const std::string& key, const Range& range, double& out) const;

    /// A required list of real numbers in `range`, with at most `most` elements.
    std::vector<float> reals(const std::string& key, const Range& range, std::size_t most) const;
    /// Every key of this table with its real number in `range`; the keys are the user's.
    std::map<std::string, float> real_table(const Range& range) const;

    /// Returns the section [key]; an empty one if it is absent or not a table.
    TomlSection section(const std::string& key) const;

  private:
    std::uint64_t whole(const std::string& key, std::uint64_t min, std::uint64_t max) const;
    /// Whether the key exists; adds a finding if not.
    bool require(const std::string& key) const;

    Findings& findings_;
    std::string name_;
    const toml::table& table_;
};

}  // namespace assay::taskdir
