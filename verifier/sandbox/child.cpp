// SPDX-License-Identifier: Apache-2.0
#include <verifier/sandbox/child.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/codec/borsh.hpp>
#include <verifier/sandbox/memory_file.hpp>
#include <verifier/sandbox/order.hpp>

namespace assay::sandbox {
namespace {

[[noreturn]] void end_for_memory() { ::_exit(kEndedMemory); }
[[noreturn]] void end_for_crash() { ::_exit(kEndedCrash); }
extern "C" void on_too_long(int /*signal*/) { ::_exit(kEndedOutput); }

[[noreturn]] void end_unclosed(const std::string& why) {
    Output(kOutputDescriptor).write(as_bytes(why));
    ::_exit(kEndedSetup);
}

std::optional<Order> read_order() {
    const auto mapped = MappedFile::map(kOrderDescriptor);
    if (!mapped) {
        return std::nullopt;
    }
    auto order = codec::decode<Order>(mapped->bytes());
    return order ? std::optional(*std::move(order)) : std::nullopt;
}

/// Maps the files. Nothing of them is read yet.
std::vector<ByteView> map_files(const Order& order) {
    std::vector<ByteView> out;
    for (std::size_t i = 0; i < order.file_bytes.size(); ++i) {
        const std::uint64_t size = order.file_bytes[i];
        if (size == 0) {
            out.emplace_back();
            continue;
        }
        const int descriptor = kFirstFile + static_cast<int>(i);
        void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (address == MAP_FAILED) {
            end_unclosed("a file of " + std::to_string(size) + " bytes cannot be mapped");
        }
        out.emplace_back(static_cast<const std::uint8_t*>(address), static_cast<std::size_t>(size));
    }
    return out;
}

/// The address space that this process has taken so far.
std::uint64_t address_space() {
    std::uint64_t pages = 0;
    if (!(std::ifstream("/proc/self/statm") >> pages)) {
        end_unclosed("/proc/self/statm cannot be read");
    }
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_AS) resource, std::uint64_t value, std::uint64_t grace = 0) {
    const rlimit bounds{.rlim_cur = value, .rlim_max = value + grace};
    if (::setrlimit(resource, &bounds) != 0) {
        end_unclosed("a limit cannot be set: " + std::error_code(errno, std::generic_category()).message());
    }
}

void set_limits(const Order& order) {
    if (!kHasShadowMemory) {  // there the caller alone watches the memory
        limit(RLIMIT_AS, address_space() + order.memory_bytes);
    }
    limit(RLIMIT_CPU, order.cpu_s, 1);  // SIGXCPU, and a second later SIGKILL
    limit(RLIMIT_FSIZE, order.output_bytes);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_MEMLOCK, 0);
    // The sanitizer opens a pipe.
    limit(RLIMIT_NOFILE, kFirstFile + order.file_bytes.size() + (kHasShadowMemory ? 2 : 0));
}

/// Namespaces without a network and without the host's shared memory, where a process without privileges may have them.
/// Where it may not, the filter alone forbids the same.
void leave_namespaces() { static_cast<void>(::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)); }

/// Whatever goes wrong inside ends the process with a number; nothing is printed, since nobody reads it.
void set_handlers() {
    std::set_new_handler(end_for_memory);
    std::set_terminate(end_for_crash);
    ::signal(SIGXFSZ, on_too_long);
}

}  // namespace

void Output::write(ByteView bytes) const {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            ::_exit(kEndedOutput);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

int serve(std::span<const Parser> parsers) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto order = read_order();
    if (!order) {
        std::fputs("assay-parser reads strangers' files for assay and assay-worker, which start it\n", stderr);
        return 2;
    }
    const auto parser =
        std::find_if(parsers.begin(), parsers.end(), [&](const Parser& each) { return each.name == order->parser; });
    if (parser == parsers.end()) {
        end_unclosed("it has no parser \"" + order->parser + "\": it is of another version");
    }
    const Input input{.config = order->config, .files = map_files(*order)};
    set_handlers();
    leave_namespaces();
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        end_unclosed("the kernel knows no PR_SET_NO_NEW_PRIVS");
    }
    set_limits(*order);
    if (const std::string why = close_filter(parser->code); !why.empty()) {
        end_unclosed(why);
    }
    parser->parse(input, Output(kOutputDescriptor));
    ::_exit(0);  // destructors would be code more that runs on what was read
}

}  // namespace assay::sandbox

// Sanitizers print their reports to a closed door, and look into /proc for them.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
void __asan_on_error();
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
void __asan_on_error() { ::_exit(assay::sandbox::kEndedCrash); }
}
