// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Metrics of a process in Prometheus' text format (version 0.0.4). All classes are thread-safe.
namespace assay::metrics {

/// A family has at most so many series. A further one is counted in the series whose label values are all "other", so
/// that values from outside cannot use up the memory of this process or of whoever scrapes it.
inline constexpr std::size_t kSeriesMax = 1'000;
inline constexpr std::size_t kLabelBytesMax = 128;  ///< a label value is cut off after so many bytes
inline constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

/// Label values, in the order of the family's label names.
using Labels = std::vector<std::string>;

/// Name, help text and labels of a metric. `help` is one sentence.
struct Description {
    std::string name;
    std::string help;
    std::vector<std::string> labels{};
};

/// A metric with all its series.
class Family {
  public:
    virtual ~Family() = default;
    const std::string& name() const { return description_.name; }
    /// Appends HELP, TYPE and all samples to `out`. A family without series has no samples.
    virtual void render(std::string& out) const = 0;

  protected:
    explicit Family(Description description);
    void render_head(std::string& out, const char* type) const;
    /// Appends one sample; `extra` is a further label, as in le="1", or empty.
    void render_sample(
        std::string& out, std::string_view suffix, const Labels& values, std::string_view extra,
        const std::string& value
    ) const;
    /// Returns the labels under which a sample counts. Asserts that their number is right.
    Labels key_of(const Labels& values, bool is_known, std::size_t count) const;

    mutable std::mutex mutex_;

  private:
    const Description description_;
};

/// A number that only grows while the process lives. It is exact up to 2^64.
class Counter final : public Family {
  public:
    explicit Counter(Description description) : Family(std::move(description)) {}
    void add(const Labels& labels, std::uint64_t amount = 1);
    void add() { add({}); }
    /// Makes the series show `total`, for a count that is kept elsewhere.
    void set_total(const Labels& labels, std::uint64_t total);
    std::uint64_t value(const Labels& labels = {}) const;
    void render(std::string& out) const override;

  private:
    std::map<Labels, std::uint64_t> series_;
};

/// A number that goes up and down; or, with the type "counter", one that only grows and is not whole.
class Gauge final : public Family {
  public:
    explicit Gauge(Description description, const char* type = "gauge") : Family(std::move(description)), type_(type) {}
    void set(const Labels& labels, double value);
    void set(double value) { set({}, value); }
    /// Removes all series: what is not known is not shown.
    void clear();
    void render(std::string& out) const override;

  private:
    const char* const type_;
    std::map<Labels, double> series_;
};

/// Counts observations by upper bounds, which are ascending. The bound +Inf is added.
class Histogram final : public Family {
  public:
    Histogram(Description description, std::vector<double> bounds);
    void observe(const Labels& labels, double value);
    void observe(double value) { observe({}, value); }
    std::uint64_t count(const Labels& labels = {}) const;
    void render(std::string& out) const override;

  private:
    struct Series {
        std::vector<std::uint64_t> counts;  ///< by bound, not cumulative; the last is beyond all bounds
        double sum = 0;
    };
    const std::vector<double> bounds_;
    std::map<Labels, Series> series_;
};

/// The families of one process. They live as long as the registry.
class Registry {
  public:
    /// Asserts that name and labels are valid and that the name is new. A counter's name ends with _total.
    Counter& counter(Description description);
    Gauge& gauge(Description description);
    /// A total that is not a whole number, such as seconds.
    Gauge& real_counter(Description description);
    Histogram& histogram(Description description, std::vector<double> bounds);
    /// Returns all families in the text format, in the order in which they were added.
    std::string render() const;

  private:
    template <class T>
    T& add(std::unique_ptr<T> family);

    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Family>> families_;
};

/// Returns `value` as a label may hold it: valid UTF-8, in which each wrong byte is U+FFFD, of at most kLabelBytesMax
/// bytes.
std::string to_label(std::string_view value);

/// Upper bounds in seconds for what takes between 100 microseconds and 10 seconds.
std::vector<double> second_bounds();

}  // namespace assay::metrics
