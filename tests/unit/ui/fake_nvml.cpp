// SPDX-License-Identifier: Apache-2.0
// The functions of NVML that are used, for a machine with two GPUs of which the second says no temperature.
#include <cstdint>
#include <cstring>

namespace {

int places[2] = {0, 1};
constexpr int kNotSupported = 3;

struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

}  // namespace

extern "C" {
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device);
int nvmlDeviceGetName(void* device, char* name, unsigned length);
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius);
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory);

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = &places[index];
    return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
    std::strncpy(name, device == &places[0] ? "First" : "Second", length);
    return 0;
}
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
    *celsius = 71;
    return device == &places[0] && sensor == 0 ? 0 : kNotSupported;
}
int nvmlDeviceGetMemoryInfo(void* /*device*/, Memory* memory) {
    *memory = {80ULL << 30U, 70ULL << 30U, 10ULL << 30U};
    return 0;
}
}
