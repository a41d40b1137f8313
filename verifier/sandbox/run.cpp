// SPDX-License-Identifier: Apache-2.0
#include <verifier/sandbox/run.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/codec/borsh.hpp>
#include <verifier/sandbox/order.hpp>

namespace assay::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFilesMax = 256;
/// How often the memory of a parser is looked at, which an address-space limit bounds too where there can be one.
constexpr std::chrono::milliseconds kWatchInterval{50};
constexpr std::uint64_t kProgramBytes = std::uint64_t{128} << 20U;

std::string text_of(int error) { return std::error_code(error, std::generic_category()).message(); }

Unexpected<Refusal> not_started(const std::string& why) {
    return Unexpected{make_refusal(RefusalKind::kNotStarted, why)};
}

/// The attributes and descriptors of a new process.
class Start {
  public:
    Start() {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawnattr_init(&attributes_);
        sigset_t none;
        sigset_t all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        // A group of its own, so that Ctrl-C at a terminal is the caller's to handle.
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        );
    }
    ~Start() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;

    /// Gives the process `from` as its next descriptor, after the three standard ones. `from` is above all of them.
    void pass(int from) { ::posix_spawn_file_actions_adddup2(&actions_, from, next_++); }

    /// Returns the process's id, or a negative error.
    pid_t spawn(const std::filesystem::path& program) {
        for (const int standard : {0, 1, 2}) {
            ::posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", O_RDWR, 0);
        }
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, next_);
        ::posix_spawn_file_actions_addchdir_np(&actions_, "/");
        std::string name = program.string();
        std::string options =
            "ASAN_OPTIONS=symbolize=0:detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:"
            "handle_sigill=0";
        std::string more = "UBSAN_OPTIONS=symbolize=0";
        const std::array<char*, 2> arguments{name.data(), nullptr};
        std::array<char*, 3> environment{};
        if constexpr (kHasShadowMemory) {
            environment = {options.data(), more.data(), nullptr};
        }
        pid_t out = -1;
        const int error =
            ::posix_spawn(&out, name.c_str(), &actions_, &attributes_, arguments.data(), environment.data());
        return error == 0 ? out : -error;
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
    int next_ = kOrderDescriptor;
};

/// A copy of a descriptor that lies above those that the new process gets, so that none of them is overwritten before
/// it is passed.
Descriptor lifted(int descriptor) {
    return Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstFile + static_cast<int>(kFilesMax)));
}

std::uint64_t resident_bytes(pid_t process) {
    const std::string path = "/proc/" + std::to_string(process) + "/statm";
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    return std::ifstream(path) >> size >> resident ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

struct End {
    int status = 0;
    std::uint64_t cpu_s = 0;
    std::optional<RefusalKind> killed_for{};  ///< by us
};

/// Waits for the process's end, and brings it about where the process goes beyond the limits.
End wait_for(pid_t process, const Limits& limits, std::uint64_t resident_max) {
    End out;
    const Descriptor watched(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    const auto deadline = Clock::now() + limits.deadline;
    rusage used{};
    for (;;) {
        const pid_t ended = ::wait4(process, &out.status, WNOHANG, &used);
        if (ended < 0 && errno != EINTR) {  // somebody else has waited for it
            out.status = kEndedCrash << 8;
            break;
        }
        if (ended == process) {
            break;
        }
        if (!out.killed_for && Clock::now() >= deadline) {
            out.killed_for = RefusalKind::kTooSlow;
        } else if (!out.killed_for && resident_bytes(process) > resident_max) {
            out.killed_for = RefusalKind::kMemory;
        }
        if (out.killed_for) {
            ::kill(process, SIGKILL);
        }
        pollfd end{.fd = watched.number(), .events = POLLIN, .revents = 0};
        ::poll(&end, watched.is_open() ? 1 : 0, watched.is_open() ? static_cast<int>(kWatchInterval.count()) : 1);
    }
    out.cpu_s = static_cast<std::uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    return out;
}

RefusalKind kind_of_signal(int signal, const End& end, const Limits& limits) {
    switch (signal) {
        case SIGXCPU:
            return RefusalKind::kTooSlow;
        case SIGXFSZ:
            return RefusalKind::kOutputTooLong;
        case SIGSYS:
            return RefusalKind::kForbidden;
        case SIGKILL:  // by the limit of CPU time; else the system had no memory left
            return end.cpu_s >= limits.cpu_s ? RefusalKind::kTooSlow : RefusalKind::kMemory;
        default:
            return RefusalKind::kCrashed;
    }
}

std::optional<RefusalKind> kind_of_exit(int status) {
    switch (status) {
        case 0:
            return std::nullopt;
        case kEndedMemory:
            return RefusalKind::kMemory;
        case kEndedFile:
            return RefusalKind::kOpenedFile;
        case kEndedSocket:
            return RefusalKind::kOpenedSocket;
        case kEndedOutput:
            return RefusalKind::kOutputTooLong;
        default:
            return RefusalKind::kCrashed;
    }
}

std::optional<Refusal> refusal_of(const End& end, const Limits& limits, int output) {
    if (end.killed_for) {
        return make_refusal(*end.killed_for);
    }
    if (WIFSIGNALED(end.status)) {
        const int signal = WTERMSIG(end.status);
        const RefusalKind kind = kind_of_signal(signal, end, limits);
        return make_refusal(kind, kind == RefusalKind::kCrashed ? "signal " + std::to_string(signal) : "");
    }
    const int status = WEXITSTATUS(end.status);
    if (status == kEndedSetup) {
        const auto why = MappedFile::map(output);
        return make_refusal(RefusalKind::kNotStarted, why ? std::string(as_text(why->bytes())) : std::string());
    }
    const auto kind = kind_of_exit(status);
    return kind ? std::optional(make_refusal(*kind)) : std::nullopt;
}

Bytes order_of(const Call& call) {
    Order order{
        .parser = call.parser,
        .config = call.config,
        .memory_bytes = call.limits.memory_bytes,
        .output_bytes = call.limits.output_bytes,
        .cpu_s = call.limits.cpu_s};
    for (const InputFile& file : call.files) {
        order.file_bytes.push_back(file.size_bytes);
    }
    return codec::encode(order);
}

std::uint64_t resident_max(const Call& call) {
    std::uint64_t out = call.limits.memory_bytes + kProgramBytes;
    for (const InputFile& file : call.files) {
        out += file.size_bytes;
    }
    return out;
}

}  // namespace

Result<MappedFile, Refusal> run(const std::filesystem::path& program, const Call& call) {
    if (call.files.size() > kFilesMax) {
        return Unexpected{
            make_refusal(RefusalKind::kOpenedFile, "it reads more than " + std::to_string(kFilesMax) + " files")};
    }
    const Descriptor order = make_memory_file(order_of(call));
    const Descriptor output = make_memory_file();
    std::vector<int> sources{order.number(), output.number()};
    for (const InputFile& file : call.files) {
        sources.push_back(file.descriptor);
    }
    std::vector<Descriptor> passed;
    Start start;
    for (const int source : sources) {
        passed.push_back(lifted(source));
        if (!passed.back().is_open()) {
            return not_started("no descriptor or no memory is free: " + text_of(errno));
        }
        start.pass(passed.back().number());
    }
    const pid_t process = start.spawn(program);
    if (process < 0) {
        return not_started("cannot start " + program.string() + ": " + text_of(-process));
    }
    const End end = wait_for(process, call.limits, resident_max(call));
    if (auto refusal = refusal_of(end, call.limits, output.number())) {
        return Unexpected{*std::move(refusal)};
    }
    auto answer = MappedFile::map(output.number());
    if (!answer) {
        return not_started("the answer cannot be mapped into memory: " + text_of(errno));
    }
    return *std::move(answer);
}

}  // namespace assay::sandbox
