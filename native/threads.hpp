// Threads of our own, and loops that share their work among them.
//
// The calling thread works too, and takes whatever idle threads have not begun: it waits only for tasks that another
// thread is in the middle of. OpenMP's barriers wait for every thread of a team instead, also for one that has nothing
// to do because the system does not schedule it, which takes many times as long beside other work; and an exception, as
// of memory that runs out, ends the process there (docs/decisions/0023).
#pragma once

#include <algorithm>
#include <cstddef>

namespace cgens {

// `requested` threads, at least one, but no more than `work` is worth: to wake a thread takes some microseconds. `work`
// counts simple steps of about a nanosecond.
int usable_threads(int requested, double work);

// The work that each thread must have; for tests, another value from now on.
constexpr double kWorkPerThread = 5e4;
void force_work_per_thread(double work);

// Calls call(visit, task, thread) for each task, by at most n_threads threads; `thread` counts from 0, which is the
// caller. Within a task of another call there is only one thread. The first exception is thrown once no task runs any
// more; tasks that have not begun by then are left out.
void run_tasks(std::size_t n_tasks, int n_threads, void (*call)(const void*, std::size_t, std::size_t),
               const void* visit);

// Starts the threads that calls with n_threads need, and waits until they have allocated what they need of libraries:
// later there may be no memory for that, which ends the process.
void prepare_threads(int n_threads);

// Calls visit(task, thread) for each task.
template <class Visit>
void for_tasks(std::size_t n_tasks, int n_threads, double work, const Visit& visit) {
    const auto call = [](const void* data, std::size_t task, std::size_t thread) {
        (*static_cast<const Visit*>(data))(task, thread);
    };
    run_tasks(n_tasks, usable_threads(n_threads, work), call, &visit);
}

// Calls visit(block, first, last) for the blocks [first, last) of `size` of n entries.
template <class Visit>
void for_blocks(std::size_t n, std::size_t size, int n_threads, double work, const Visit& visit) {
    for_tasks((n + size - 1) / size, n_threads, work, [&](std::size_t block, std::size_t) {
        const std::size_t first = block * size;
        visit(block, first, std::min(first + size, n));
    });
}

}  // namespace cgens
