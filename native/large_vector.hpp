// Vectors as long as the table: in huge pages where the system has them, and not filled unless a value is given.
//
// A new page of 4 KB costs a fault, and a table of millions of rows has thousands of them in each vector.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace cgens {

template <class T>
struct LargeAllocator {
    using value_type = T;
    static constexpr std::size_t kHugePage = std::size_t{1} << 21;
    static constexpr std::size_t kLarge = 2 * kHugePage;

    LargeAllocator() = default;
    template <class U>
    LargeAllocator(const LargeAllocator<U>&) noexcept {}

    T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / sizeof(T) - kHugePage) throw std::bad_alloc();
        const std::size_t bytes = n * sizeof(T);
        if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
        const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
        void* memory = std::aligned_alloc(kHugePage, whole);
        if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
        madvise(memory, whole, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t n) noexcept { n * sizeof(T) < kLarge ? ::operator delete(memory) : std::free(memory); }

    template <class U>
    void construct(U* at) noexcept(std::is_nothrow_default_constructible_v<U>) {
        ::new (static_cast<void*>(at)) U;  // not U(), which would be 0
    }
    template <class U, class... Values>
    void construct(U* at, Values&&... values) {
        ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
    }
    template <class U>
    bool operator==(const LargeAllocator<U>&) const noexcept { return true; }
    template <class U>
    bool operator!=(const LargeAllocator<U>&) const noexcept { return false; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace cgens
