// SPDX-License-Identifier: Apache-2.0
#include <core/command/manual.hpp>

#include <algorithm>
#include <cctype>

#include <core/command/exit_codes.hpp>

namespace assay::command {
namespace {

/// Text for troff: a backslash and a dash have a meaning there, and so has a point or an apostrophe that begins a line.
std::string escape(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if (c == '\n') {
            out += ' ';
        } else {
            out += c;
        }
    }
    return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(std::toupper(c));
    });
    return text;
}

/// The value as the page shows it: "text|json" or "UINT"; empty for a flag.
std::string value_of(const Option& option) {
    return option.value == ValueKind::kChoice ? CLI::detail::join(option.choices, "|") : option.value_name;
}

void add_option(std::string& page, const Option& option) {
    page += ".TP\n";
    std::string tag;
    for (const std::string& name : option.names) {
        tag += (tag.empty() ? "\\fB" : ", \\fB") + escape(name) + "\\fR";
    }
    const std::string value = value_of(option);
    page += tag + (value.empty() ? "" : " \\fI" + escape(value) + "\\fR") + "\n";
    page += escape(option.description.empty() ? "(no description)" : option.description);
    if (!option.default_text.empty()) {
        page += escape(" (default: " + option.default_text + ")");
    }
    page += option.is_required ? " (required)\n" : "\n";
}

bool is_own(const Option& option) { return !option.is_inherited; }

void add_command(std::string& page, const Command& command) {
    page +=
        ".SS " + escape(command.path.substr(command.path.find(' ') + 1)) + "\n" + escape(command.description) + "\n";
    page += ".PP\n\\fB" + escape(command.path) + "\\fR";
    if (std::any_of(command.options.begin(), command.options.end(), is_own)) {
        page += " [\\fIoptions\\fR]";
    }
    for (const Option& positional : command.positionals) {
        const std::string name = "\\fI" + escape(positional.names[0]) + "\\fR";
        page += positional.is_required ? " " + name : " [" + name + "]";
    }
    page += "\n";
    for (const Option& positional : command.positionals) {
        add_option(page, positional);
    }
    for (const Option& option : command.options) {
        if (is_own(option) && option.names.back() != "--help") {
            add_option(page, option);
        }
    }
}

}  // namespace

std::string manual_page(
    const std::vector<Command>& commands, const std::string& description, const std::string& version
) {
    const Command& program = commands.front();
    std::string page = "." + std::string("TH ") + upper(program.path) + " 1 \"\" \"Assay " + version + "\" \"Assay\"\n";
    // The part after the dash must be one line without the program's name, by which apropos finds the page.
    std::string purpose = description;
    if (purpose.starts_with(program.path + ":") || purpose.starts_with(program.path + " ")) {
        purpose.erase(0, purpose.find(' ') + 1);
    }
    page += ".SH NAME\n" + program.path + " \\- " + escape(purpose) + "\n";
    page +=
        ".SH SYNOPSIS\n.B " + program.path + "\n[\\fIoptions\\fR] \\fIcommand\\fR [\\fIoptions of the command\\fR]\n";
    page += ".SH OPTIONS\n";
    for (const Option& option : program.options) {
        add_option(page, option);
    }
    page += ".SH COMMANDS\nEach command has the option \\fB\\-\\-help\\fR.\n";
    for (std::size_t i = 1; i < commands.size(); ++i) {
        // A command that only has others below it is described by them.
        if (commands[i].subcommands.empty()) {
            add_command(page, commands[i]);
        }
    }
    page += ".SH EXIT STATUS\n";
    for (const ExitMeaning& meaning : kExitMeanings) {
        if (ends_with(program.path, meaning)) {
            page += ".TP\n\\fB" + std::to_string(meaning.code) + "\\fR\n" + escape(std::string(meaning.meaning)) + "\n";
        }
    }
    page += ".SH SEE ALSO\n";
    std::string others;
    for (const char* const name : {"assay", "assay-worker", "assayd"}) {
        if (name != program.path) {
            others += (others.empty() ? "\\fB" : ",\n\\fB") + escape(name) + "\\fR(1)";
        }
    }
    return page + others + "\n";
}

}  // namespace assay::command
