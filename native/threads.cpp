#include "threads.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#endif

namespace cgens {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostThreads = 256;
constexpr std::size_t kGrainsPerThread = 16;  // tasks are taken in so many portions per thread, if there are that many
// How long an idle thread, or a caller whose last tasks run elsewhere, looks for a change before it sleeps.
constexpr auto kSpin = std::chrono::microseconds(50);
// A caller that waits longer than this for tasks of others, and for twice as long as its own tasks took, had to wait for
// a thread that was not scheduled.
constexpr auto kLongWait = std::chrono::microseconds(200);
constexpr int kFewestAlone = 8, kMostAlone = 512;  // calls without help after that

double work_per_thread = kWorkPerThread;
thread_local bool is_in_task = false;

// One call of run_tasks.
class Job {
   public:
    Job(std::size_t n_tasks, int n_threads, void (*call)(const void*, std::size_t, std::size_t), const void* visit)
        : n_tasks_(n_tasks),
          grain_(std::max<std::size_t>(1, n_tasks / (kGrainsPerThread * static_cast<std::size_t>(n_threads)))),
          most_helpers_(n_threads - 1),
          call_(call),
          visit_(visit) {}

    // Runs tasks until none is left. Returns the number of portions.
    std::size_t work(std::size_t thread) {
        is_in_task = true;
        std::size_t n_portions = 0;
        for (; true; ++n_portions) {
            const std::size_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
            if (first >= n_tasks_) break;
            try {
                for (std::size_t task = first; task < std::min(first + grain_, n_tasks_); ++task)
                    call_(visit_, task, thread);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(error_mutex_);
                if (!error_) error_ = std::current_exception();
                next_.store(n_tasks_, std::memory_order_relaxed);
            }
        }
        is_in_task = false;
        return n_portions;
    }
    // Whether another thread may help; and the same, if it does.
    bool has_room() const { return n_joined < most_helpers_ && next_.load(std::memory_order_relaxed) < n_tasks_; }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

    int n_joined = 0;               // under the mutex of the pool
    std::atomic<int> n_helpers{0};  // that are at work

   private:
    std::size_t n_tasks_, grain_;
    int most_helpers_;
    void (*call_)(const void*, std::size_t, std::size_t);
    const void* visit_;
    std::atomic<std::size_t> next_{0};
    std::mutex error_mutex_;
    std::exception_ptr error_;
};

class Pool {
   public:
    void run(Job& job, int n_threads) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            start_threads(n_threads - 1);
            jobs_.push_back(&job);  // n_jobs_ tells threads that spin
            n_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_relaxed);
        }
        for (int k = 1; k < n_threads; ++k) posted_.notify_one();
        const auto began = Clock::now();
        const std::size_t n_portions = job.work(0);
        const auto worked = Clock::now();
        {
            const std::lock_guard<std::mutex> lock(mutex_);  // from now on, nobody joins
            jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
            n_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_relaxed);
        }
        while (job.n_helpers.load(std::memory_order_acquire) > 0 && Clock::now() - worked < kSpin) pause();
        if (job.n_helpers.load(std::memory_order_acquire) > 0) {
            std::unique_lock<std::mutex> lock(mutex_);
            finished_.wait(lock, [&] { return job.n_helpers.load(std::memory_order_acquire) == 0; });
        }
        const auto waited = Clock::now() - worked;
        judge(waited > kLongWait && waited > 2 * (worked - began) / (n_portions + 1));
    }

    void prepare(int n_threads) {
        std::unique_lock<std::mutex> lock(mutex_);
        start_threads(n_threads - 1);
        finished_.wait_for(lock, std::chrono::seconds(1), [this] { return n_ready_ >= n_threads_; });
    }

    // Whether the next call gets no help, because in recent ones the caller had to wait for threads that did not run.
    bool is_busy() {
        if (n_alone_.load(std::memory_order_relaxed) <= 0) return false;
        n_alone_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

   private:
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    // After a long wait the next calls are made alone: twice as many as last time, and half as many after none.
    void judge(bool waited_long) {
        int next = next_alone_.load(std::memory_order_relaxed);
        if (waited_long) {
            n_alone_.store(next, std::memory_order_relaxed);
            next = std::min(2 * next, kMostAlone);
        } else {
            next = std::max(next / 2, kFewestAlone);
        }
        next_alone_.store(next, std::memory_order_relaxed);
    }

    // If the system has no more threads, or no memory for them, those that there are must do.
    void start_threads(int n) {
        for (; n_threads_ < std::min(n, kMostThreads); ++n_threads_) {
            try {
#if defined(__unix__) || defined(__APPLE__)
                sigset_t all, before;  // signals are for the threads of the caller
                sigfillset(&all);
                pthread_sigmask(SIG_SETMASK, &all, &before);
                struct Restore {
                    sigset_t* mask;
                    ~Restore() { pthread_sigmask(SIG_SETMASK, mask, nullptr); }
                } restore{&before};
#endif
                std::thread([this] { help(); }).detach();
            } catch (const std::system_error&) {
                return;
            } catch (const std::bad_alloc&) {
                return;
            }
        }
    }

    void help() {
        is_in_task = std::uncaught_exceptions() > 0;  // both are memory of the thread's own
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ++n_ready_;
            finished_.notify_all();
        }
        while (true) {
            Job* job = nullptr;
            std::size_t thread = 0;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                posted_.wait(lock, [&] { return (job = find_job()) != nullptr; });
                thread = static_cast<std::size_t>(++job->n_joined);
                job->n_helpers.fetch_add(1, std::memory_order_relaxed);
            }
            job->work(thread);
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                if (job->n_helpers.fetch_sub(1, std::memory_order_release) == 1) finished_.notify_all();
            }
            if (n_alone_.load(std::memory_order_relaxed) > 0) continue;
            const auto began = Clock::now();
            while (n_jobs_.load(std::memory_order_relaxed) == 0 && Clock::now() - began < kSpin) pause();
        }
    }

    Job* find_job() const {
        for (Job* job : jobs_)
            if (job->has_room()) return job;
        return nullptr;
    }

    std::mutex mutex_;
    std::condition_variable posted_, finished_;
    std::vector<Job*> jobs_;
    std::atomic<int> n_jobs_{0};
    int n_threads_ = 0, n_ready_ = 0;
    std::atomic<int> n_alone_{0}, next_alone_{kFewestAlone};
};

// Never destroyed: its threads sleep in it until the process ends. A forked child has none of them, and a mutex may have
// been locked by a thread that it does not have; so it gets a pool of its own.
std::atomic<Pool*> pool{nullptr};

#if defined(__unix__) || defined(__APPLE__)
const int registered = pthread_atfork(nullptr, nullptr, [] {
    pool.store(nullptr, std::memory_order_relaxed);
    is_in_task = false;
});
#endif

Pool& the_pool() {
    Pool* own = pool.load(std::memory_order_acquire);
    if (own != nullptr) return *own;
    auto* made = new Pool;
    if (pool.compare_exchange_strong(own, made)) return *made;
    delete made;  // another thread was faster
    return *own;
}

}  // namespace

int usable_threads(int requested, double work) {
    return std::max(1, static_cast<int>(std::min<double>(requested, work / work_per_thread)));
}

void prepare_threads(int n_threads) {
    if (n_threads > 1) the_pool().prepare(n_threads);
}

void force_work_per_thread(double work) { work_per_thread = work; }

void run_tasks(std::size_t n_tasks, int n_threads, void (*call)(const void*, std::size_t, std::size_t),
               const void* visit) {
    n_threads = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(n_threads), n_tasks));
    if (n_threads < 2 || is_in_task || the_pool().is_busy()) {
        for (std::size_t task = 0; task < n_tasks; ++task) call(visit, task, 0);
        return;
    }
    Job job(n_tasks, n_threads, call, visit);
    the_pool().run(job, n_threads);
    job.rethrow();
}

}  // namespace cgens
