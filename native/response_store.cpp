#include "response_store.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace cgens {
namespace {

// Calls visit(data) with `data` cast to a pointer to the type of `width` bytes.
template <class Visit>
auto visit_as(std::size_t width, std::byte* data, Visit visit) {
    if (width == sizeof(std::int8_t)) return visit(reinterpret_cast<std::int8_t*>(data));
    if (width == sizeof(float)) return visit(reinterpret_cast<float*>(data));
    return visit(reinterpret_cast<double*>(data));
}

}  // namespace

void ResponseStore::reshape(std::size_t width, std::size_t stride) {
    std::unique_ptr<std::byte[]> wider(new std::byte[n_rows_ * stride * width]);
    visit_as(width, wider.get(), [&](auto* to) {
        visit_as(width_, data_.get(), [&](const auto* from) {
            for (std::size_t i = 0; i < n_rows_; ++i) {
                std::copy(from + i * stride_, from + i * stride_ + n_columns_, to + i * stride);
                std::fill(to + i * stride + n_columns_, to + (i + 1) * stride, 0);
            }
        });
    });
    data_ = std::move(wider);
    width_ = width;
    stride_ = stride;
}

template <class T>
void ResponseStore::append(const T* column) {
    const std::size_t width = std::max(width_, sizeof(T));
    const bool full = n_columns_ == stride_;
    // Growing by half keeps the copying linear and wastes at most a third of the memory.
    const std::size_t grown = std::max<std::size_t>(64, (stride_ + stride_ / 2) / kLanes * kLanes);
    if (full || width != width_) reshape(width, full ? grown : stride_);
    visit_as(width_, data_.get() + n_columns_ * width_, [column, n_rows = n_rows_, stride = stride_](auto* h) {
        using Entry = std::remove_pointer_t<decltype(h)>;
        for (std::size_t i = 0; i < n_rows; ++i) h[i * stride] = static_cast<Entry>(column[i]);
    });
    ++n_columns_;
}

template void ResponseStore::append(const std::int8_t*);
template void ResponseStore::append(const float*);
template void ResponseStore::append(const double*);

double ResponseStore::dot(std::size_t row, const double* weights) const {
    return visit_as(width_, row_data(row), [&](auto* h) { return vector_ops().dot(h, weights, padded_columns()); });
}

void ResponseStore::add(double step, std::size_t row, double* weights) const {
    visit_as(width_, row_data(row), [&](auto* h) { vector_ops().add(step, h, weights, padded_columns()); });
}

template <class Visit>
void ResponseStore::visit_converted(std::size_t first, std::size_t last, Visit visit) const {
    constexpr std::size_t kConverted = 8;  // rows at a time, which stay in the cache
    std::vector<double> rows(kConverted * padded_columns());
    for (std::size_t i = first; i < last; i += kConverted) {
        const std::size_t n_rows = std::min(kConverted, last - i);
        for (std::size_t r = 0; r < n_rows; ++r) copy_row(i + r, rows.data() + r * padded_columns());
        visit(i, rows.data(), n_rows);
    }
}

void ResponseStore::dot_rows(std::size_t first, std::size_t last, const double* weights, std::size_t n,
                             double* out) const {
    if (n == 1) {  // conversion does not pay
        for (std::size_t i = first; i < last; ++i) out[i - first] = dot(i, weights);
        return;
    }
    visit_converted(first, last, [&](std::size_t i, const double* rows, std::size_t n_rows) {
        vector_ops().multiply_rows(rows, n_rows, weights, n, padded_columns(), out + (i - first) * n);
    });
}

void ResponseStore::add_rows(std::size_t first, std::size_t last, const double* steps, std::size_t n,
                             double* weights) const {
    if (n_columns_ == 0) return;
    if (n == 1) {
        for (std::size_t i = first; i < last; ++i) add(steps[i - first], i, weights);
        return;
    }
    visit_converted(first, last, [&](std::size_t i, const double* rows, std::size_t n_rows) {
        vector_ops().add_rows(rows, n_rows, steps + (i - first) * n, n, padded_columns(), weights);
    });
}

void ResponseStore::copy_row(std::size_t row, double* out) const {
    visit_as(width_, row_data(row), [&](const auto* h) {
        if constexpr (std::is_same_v<decltype(h), const std::int8_t*>) {
            vector_ops().convert_i8(h, out, padded_columns());
        } else {
            std::copy(h, h + padded_columns(), out);
        }
    });
}

void ResponseStore::prefetch(std::size_t row) const {
    const std::byte* data = row_data(row);
    const std::size_t bytes = n_columns_ * width_;
    for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(data + offset);
}

}  // namespace cgens
