// How many OpenMP threads may really be used.
#pragma once

namespace cgens {

// `requested`, or 1 in a process forked from one that had loaded the library: libgomp's worker threads do not
// survive a fork, and a parallel region that waits for them would hang for ever.
int usable_threads(int requested);

// The same, but no more than `work` is worth: waking a thread costs some ten microseconds, and far more where other
// programs keep the cores busy. `work` counts simple steps, of about a nanosecond.
int usable_threads(int requested, double work);

// What OpenMP would use by default (honours OMP_NUM_THREADS and threadpoolctl), or 1 without OpenMP.
int default_threads();

}  // namespace cgens
