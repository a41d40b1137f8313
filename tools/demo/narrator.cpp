// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/narrator.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace assay::demo {
namespace {

constexpr std::array<const char*, 9> kStageNames = {"",          "submission", "profiling",    "pool and draw",
                                                    "training",  "completion", "verification", "challenge",
                                                    "settlement"};
constexpr std::uint64_t kBarWidth = 24;
constexpr double kFewSteps = 10;  ///< per second: so few are told with decimals

std::string percent_line(const std::string& label, const Narrator::Training& t, bool with_bar) {
    const std::uint64_t done = t.steps == 0 ? 0 : t.step * kBarWidth / t.steps;
    std::string bar;
    if (with_bar) {
        bar = "[" + std::string(done, '#') + std::string(kBarWidth - done, '.') + "] ";
    }
    std::array<char, 160> text{};
    std::snprintf(
        text.data(), text.size(), "%s: %sstep %llu/%llu, loss %.3f, %.*f steps/s, ETA %.0f s", label.c_str(),
        bar.c_str(), static_cast<unsigned long long>(t.step), static_cast<unsigned long long>(t.steps), t.loss,
        t.steps_per_s < kFewSteps ? 2 : 0, t.steps_per_s, t.eta_s
    );
    return text.data();
}

}  // namespace

Narrator::Narrator(bool silent)
    : silent_(silent),
      terminal_(::isatty(STDOUT_FILENO) == 1),
      colour_(terminal_ && std::getenv("NO_COLOR") == nullptr) {}

void Narrator::clear_bar() {
    if (bar_drawn_) {
        std::cout << "\r\033[K";
        bar_drawn_ = false;
    }
}

void Narrator::draw_bar() {
    if (!terminal_ || bars_.empty()) {
        return;
    }
    std::string all = "  ";
    for (const auto& [label, training] : bars_) {
        all += (all.size() > 2 ? "  |  " : "") + percent_line(label, training, bars_.size() == 1);
    }
    std::cout << all << std::flush;
    bar_drawn_ = true;
}

void Narrator::line(const std::string& text) {
    if (silent_) {
        return;
    }
    clear_bar();
    std::cout << text << "\n" << std::flush;
    draw_bar();
}

void Narrator::heading(const std::string& text) {
    const std::lock_guard lock(mutex_);
    line(colour_ ? "\033[1m" + text + "\033[0m" : text);
}

void Narrator::plain(const std::string& text) {
    const std::lock_guard lock(mutex_);
    line(text);
}

void Narrator::tell(Stage stage, const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto number = static_cast<std::size_t>(stage);
    std::string label = "[" + std::to_string(number) + "/8 " + kStageNames[number] + "]";
    label.resize(20, ' ');
    line(colour_ ? "\033[36m" + label + "\033[0m " + text : label + " " + text);
}

void Narrator::progress(const std::string& label, const Training& training) {
    const std::lock_guard lock(mutex_);
    if (silent_) {
        return;
    }
    const bool finished = training.step >= training.steps;
    if (terminal_) {
        clear_bar();
        if (finished) {
            bars_.erase(label);
        } else {
            bars_[label] = training;
        }
        draw_bar();
    }
    const std::uint64_t quarter = training.steps == 0 ? 0 : training.step * 4 / training.steps;
    if ((!terminal_ && quarter > quarters_[label]) || (terminal_ && finished && quarters_[label] != 4)) {
        quarters_[label] = quarter;
        line("                     " + percent_line(label, training, false));
    }
}

}  // namespace assay::demo
