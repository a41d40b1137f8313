// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/plan/members_file.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <toml++/toml.h>

#include <verifier/plan/index_set.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_file.hpp>
#include <verifier/taskdir/toml_section.hpp>

namespace assay::cli {
namespace {

using schedule::Link;
using schedule::Machine;
using taskdir::TomlSection;

constexpr TomlSection::Range kSpeed{.min = 0.0, .max = 1e21, .above = true};
constexpr TomlSection::Range kDelayMs{.min = 0.0, .max = 1e6};
constexpr TomlSection::Range kGigabits{.min = 0.0, .max = 1e6, .above = true};
constexpr TomlSection::Range kOverhead{.min = 0.0, .max = 1e6};
constexpr std::uint64_t kMemoryMost = 1ULL << 62U;
constexpr std::uint32_t kCoresMost = 65'536;

void read_required(const TomlSection& section, const char* key, const TomlSection::Range& range, double& out) {
    if (!section.has(key)) {
        section.fail(key, "is missing");
        return;
    }
    section.read(key, range, out);
}

Link read_link(const TomlSection& section) {
    double delay_ms = 0.0;
    double gigabits = 1.0;
    read_required(section, "delay_ms", kDelayMs, delay_ms);
    read_required(section, "gbit_per_s", kGigabits, gigabits);
    return {delay_ms / 1e3, gigabits * 1e9 / 8.0};
}

// The tables [[key]].
std::vector<const toml::table*> tables_of(const toml::table& root, const char* key, const TomlSection& section) {
    std::vector<const toml::table*> out;
    if (!section.has(key)) {
        return out;
    }
    const toml::array* const list = root.get(key)->as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        if (const toml::table* const table = (*list)[i].as_table()) {
            out.push_back(table);
        }
    }
    if (list == nullptr || out.size() != list->size()) {
        section.fail(key, "must be sections [[" + std::string(key) + "]]");
    }
    return out;
}

schedule::Overhead read_overhead(const TomlSection& member) {
    double byte_ns = 0.0;
    double message_us = 0.0;
    double sum_byte_ns = 0.0;
    member.read("transfer_ns_per_byte", kOverhead, byte_ns);
    member.read("transfer_us_per_message", kOverhead, message_us);
    member.read("sum_ns_per_byte", kOverhead, sum_byte_ns);
    return {.byte_s = byte_ns * 1e-9, .message_s = message_us * 1e-6, .sum_byte_s = sum_byte_ns * 1e-9};
}

// `before` are the members before it.
void read_host(const TomlSection& member, const std::vector<Machine>& before, Machine& machine) {
    machine.host = member.text_or("host", "");
    if (machine.host.empty() != !member.has("cores")) {
        member.fail("cores", "and host belong together: members of one host share its cores");
        return;
    }
    std::uint32_t cores = 0;
    member.read("cores", 1U, kCoresMost, cores);
    machine.cores = cores;
    const auto same = std::find_if(before.begin(), before.end(), [&](const Machine& other) {
        return !machine.host.empty() && other.host == machine.host;
    });
    if (same != before.end() && same->cores != machine.cores) {
        member.fail("cores", "differ from those of \"" + same->name + "\", which has the same host");
    }
}

std::vector<Machine> read_machines(const toml::table& root, const TomlSection& section, taskdir::Findings& findings) {
    std::vector<Machine> out;
    std::set<std::string> names;
    for (const toml::table* table : tables_of(root, "members", section)) {
        const TomlSection member(findings, "[[members]] ", *table);
        member.allow(
            {"name", "multiply_adds_per_s", "memory_bytes", "transfer_ns_per_byte", "transfer_us_per_message",
             "sum_ns_per_byte", "host", "cores"}
        );
        Machine machine;
        machine.name = member.text("name");
        if (!machine.name.empty() && !names.insert(machine.name).second) {
            member.fail("name", "two members have the name \"" + machine.name + "\"");
        }
        read_required(member, "multiply_adds_per_s", kSpeed, machine.multiply_adds_per_s);
        machine.memory_bytes =
            static_cast<double>(member.number<std::uint64_t>("memory_bytes", std::uint64_t{1}, kMemoryMost));
        machine.overhead = read_overhead(member);
        read_host(member, out, machine);
        out.push_back(std::move(machine));
    }
    if (out.empty()) {
        section.fail(
            "members", "there are none; each is a section [[members]] with name, multiply_adds_per_s, memory_bytes"
        );
    }
    if (out.size() > plan::kMaxRanks) {
        section.fail("members", "are " + std::to_string(out.size()) + "; a cell has at most 64 machines");
    }
    return out;
}

// Says all that is wrong: there is no other command that would.
void throw_if_wrong(const taskdir::Findings& findings) {
    std::string out;
    for (const taskdir::Finding& finding : findings.all()) {
        out += (out.empty() ? "" : "\n") + taskdir::to_text(finding);
    }
    if (findings.has_errors()) {
        throw taskdir::TaskDirectoryError(out);
    }
}

class Links {
  public:
    explicit Links(const std::vector<Machine>& machines)
        : machines_(machines), links_(machines.size() * machines.size()) {}

    void read(const TomlSection& section) {
        section.allow({"between", "delay_ms", "gbit_per_s"});
        const Link link = read_link(section);
        const std::vector<std::string> names = section.texts("between");
        if (names.size() != 2 || names[0] == names[1]) {
            section.fail("between", "must be the names of two members, as in [\"left\", \"right\"]");
            return;
        }
        const auto a = find(section, names[0]);
        const auto b = find(section, names[1]);
        if (!a || !b) {
            return;
        }
        if (links_[*a * machines_.size() + *b]) {
            section.fail("between", "\"" + names[0] + "\" and \"" + names[1] + "\" have two links");
        }
        links_[*a * machines_.size() + *b] = link;
        links_[*b * machines_.size() + *a] = link;
    }

    schedule::Network network(const std::optional<Link>& otherwise, const TomlSection& root) const {
        schedule::Network out(static_cast<std::uint32_t>(machines_.size()), otherwise.value_or(Link{}));
        for (std::uint32_t a = 0; a < machines_.size(); ++a) {
            for (std::uint32_t b = 0; b < a; ++b) {
                const std::optional<Link>& link = links_[a * machines_.size() + b];
                if (link) {
                    out.set(a, b, *link);
                } else if (!otherwise) {
                    root.fail(
                        "default", "is missing, and no [[links]] is between \"" + machines_[b].name + "\" and \"" +
                                       machines_[a].name + "\""
                    );
                }
            }
        }
        return out;
    }

  private:
    std::optional<std::size_t> find(const TomlSection& section, const std::string& name) const {
        const auto at = std::find_if(machines_.begin(), machines_.end(), [&](const Machine& machine) {
            return machine.name == name;
        });
        if (at == machines_.end()) {
            section.fail("between", "there is no member \"" + name + "\"");
            return std::nullopt;
        }
        return static_cast<std::size_t>(at - machines_.begin());
    }

    const std::vector<Machine>& machines_;
    std::vector<std::optional<Link>> links_;
};

}  // namespace

Members read_members_file(const std::filesystem::path& file) {
    taskdir::Findings findings(file.string());
    toml::table table;
    try {
        table = toml::parse(taskdir::read_file(file), file.string());
    } catch (const toml::parse_error& error) {
        throw taskdir::TaskDirectoryError(
            file.string() + ":" + std::to_string(error.source().begin.line) + ": " + std::string(error.description())
        );
    }
    const TomlSection root(findings, "", table);
    root.allow({"shared_gbit_per_s", "default", "members", "links"});
    std::vector<Machine> machines = read_machines(table, root, findings);
    throw_if_wrong(findings);
    std::optional<Link> otherwise;
    if (root.has("default")) {
        const TomlSection section = root.section("default");
        section.allow({"delay_ms", "gbit_per_s"});
        otherwise = read_link(section);
    }
    Links links(machines);
    for (const toml::table* each : tables_of(table, "links", root)) {
        links.read(TomlSection(findings, "[[links]] ", *each));
    }
    throw_if_wrong(findings);  // a link that is wrong is not also missing
    schedule::Network network = links.network(otherwise, root);
    if (root.has("shared_gbit_per_s")) {
        double gigabits = 1.0;
        root.read("shared_gbit_per_s", kGigabits, gigabits);
        network.set_shared(gigabits * 1e9 / 8.0);
    }
    throw_if_wrong(findings);
    return {std::move(machines), std::move(network)};
}

}  // namespace assay::cli
