// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// What `assay task init` asks, and which answers it takes.
namespace assay::cli {

/// How an answer is checked, and how it is written into task.toml.
enum class Form : std::uint8_t { kText, kWhole, kWholes, kReal, kAmount, kChoice, kFile, kNames };

/// One question. Several questions may have the same name, for different model families.
struct Question {
    std::string name;                    ///< of the flag; with underscores, the key in task.toml
    std::string section;                 ///< of task.toml; empty for the top of the file
    std::string prompt;                  ///< what is asked
    Form form = Form::kText;             ///< what an answer looks like
    std::string otherwise{};             ///< the default answer; empty if there is none
    std::vector<std::string> models{};   ///< the families that it is for; empty: all
    std::vector<std::string> choices{};  ///< of Form::kChoice
    bool is_asked = true;                ///< false: the flag is an option, and its absence is no gap
};

/// By name, as the user typed them.
using Answers = std::map<std::string, std::string>;

/// All questions, in the order in which they are asked.
const std::vector<Question>& questions();

/// Whether the answers so far leave something to ask here: the family has it, and the data need it.
bool applies(const Question& question, const Answers& answers);

/// Whether a file has rows: a safetensors file, and not a text.
bool is_rows_file(const std::string& path);
/// Whether the data are rows.
bool has_rows(const Answers& answers);

/// The default answer; may follow from earlier answers. Empty if there is none.
std::string default_of(const Question& question, const Answers& answers);

/// What is wrong with an answer, as in "must be a whole number from 1"; empty if nothing is.
std::string problem_of(const Question& question, const std::string& answer);

/// The numbers or names of a list with commas, without spaces around them.
std::vector<std::string> split_list(const std::string& text);

}  // namespace assay::cli
