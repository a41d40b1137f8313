// SPDX-License-Identifier: Apache-2.0
#include <core/command/completion.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace assay::command {
namespace {

/// `text` with each `$name` replaced by its value.
std::string fill(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [name, value] : values) {
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) {
            text.replace(at, name.size(), value);
        }
    }
    return text;
}

/// The program's name as a part of a shell function's name.
std::string identifier(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// In single quotes. Fish escapes within them; the other shells leave them for one character.
std::string quote(const std::string& text, bool is_fish = false) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += is_fish ? "\\'" : "'\\''";
        } else if (c == '\\' && is_fish) {
            out += "\\\\";
        } else {
            out += c == '\n' ? ' ' : c;
        }
    }
    return out + "'";
}

/// "command option" for each name of each option of a kind, by which scripts tell what comes next.
std::vector<std::string> places(const Command& command, ValueKind kind) {
    std::vector<std::string> out;
    for (const Option& option : command.options) {
        for (const std::string& name : option.names) {
            if (option.value == kind) {
                out.push_back(command.path + " " + name);
            }
        }
    }
    return out;
}

std::string quoted(const std::vector<std::string>& texts, const std::string& between) {
    std::string out;
    for (const std::string& text : texts) {
        out += (out.empty() ? "" : between) + quote(text);
    }
    return out;
}

/// One arm for all commands of a kind; nothing if there are none. `head` opens the patterns of a case.
std::string arm(const std::vector<std::string>& patterns, const std::string& head, const std::string& body) {
    return patterns.empty() ? "" : "            " + head + quoted(patterns, "|") + ") " + body + " ;;\n";
}

/// The arms by which a script finds the command that it is in: a subcommand goes down, an option's value is skipped.
std::string walk(
    const std::vector<Command>& commands, const std::string& head, const std::string& down, const std::string& skip
) {
    std::string out;
    for (const Command& command : commands) {
        std::vector<std::string> below;
        for (const std::size_t i : command.subcommands) {
            below.push_back(commands[i].path);
        }
        std::vector<std::string> valued;
        for (const ValueKind kind : {ValueKind::kChoice, ValueKind::kNumber, ValueKind::kText}) {
            const auto more = places(command, kind);
            valued.insert(valued.end(), more.begin(), more.end());
        }
        out += arm(below, head, down) + arm(valued, head, skip);
    }
    return out;
}

/// The arms for the value of the option before the cursor.
std::string values(
    const std::vector<Command>& commands, const std::string& head, const std::string& choose, const std::string& none,
    const std::string& file
) {
    std::string out;
    for (const Command& command : commands) {
        for (const Option& option : command.options) {
            if (option.value == ValueKind::kChoice) {
                std::vector<std::string> patterns;
                for (const std::string& name : option.names) {
                    patterns.push_back(command.path + " " + name);
                }
                out += arm(patterns, head, fill(choose, {{"$CHOICES", CLI::detail::join(option.choices, " ")}}));
            }
        }
        out +=
            arm(places(command, ValueKind::kNumber), head, none) + arm(places(command, ValueKind::kText), head, file);
    }
    return out;
}

bool takes_files(const Command& command) {
    return std::any_of(command.positionals.begin(), command.positionals.end(), [](const Option& positional) {
        return positional.value == ValueKind::kText;
    });
}

/// The choices of all positionals.
std::vector<std::string> positional_choices(const Command& command) {
    std::vector<std::string> out;
    for (const Option& positional : command.positionals) {
        out.insert(out.end(), positional.choices.begin(), positional.choices.end());
    }
    return out;
}

constexpr const char* kBash =
    R"(# Completes the words of $PROGRAM in bash. `$PROGRAM completion bash` prints this script.
_$IDENTIFIER() {
    local at='$PROGRAM' current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words='' files='' i=1
    # Bash takes --option=value for three words.
    if [[ $current == = ]]; then
        current=''
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    while ((i < COMP_CWORD)); do
        case "$at ${COMP_WORDS[i]}" in
$WALK        esac
        ((++i))
    done
    COMPREPLY=()
    case "$at $previous" in
$VALUES            *)
                case "$at" in
$WORDS                esac
                ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    if [[ $files && $current != -* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -F _$IDENTIFIER $PROGRAM
)";

constexpr const char* kZsh = R"(#compdef $PROGRAM
# Completes the words of $PROGRAM in zsh. `$PROGRAM completion zsh` prints this script.
_$IDENTIFIER() {
    local at='$PROGRAM' previous=${words[CURRENT - 1]} files='' i=2
    local -a commands options
    if [[ $PREFIX == --*=* ]]; then
        previous=${PREFIX%%=*}
        compset -P '*='
    fi
    while ((i < CURRENT)); do
        case "$at ${words[i]}" in
$WALK        esac
        ((++i))
    done
    case "$at $previous" in
$VALUES    esac
    case "$at" in
$WORDS    esac
    if [[ $PREFIX != -* ]]; then
        ((${#commands})) && _describe command commands
        [[ -n $files ]] && _files
    fi
    _describe -o option options
}
if [[ ${funcstack[1]} == _$IDENTIFIER ]]; then
    _$IDENTIFIER "$@"
else
    compdef _$IDENTIFIER $PROGRAM
fi
)";

constexpr const char* kFish =
    R"(# Completes the words of $PROGRAM in fish. `$PROGRAM completion fish` prints this script.
function __$IDENTIFIER_at
    set -l at '$PROGRAM'
    set -l skip 0
    set -l typed (commandline -opc)
    set -e typed[1]
    for word in $typed
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$at $word"
$WALK        end
    end
    echo $at
end
complete -c $PROGRAM -f
$COMPLETE)";

/// For _describe: "name:description" in single quotes.
std::string described(const std::string& name, const std::string& description) {
    return quote(fill(name, {{":", "\\:"}}) + ":" + description);
}

std::string fish_option(const Option& option, const std::string& head) {
    std::string out = head;
    for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.value == ValueKind::kChoice) {
        out += " -x -a " + quote(CLI::detail::join(option.choices, " "), true);
    } else if (option.value == ValueKind::kNumber) {
        out += " -x";
    } else if (option.value == ValueKind::kText) {
        out += " -r -F";
    }
    return out + " -d " + quote(option.description, true) + "\n";
}

}  // namespace

std::string bash_completion(const std::vector<Command>& commands) {
    std::string words;
    for (const Command& command : commands) {
        std::vector<std::string> list = positional_choices(command);
        for (const std::size_t i : command.subcommands) {
            list.push_back(commands[i].name());
        }
        for (const Option& option : command.options) {
            list.insert(list.end(), option.names.begin(), option.names.end());
        }
        words += "                    " + quote(command.path) + ") words=" + quote(CLI::detail::join(list, " ")) +
                 (takes_files(command) ? " files=1" : "") + " ;;\n";
    }
    return fill(
        kBash,
        {{"$PROGRAM", commands.front().path},
         {"$IDENTIFIER", identifier(commands.front().path)},
         {"$WALK",
          walk(commands, "", "at=\"$at ${COMP_WORDS[i]}\"", "[[ ${COMP_WORDS[i + 1]} == = ]] && ((++i)); ((++i))")},
         {"$VALUES", values(commands, "", "words='$CHOICES'", "return", "files=1")},
         {"$WORDS", words}}
    );
}

std::string zsh_completion(const std::vector<Command>& commands) {
    std::string words;
    for (const Command& command : commands) {
        words += "        (" + quote(command.path) + ")\n            commands=(";
        for (const std::size_t i : command.subcommands) {
            words += "\n                " + described(commands[i].name(), commands[i].description);
        }
        for (const std::string& choice : positional_choices(command)) {
            words += "\n                " + described(choice, "");
        }
        words += ")\n            options=(";
        for (const Option& option : command.options) {
            for (const std::string& name : option.names) {
                words += "\n                " + described(name, option.description);
            }
        }
        words += std::string(")\n") + (takes_files(command) ? "            files=1\n" : "") + "            ;;\n";
    }
    return fill(
        kZsh, {{"$PROGRAM", commands.front().path},
               {"$IDENTIFIER", identifier(commands.front().path)},
               {"$WALK", walk(commands, "(", "at=\"$at ${words[i]}\"", "((++i))")},
               {"$VALUES", values(commands, "(", "compadd -- $CHOICES; return", "return 1", "_files; return")},
               {"$WORDS", words}}
    );
}

std::string fish_completion(const std::vector<Command>& commands) {
    const std::string program = commands.front().path;
    std::string walked;
    std::string complete;
    for (const Command& command : commands) {
        const std::string condition = "test (__" + identifier(program) + "_at) = \"" + command.path + "\"";
        const std::string head = "complete -c " + program + " -n " + quote(condition, true);
        std::string below;
        for (const std::size_t i : command.subcommands) {
            below += " " + quote(commands[i].path, true);
            complete += head + " -a " + commands[i].name() + " -d " + quote(commands[i].description, true) + "\n";
        }
        std::string valued;
        for (const Option& option : command.options) {
            for (const std::string& name : option.names) {
                valued += option.value == ValueKind::kNone ? "" : " " + quote(command.path + " " + name, true);
            }
            complete += fish_option(option, head);
        }
        if (const auto choices = positional_choices(command); !choices.empty()) {
            complete += head + " -a " + quote(CLI::detail::join(choices, " "), true) + "\n";
        }
        complete += takes_files(command) ? head + " -F\n" : "";
        walked += below.empty() ? "" : "            case" + below + "\n                set at \"$at $word\"\n";
        walked += valued.empty() ? "" : "            case" + valued + "\n                set skip 1\n";
    }
    return fill(
        kFish, {{"$PROGRAM", program}, {"$IDENTIFIER", identifier(program)}, {"$WALK", walked}, {"$COMPLETE", complete}}
    );
}

}  // namespace assay::command
