// SPDX-License-Identifier: Apache-2.0
#include <verifier/sandbox/filter.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <verifier/sandbox/order.hpp>

namespace assay::sandbox {
namespace {

/// Memory, time, locks that nobody else holds, and what is open already.
constexpr std::array kAllowed{SCMP_SYS(read),           SCMP_SYS(readv),          SCMP_SYS(pread64),
                              SCMP_SYS(write),          SCMP_SYS(writev),         SCMP_SYS(pwrite64),
                              SCMP_SYS(lseek),          SCMP_SYS(close),          SCMP_SYS(brk),
                              SCMP_SYS(munmap),         SCMP_SYS(mremap),         SCMP_SYS(madvise),
                              SCMP_SYS(futex),          SCMP_SYS(clock_gettime),  SCMP_SYS(gettimeofday),
                              SCMP_SYS(getrandom),      SCMP_SYS(sched_yield),    SCMP_SYS(getpid),
                              SCMP_SYS(gettid),         SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
                              SCMP_SYS(sigaltstack),    SCMP_SYS(exit),           SCMP_SYS(exit_group),
                              SCMP_SYS(restart_syscall)};

// These end it with a number of their own, so that the refusal can say what was tried.
constexpr std::array kFiles{SCMP_SYS(open),      SCMP_SYS(openat),    SCMP_SYS(openat2),   SCMP_SYS(creat),
                            SCMP_SYS(unlink),    SCMP_SYS(unlinkat),  SCMP_SYS(rename),    SCMP_SYS(renameat),
                            SCMP_SYS(renameat2), SCMP_SYS(mkdir),     SCMP_SYS(mkdirat),   SCMP_SYS(stat),
                            SCMP_SYS(lstat),     SCMP_SYS(access),    SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
                            SCMP_SYS(readlink),  SCMP_SYS(readlinkat)};
constexpr std::array kSockets{SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind),
                              SCMP_SYS(listen), SCMP_SYS(accept4),    SCMP_SYS(sendto),  SCMP_SYS(recvfrom)};

template <std::size_t n>
bool has(const std::array<int, n>& list, int call) {
    return std::find(list.begin(), list.end(), call) != list.end();
}

extern "C" void on_trap(int /*signal*/, siginfo_t* info, void* /*context*/) {
    ::_exit(has(kSockets, info->si_syscall) ? kEndedSocket : kEndedFile);
}

int add_rules(scmp_filter_ctx filter, Code code) {
    int error = 0;
    const auto add = [&](std::uint32_t action, int call) {
        const int added = seccomp_rule_add_array(filter, action, call, 0, nullptr);
        error = error == 0 ? added : error;
    };
    for (const int call : kAllowed) {
        add(SCMP_ACT_ALLOW, call);
    }
    for (const int call : kFiles) {
        add(SCMP_ACT_TRAP, call);
    }
    for (const int call : kSockets) {
        add(SCMP_ACT_TRAP, call);
    }
    // The C library asks these and does without an answer.
    for (const int call : {SCMP_SYS(sysinfo), SCMP_SYS(sched_getaffinity), SCMP_SYS(prctl), SCMP_SYS(newfstatat)}) {
        add(SCMP_ACT_ERRNO(EPERM), call);
    }
    if constexpr (kHasShadowMemory) {
        add(SCMP_ACT_ALLOW, SCMP_SYS(pipe2));  // by which the sanitizer asks whether memory can be read
    }
    // abort() signals the process itself, and nobody else.
    const auto self = static_cast<scmp_datum_t>(::getpid());
    error =
        error == 0 ? seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, self)) : error;
    for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
        if (code == Code::kGenerated) {
            add(SCMP_ACT_ALLOW, call);
            continue;
        }
        const auto rule = [&](std::uint32_t action, scmp_datum_t executable) {
            return seccomp_rule_add(filter, action, call, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, executable));
        };
        error = error == 0 ? rule(SCMP_ACT_ALLOW, 0) : error;
        error = error == 0 ? rule(SCMP_ACT_ERRNO(EPERM), PROT_EXEC) : error;
    }
    return error;
}

std::string text_of(int error) { return std::error_code(-error, std::generic_category()).message(); }

}  // namespace

std::string close_filter(Code code) {
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSYS, &action, nullptr);
    const std::unique_ptr<void, decltype(&seccomp_release)> filter(
        seccomp_init(SCMP_ACT_KILL_PROCESS), &seccomp_release
    );
    if (!filter) {
        return "libseccomp cannot make a filter for this machine";
    }
    if (const int error = add_rules(filter.get(), code); error != 0) {
        return "a rule of the seccomp filter is refused: " + text_of(error);
    }
    if (const int error = seccomp_load(filter.get()); error != 0) {
        return "the kernel takes no seccomp filter: " + text_of(error);
    }
    return {};
}

}  // namespace assay::sandbox
