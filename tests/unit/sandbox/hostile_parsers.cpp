// SPDX-License-Identifier: Apache-2.0
// A program like assay-parser, whose parsers do what a parser does that a stranger's file has taken over.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <verifier/sandbox/child.hpp>

namespace {

using assay::Bytes;
using assay::ByteView;
using assay::sandbox::Code;
using assay::sandbox::Input;
using assay::sandbox::Output;
using assay::sandbox::Parser;

volatile std::uint64_t sink = 0;

void echo(const Input& input, const Output& output) {
    output.write(input.config);
    for (const ByteView file : input.files) {
        output.write(file);
    }
}
/// Under the names of assay-parser's parsers: the answer is the first file as it is, whatever the caller makes of it.
void lie(const Input& input, const Output& output) {
    const std::string_view text = assay::as_text(input.files.at(0));
    if (text.starts_with("crash")) {
        ::raise(SIGSEGV);
    }
    output.write(input.files.at(0));
}
void crash(const Input& /*input*/, const Output& /*output*/) { ::raise(SIGSEGV); }
void abort_it(const Input& /*input*/, const Output& /*output*/) { std::abort(); }
void throw_it(const Input& /*input*/, const Output& /*output*/) { throw std::runtime_error("nobody catches it"); }
void spin(const Input& /*input*/, const Output& /*output*/) {
    for (;;) {
        sink = sink + 1;
    }
}
/// Takes no CPU time: its own standard input is /dev/null, so it waits for a lock that nobody frees.
void wait_for_ever(const Input& /*input*/, const Output& /*output*/) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    ::pthread_mutex_lock(&mutex);
    ::pthread_mutex_lock(&mutex);
}
void eat(const Input& /*input*/, const Output& /*output*/) {
    std::vector<Bytes> all;
    for (;;) {
        all.emplace_back(std::size_t{1} << 20U, std::uint8_t{1});
        sink = sink + all.back()[sink % all.back().size()];
    }
}
void open_file(const Input& /*input*/, const Output& output) {
    const int file = ::open("/etc/hostname", O_RDONLY);
    output.write(assay::as_bytes(file >= 0 ? "opened" : "refused"));
}
void open_socket(const Input& /*input*/, const Output& output) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    output.write(assay::as_bytes(socket >= 0 ? "opened" : "refused"));
}
void fork_it(const Input& /*input*/, const Output& output) { output.write(Bytes(::fork() == 0 ? 1U : 2U)); }
void signal_caller(const Input& /*input*/, const Output& output) {
    ::kill(::getpid(), SIGTERM);
    output.write(Bytes(1));
}
/// Asks for memory that is to be executed; says whether it got it.
void make_code(const Input& /*input*/, const Output& output) {
    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    output.write(Bytes{page == MAP_FAILED ? std::uint8_t{0} : std::uint8_t{1}});
}
void flood(const Input& /*input*/, const Output& output) {
    const Bytes piece(std::size_t{1} << 16U);
    for (;;) {
        output.write(piece);
    }
}
void list_descriptors(const Input& /*input*/, const Output& output) {
    Bytes open;
    for (int i = 0; i < 64; ++i) {
        if (::lseek(i, 0, SEEK_CUR) >= 0) {
            open.push_back(static_cast<std::uint8_t>(i));
        }
    }
    output.write(open);
}

constexpr std::array kParsers{
    Parser{"echo", echo},
    Parser{"program", lie},
    Parser{"safetensors", lie},
    Parser{"onnx", lie},
    Parser{"text", lie},
    Parser{"losses", lie},
    Parser{"seats", lie},
    Parser{"crash", crash},
    Parser{"abort", abort_it},
    Parser{"throw", throw_it},
    Parser{"spin", spin},
    Parser{"wait", wait_for_ever},
    Parser{"eat", eat},
    Parser{"open_file", open_file},
    Parser{"open_socket", open_socket},
    Parser{"fork", fork_it},
    Parser{"signal", signal_caller},
    Parser{"code", make_code},
    Parser{"generated_code", make_code, Code::kGenerated},
    Parser{"flood", flood},
    Parser{"descriptors", list_descriptors}};

}  // namespace

int main() { return assay::sandbox::serve(kParsers); }
