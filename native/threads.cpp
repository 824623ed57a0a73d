#include "threads.hpp"

#include <algorithm>

#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace cgens {
namespace {

bool forked = false;
double work_per_thread = kWorkPerThread;

#if defined(__unix__) || defined(__APPLE__)
const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });
#endif

}  // namespace

int usable_threads(int requested) { return forked || requested < 1 ? 1 : requested; }

int usable_threads(int requested, double work) {
    return usable_threads(static_cast<int>(std::min<double>(requested, work / work_per_thread)));
}

void force_work_per_thread(double work) { work_per_thread = work; }

int thread_number() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

int default_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

}  // namespace cgens
