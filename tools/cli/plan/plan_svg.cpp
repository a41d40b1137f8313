// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <tools/cli/plan/plan_report.hpp>

namespace assay::cli {
namespace {

using schedule::Kind;
using schedule::Link;
using schedule::Prediction;
using schedule::Wait;

constexpr double kBoxHeight = 30.0;
constexpr double kRow = 52.0;
constexpr double kMargin = 40.0;
constexpr double kTop = 74.0;          // of the first box; the title and the stages' captions are above it
constexpr double kBottom = 76.0;       // below the last box, for what the colours mean
constexpr double kLetter = 7.2;        // of a text of size 12, about
constexpr double kLeastWidth = 680.0;  // for the lines of text
constexpr double kBendMost = 90.0;     // of a link within a stage that another one follows
constexpr double kWideBendMost = 240.0;
constexpr std::size_t kNameMost = 24;  // letters of a name that are shown

std::string one_decimal(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.1f", value);
    return buffer;
}

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '<') {
            out += "&lt;";
        } else if (c == '&') {
            out += "&amp;";
        } else {
            out += c;
        }
    }
    return out;
}

// A name with its middle left out if it is long. Bytes that continue a letter of UTF-8 stay with it.
std::string shortened(const std::string& name) {
    std::vector<std::string> letters;
    for (const char c : name) {
        if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U && !letters.empty()) {
            letters.back() += c;
        } else {
            letters.emplace_back(1, c);
        }
    }
    if (letters.size() <= kNameMost) {
        return name;
    }
    std::string out;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const bool is_shown = i < kNameMost / 2 || i + kNameMost / 2 > letters.size();
        out += is_shown ? letters[i] : i == kNameMost / 2 ? "\u2026" : "";
    }
    return out;
}

// From green over yellow to red.
std::string colour_of(double share) {
    return "hsl(" + std::to_string(static_cast<int>(120.0 * (1.0 - share))) + ",75%,42%)";
}

struct Wire {
    std::uint32_t from = 0;  // ranks
    std::uint32_t to = 0;
    double seconds = 0.0;
    bool is_in_stage = false;
    bool is_bottleneck = false;
};

class Drawing {
  public:
    Drawing(const PlanReport& report, const Prediction& plan) : report_(report), plan_(plan) {
        std::size_t longest = 8;
        for (const std::uint32_t machine : plan_.machines) {
            longest = std::max(longest, std::min(kNameMost, report_.members.machines[machine].name.size()));
        }
        box_width_ = kLetter * static_cast<double>(longest) + 16.0;
        find_wires();
    }

    std::string text() const {
        const plan::Layout& layout = plan_.layout;
        const std::string title = report_.title + ": " + name() + ", " + seconds_text(plan_.total_s()) + " a step";
        const double columns = column() * (layout.stages - 1) + box_width_ + bend_most();
        const double least = std::max(kLeastWidth, 2 * kMargin + kLetter * static_cast<double>(title.size()));
        const double width = std::max(least, 2 * kMargin + columns);
        const double height = kTop + kRow * (rows() - 1) + kBoxHeight + kBottom;
        std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + one_decimal(width) + "\" height=\"" +
                          one_decimal(height) + "\" font-family=\"sans-serif\" font-size=\"12\">\n" +
                          "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
        out += label(kMargin, 24.0, "start", title);
        for (std::uint32_t stage = 0; stage < layout.stages && layout.stages > 1; ++stage) {
            out += label(
                kMargin + column() * stage + box_width_ / 2, kTop - 14.0, "middle", "stage " + std::to_string(stage + 1)
            );
        }
        for (const bool is_bottleneck : {false, true}) {  // what the step waits for lies above the others
            for (const Wire& wire : wires_) {
                out += wire.is_bottleneck == is_bottleneck ? line(wire) : "";
            }
        }
        for (std::uint32_t rank = 0; rank < plan_.machines.size(); ++rank) {
            out += box(rank);
        }
        return out + legend(height) + "</svg>\n";
    }

  private:
    std::string name() const { return plan_.kind == Kind::kTurns ? "turns" : plan::to_string(plan_.layout); }
    static std::string seconds_text(double seconds) {
        char buffer[32];
        if (seconds < 1.0) {
            std::snprintf(buffer, sizeof buffer, "%.3g ms", seconds * 1e3);
        } else {
            std::snprintf(buffer, sizeof buffer, "%.3g s", seconds);
        }
        return buffer;
    }
    std::uint32_t rows() const { return plan_.layout.data * plan_.layout.tensor; }
    double bend_most() const { return plan_.layout.stages > 1 ? kBendMost : kWideBendMost; }
    double column() const { return box_width_ + kBendMost + 20.0; }
    double x(std::uint32_t rank) const { return kMargin + column() * plan_.layout.stage_index(rank); }
    double y(std::uint32_t rank) const { return kTop + kRow * (rank % rows()); }

    void find_wires() {
        const plan::Layout& layout = plan_.layout;
        const schedule::Crossing crossing = plan_.kind == Kind::kTurns
                                                ? crossing_of_turns(report_.profile, report_.options, layout.data)
                                                : crossing_of(report_.profile, layout);
        const std::uint32_t stage_size = layout.data * layout.tensor;
        for (std::uint32_t a = 0; a < plan_.machines.size(); ++a) {
            for (std::uint32_t b = a + 1; b < plan_.machines.size(); ++b) {
                const Link& link = report_.members.network.between(plan_.machines[a], plan_.machines[b]);
                const bool is_replica = a / stage_size == b / stage_size && (b - a) % layout.tensor == 0;
                if (is_replica) {
                    add(a, b, exchange_seconds(crossing, link, layout.data), true, Wait::kExchange);
                } else if (b == a + stage_size) {
                    add(a, b, handover_seconds(crossing, link), false, Wait::kHandover);
                } else if (a / layout.tensor == b / layout.tensor) {
                    const schedule::Division& tensor = report_.profile.tensor;
                    const double bytes = tensor.bytes / layout.ranks();
                    const double delay = tensor.rounds / layout.stages * link.delay_s;
                    add(a, b, delay + bytes / link.bytes_per_s, true, Wait::kTensor);
                }
            }
        }
    }

    void add(std::uint32_t a, std::uint32_t b, double seconds, bool is_in_stage, Wait wait) {
        std::vector<std::uint32_t> ends{plan_.machines[a], plan_.machines[b]};
        std::vector<std::uint32_t> waited = plan_.bottleneck;
        std::sort(ends.begin(), ends.end());
        std::sort(waited.begin(), waited.end());
        wires_.push_back({a, b, seconds, is_in_stage, wait == plan_.wait && ends == waited});
        longest_ = std::max(longest_, seconds);
    }

    std::string line(const Wire& wire) const {
        const double share = longest_ > 0.0 ? wire.seconds / longest_ : 0.0;
        const double top = y(wire.from) + kBoxHeight / 2;
        const double bottom = y(wire.to) + kBoxHeight / 2;
        std::string out = "<path d=\"M" + one_decimal(x(wire.from) + box_width_) + " " + one_decimal(top);
        if (wire.is_in_stage) {
            // The middle of the curve is half as far out as the point that bends it.
            const double bend = 2.0 * std::min(bend_most(), 8.0 + 12.0 * (wire.to - wire.from));
            out += " Q" + one_decimal(x(wire.from) + box_width_ + bend) + " " + one_decimal((top + bottom) / 2) + " " +
                   one_decimal(x(wire.to) + box_width_) + " " + one_decimal(bottom);
        } else {
            out += " L" + one_decimal(x(wire.to)) + " " + one_decimal(bottom);
        }
        const std::vector<schedule::Machine>& machines = report_.members.machines;
        return out + "\" fill=\"none\" stroke=\"" + (wire.is_bottleneck ? "#000" : colour_of(share)) +
               "\" stroke-width=\"" + (wire.is_bottleneck ? "3" : "1.5") + "\" stroke-opacity=\"" +
               (wire.is_bottleneck ? "1" : "0.8") + "\"><title>" +
               escaped(machines[plan_.machines[wire.from]].name + " - " + machines[plan_.machines[wire.to]].name) +
               ": " + seconds_text(wire.seconds) + "</title></path>\n";
    }

    std::string box(std::uint32_t rank) const {
        const std::uint32_t machine = plan_.machines[rank];
        const std::string& full = report_.members.machines[machine].name;
        const bool is_waited_for = plan_.wait == Wait::kCompute && plan_.bottleneck[0] == machine;
        return "<rect x=\"" + one_decimal(x(rank)) + "\" y=\"" + one_decimal(y(rank)) + "\" width=\"" +
               one_decimal(box_width_) + "\" height=\"" + one_decimal(kBoxHeight) +
               "\" rx=\"4\" fill=\"#eef3f8\" stroke=\"" + (is_waited_for ? "#000\" stroke-width=\"3" : "#3b7ea1") +
               "\"><title>" + escaped(full) + "</title></rect>\n" +
               label(x(rank) + box_width_ / 2, y(rank) + kBoxHeight / 2 + 4.0, "middle", shortened(full));
    }

    // What the colours mean, and what takes how long.
    std::string legend(double height) const {
        constexpr double kSwatch = 12.0;
        constexpr int kSwatches = 10;
        const double top = height - 50.0;
        double at = kMargin;
        std::string out;
        if (!wires_.empty()) {
            out += label(at, top + 10.0, "start", "links: 0 s");
            at += 62.0;
            for (int i = 0; i < kSwatches; ++i) {
                out += "<rect x=\"" + one_decimal(at) + "\" y=\"" + one_decimal(top + 1.0) + "\" width=\"" +
                       one_decimal(kSwatch) + "\" height=\"10\" fill=\"" +
                       colour_of(i / static_cast<double>(kSwatches - 1)) + "\"/>\n";
                at += kSwatch;
            }
            out += label(at + 6.0, top + 10.0, "start", seconds_text(longest_) + " a step");
            at += 140.0;
        }
        out += label(at, top + 10.0, "start", "black: what the step waits for");
        return out + label(
                         kMargin, height - 18.0, "start",
                         "compute " + seconds_text(plan_.compute_s) + ", exchange " + seconds_text(plan_.exchange_s) +
                             ", handover " + seconds_text(plan_.handover_s) + ", tensor " + seconds_text(plan_.tensor_s)
                     );
    }

    static std::string label(double at_x, double at_y, const char* anchor, const std::string& text) {
        return "<text x=\"" + one_decimal(at_x) + "\" y=\"" + one_decimal(at_y) + "\" text-anchor=\"" + anchor + "\">" +
               escaped(text) + "</text>\n";
    }

    const PlanReport& report_;
    const Prediction& plan_;
    std::vector<Wire> wires_;
    double longest_ = 0.0;
    double box_width_ = 0.0;
};

}  // namespace

std::string plan_svg(const PlanReport& report, const Prediction& prediction) {
    return Drawing(report, prediction).text();
}

}  // namespace assay::cli
