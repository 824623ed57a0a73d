// How many OpenMP threads to use, and the loop over blocks of rows that uses them.
#pragma once

#include <algorithm>
#include <cstddef>

namespace cgens {

// `requested`, or 1 in a process forked from one that had loaded the library: libgomp's worker threads do not
// survive a fork, and a parallel region that waits for them would hang forever.
int usable_threads(int requested);

// The same, but no more than `work` is worth: waking a thread takes about ten microseconds, far longer when other
// programs keep the cores busy, and two threads may share a core. `work` counts simple steps of about a nanosecond.
int usable_threads(int requested, double work);

// The work that each thread must have; for tests, another value from now on.
constexpr double kWorkPerThread = 5e4;
void force_work_per_thread(double work);

// The number of the calling thread within its parallel region, from 0; 0 outside.
int thread_number();

// The number of threads that OpenMP uses by default (honours OMP_NUM_THREADS and threadpoolctl); 1 without OpenMP.
int default_threads();

// Calls visit(block, first, last) in parallel for the blocks [first, last) of `size` of n entries. A single thread has no
// parallel region: to enter one takes a fraction of a microsecond, as long as a small block.
template <class Visit>
void for_blocks(std::size_t n, std::size_t size, int n_threads, double work, const Visit& visit) {
    const auto n_blocks = static_cast<std::ptrdiff_t>((n + size - 1) / size);
    const auto visit_block = [&](std::ptrdiff_t b) {
        const std::size_t block = static_cast<std::size_t>(b), first = block * size;
        visit(block, first, std::min(first + size, n));
    };
    if (usable_threads(n_threads, work) == 1) {
        for (std::ptrdiff_t b = 0; b < n_blocks; ++b) visit_block(b);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(usable_threads(n_threads, work))
    for (std::ptrdiff_t b = 0; b < n_blocks; ++b) visit_block(b);
}

}  // namespace cgens
