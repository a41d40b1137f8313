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

constexpr double kBoxWidth = 110.0;
constexpr double kBoxHeight = 30.0;
constexpr double kColumn = 210.0;
constexpr double kRow = 52.0;
constexpr double kMargin = 50.0;
constexpr double kLeastWidth = 680.0;  // for the two lines of text

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

struct Wire {
    std::uint32_t from = 0;  // ranks
    std::uint32_t to = 0;
    double seconds = 0.0;
    bool is_in_stage = false;
    bool is_bottleneck = false;
};

class Drawing {
  public:
    Drawing(const PlanReport& report, const Prediction& plan) : report_(report), plan_(plan) { find_wires(); }

    std::string text() const {
        const plan::Layout& layout = plan_.layout;
        const double width = std::max(kLeastWidth, 2 * kMargin + kColumn * (layout.stages - 1) + kBoxWidth + 60.0);
        const double height = 2 * kMargin + kRow * (layout.data * layout.tensor - 1) + kBoxHeight + 40.0;
        std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + one_decimal(width) + "\" height=\"" +
                          one_decimal(height) + "\" font-family=\"sans-serif\" font-size=\"12\">\n";
        out += label(
            kMargin, 24.0, "start", report_.title + ": " + name() + ", " + seconds_text(plan_.total_s()) + " a step"
        );
        for (const Wire& wire : wires_) {
            out += line(wire);
        }
        for (std::uint32_t rank = 0; rank < plan_.machines.size(); ++rank) {
            out += box(rank);
        }
        out += label(
            kMargin, height - 16.0, "start",
            "compute " + seconds_text(plan_.compute_s) + ", exchange " + seconds_text(plan_.exchange_s) +
                ", handover " + seconds_text(plan_.handover_s) + ", tensor " + seconds_text(plan_.tensor_s) +
                "; black: what the step waits for"
        );
        return out + "</svg>\n";
    }

  private:
    std::string name() const { return plan_.kind == Kind::kTurns ? "turns" : plan::to_string(plan_.layout); }
    static std::string seconds_text(double seconds) {
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, "%.3g s", seconds);
        return buffer;
    }
    double x(std::uint32_t rank) const { return kMargin + kColumn * plan_.layout.stage_index(rank); }
    double y(std::uint32_t rank) const {
        const std::uint32_t place = rank % (plan_.layout.data * plan_.layout.tensor);
        return kMargin + kRow * place;
    }

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
        // From green over yellow to red.
        const std::string colour = wire.is_bottleneck
                                       ? "#000"
                                       : "hsl(" + std::to_string(static_cast<int>(120.0 * (1.0 - share))) + ",75%,42%)";
        const double top = y(wire.from) + kBoxHeight / 2;
        const double bottom = y(wire.to) + kBoxHeight / 2;
        std::string out = "<path d=\"M" + one_decimal(x(wire.from) + kBoxWidth) + " " + one_decimal(top);
        if (wire.is_in_stage) {
            const double bend = x(wire.from) + kBoxWidth + std::min(60.0, 14.0 + 10.0 * (wire.to - wire.from));
            out += " Q" + one_decimal(bend) + " " + one_decimal((top + bottom) / 2) + " " +
                   one_decimal(x(wire.to) + kBoxWidth) + " " + one_decimal(bottom);
        } else {
            out += " L" + one_decimal(x(wire.to)) + " " + one_decimal(bottom);
        }
        return out + "\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"" + (wire.is_bottleneck ? "3" : "1.5") +
               "\"><title>" + seconds_text(wire.seconds) + "</title></path>\n";
    }

    std::string box(std::uint32_t rank) const {
        const std::uint32_t machine = plan_.machines[rank];
        const bool is_waited_for = plan_.wait == Wait::kCompute && plan_.bottleneck[0] == machine;
        return "<rect x=\"" + one_decimal(x(rank)) + "\" y=\"" + one_decimal(y(rank)) + "\" width=\"" +
               one_decimal(kBoxWidth) + "\" height=\"" + one_decimal(kBoxHeight) +
               "\" rx=\"4\" fill=\"#eef3f8\" stroke=\"" + (is_waited_for ? "#000\" stroke-width=\"3" : "#3b7ea1") +
               "\"/>\n" +
               label(
                   x(rank) + kBoxWidth / 2, y(rank) + kBoxHeight / 2 + 4.0, "middle",
                   report_.members.machines[machine].name
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
};

}  // namespace

std::string plan_svg(const PlanReport& report, const Prediction& prediction) {
    return Drawing(report, prediction).text();
}

}  // namespace assay::cli
