// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/svg.hpp>

#include <algorithm>
#include <array>

#include <tools/economics/number.hpp>

namespace assay::economics {
namespace {

constexpr double kWidth = 330.0;
constexpr double kHeight = 230.0;
constexpr double kLeft = 52.0;
constexpr double kTop = 26.0;
constexpr double kPlotWidth = 190.0;
constexpr double kPlotHeight = 165.0;
constexpr std::array<const char*, 6> kColours = {"#2a9d4a", "#d1495b", "#e8963a", "#7b5ea7", "#3b7ea1", "#7a7a7a"};
constexpr std::array<Role, 3> kRoles = {Role::kSolver, Role::kVerifier, Role::kWatcher};

struct Scale {
    double low = 0.0;
    double high = 1.0;
    double last = 1.0;
    double x(double played) const { return kLeft + played / last * kPlotWidth; }
    double y(double value) const { return kTop + (high - value) / (high - low) * kPlotHeight; }
};

Scale scale_of(const PopulationResult& population, Role role) {
    Scale scale{0.0, 0.0, std::max(1.0, static_cast<double>(population.tasks))};
    for (const Wealth& wealth : population.wealth) {
        if (wealth.role == role) {
            for (const double change : wealth.change) {
                scale.low = std::min(scale.low, change);
                scale.high = std::max(scale.high, change);
            }
        }
    }
    if (scale.high - scale.low < 1e-9) {
        scale.high = scale.low + 1.0;
    }
    return scale;
}

std::string attribute(const char* name, const std::string& value) {
    return std::string(" ") + name + "=\"" + value + "\"";
}
std::string attribute(const char* name, double value) { return attribute(name, fixed(value, 1)); }

std::string label(double x, double y, const char* anchor, const std::string& text, const char* colour = "#333") {
    return "<text" + attribute("x", x) + attribute("y", y) + attribute("text-anchor", anchor) +
           attribute("fill", colour) + ">" + text + "</text>\n";
}

std::string chart(const PopulationResult& population, Role role) {
    const Scale scale = scale_of(population, role);
    std::string out = label(kLeft, kTop - 10.0, "start", population.name + ": " + to_string(role) + "s", "#000");
    out += "<rect" + attribute("x", kLeft) + attribute("y", kTop) + attribute("width", kPlotWidth) +
           attribute("height", kPlotHeight) + " fill=\"none\" stroke=\"#bbb\"/>\n";
    out += "<line" + attribute("x1", kLeft) + attribute("x2", kLeft + kPlotWidth) + attribute("y1", scale.y(0.0)) +
           attribute("y2", scale.y(0.0)) + " stroke=\"#bbb\"/>\n";
    out += label(kLeft - 4.0, kTop + 8.0, "end", significant(scale.high, 3));
    out += label(kLeft - 4.0, kTop + kPlotHeight, "end", significant(scale.low, 3));
    out += label(kLeft, kTop + kPlotHeight + 14.0, "start", "0");
    out += label(kLeft + kPlotWidth, kTop + kPlotHeight + 14.0, "end", std::to_string(population.tasks) + " tasks");
    std::size_t line = 0;
    for (const Wealth& wealth : population.wealth) {
        if (wealth.role != role) {
            continue;
        }
        const char* const colour = kColours[line % kColours.size()];
        std::string points;
        for (std::size_t i = 0; i < wealth.change.size(); ++i) {
            points += fixed(scale.x(population.sampled[i]), 1) + "," + fixed(scale.y(wealth.change[i]), 1) + " ";
        }
        out += "<polyline" + attribute("points", points) + attribute("stroke", colour) +
               " fill=\"none\" stroke-width=\"1.5\"/>\n";
        out += label(
            kLeft + kPlotWidth + 6.0, kTop + 10.0 + 14.0 * static_cast<double>(line), "start",
            to_string(wealth.strategy), colour
        );
        ++line;
    }
    return out;
}

}  // namespace

std::string to_svg(const std::vector<PopulationResult>& populations) {
    const double height = kHeight * static_cast<double>(populations.size()) + 24.0;
    const double width = kWidth * static_cast<double>(kRoles.size());
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) + attribute("height", height) +
        " font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    out += label(kLeft, 15.0, "start", "Mean change of an account's wealth in ASY, by strategy", "#000");
    for (std::size_t row = 0; row < populations.size(); ++row) {
        for (std::size_t column = 0; column < kRoles.size(); ++column) {
            out += "<g transform=\"translate(" + fixed(kWidth * static_cast<double>(column), 0) + "," +
                   fixed(kHeight * static_cast<double>(row) + 24.0, 0) + ")\">\n";
            out += chart(populations[row], kRoles[column]) + "</g>\n";
        }
    }
    return out + "</svg>\n";
}

}  // namespace assay::economics
