// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace assay::demo {

/// The eight stages of a task in the demo's story.
enum class Stage : std::uint8_t {
    kSubmission = 1,
    kProfiling = 2,
    kDraw = 3,
    kTraining = 4,
    kCompletion = 5,
    kVerification = 6,
    kChallenge = 7,
    kSettlement = 8,
};

/// Prints the story: progress bars that redraw in a terminal; when piped, plain lines at every quarter. Thread-safe.
class Narrator {
  public:
    /// `silent`: print nothing, because the report goes to stdout.
    explicit Narrator(bool silent);
    void heading(const std::string& text);
    /// Prints a line that belongs to a stage.
    void tell(Stage stage, const std::string& text);
    void plain(const std::string& text);
    /// The progress of one training task, identified by its label.
    struct Training {
        std::uint64_t step = 0;
        std::uint64_t steps = 0;
        double loss = 0;
        double steps_per_s = 0;
        double eta_s = 0;
    };
    void progress(const std::string& label, const Training& training);

  private:
    void clear_bar();
    void draw_bar();
    void line(const std::string& text);

    bool silent_;
    bool terminal_;
    bool colour_;
    std::mutex mutex_;
    std::map<std::string, Training> bars_;
    std::map<std::string, std::uint64_t> quarters_;
    bool bar_drawn_ = false;
};

}  // namespace assay::demo
