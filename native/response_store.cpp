#include "response_store.hpp"

#include <algorithm>
#include <cstring>

namespace cgens {
namespace {

template <class From, class To>
void copy_rows(const std::byte* from, std::size_t from_stride, std::byte* to, std::size_t to_stride,
               std::size_t n_rows, std::size_t n_columns) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const From* source = reinterpret_cast<const From*>(from) + i * from_stride;
        To* target = reinterpret_cast<To*>(to) + i * to_stride;
        std::transform(source, source + n_columns, target, [](From v) { return static_cast<To>(v); });
        std::fill(target + n_columns, target + to_stride, To(0));
    }
}

}  // namespace

ResponseStore::ResponseStore(std::size_t n_rows) : n_rows_(n_rows) {}

std::size_t ResponseStore::width() const {
    return kind_ == Kind::kInt8 ? sizeof(std::int8_t) : kind_ == Kind::kFloat ? sizeof(float) : sizeof(double);
}

void ResponseStore::reshape(Kind kind, std::size_t stride) {
    const std::size_t width = kind == Kind::kInt8 ? 1 : kind == Kind::kFloat ? sizeof(float) : sizeof(double);
    std::unique_ptr<std::byte[]> wider(new std::byte[n_rows_ * stride * width]);
    const std::byte* from = data_.get();
    std::byte* to = wider.get();
    if (kind == Kind::kInt8) {
        copy_rows<std::int8_t, std::int8_t>(from, stride_, to, stride, n_rows_, n_columns_);
    } else if (kind == Kind::kFloat && kind_ == Kind::kInt8) {
        copy_rows<std::int8_t, float>(from, stride_, to, stride, n_rows_, n_columns_);
    } else if (kind == Kind::kFloat) {
        copy_rows<float, float>(from, stride_, to, stride, n_rows_, n_columns_);
    } else if (kind_ == Kind::kInt8) {
        copy_rows<std::int8_t, double>(from, stride_, to, stride, n_rows_, n_columns_);
    } else if (kind_ == Kind::kFloat) {
        copy_rows<float, double>(from, stride_, to, stride, n_rows_, n_columns_);
    } else {
        copy_rows<double, double>(from, stride_, to, stride, n_rows_, n_columns_);
    }
    data_ = std::move(wider);
    kind_ = kind;
    stride_ = stride;
}

template <class T>
void ResponseStore::append_as(const T* column, Kind kind) {
    const Kind needed = std::max(kind_, kind);
    const bool full = n_columns_ == stride_;
    // Growing by half keeps the copying linear and wastes at most a third of the memory.
    const std::size_t grown = std::max<std::size_t>(64, (stride_ + stride_ / 2) / kLanes * kLanes);
    if (full || needed != kind_) reshape(needed, full ? grown : stride_);
    write_column(column);
    ++n_columns_;
}

template <class T>
void ResponseStore::write_column(const T* column) {
    std::byte* const data = data_.get();
    if (kind_ == Kind::kInt8) {
        auto* target = reinterpret_cast<std::int8_t*>(data) + n_columns_;
        for (std::size_t i = 0; i < n_rows_; ++i) target[i * stride_] = static_cast<std::int8_t>(column[i]);
    } else if (kind_ == Kind::kFloat) {
        auto* target = reinterpret_cast<float*>(data) + n_columns_;
        for (std::size_t i = 0; i < n_rows_; ++i) target[i * stride_] = static_cast<float>(column[i]);
    } else {
        auto* target = reinterpret_cast<double*>(data) + n_columns_;
        for (std::size_t i = 0; i < n_rows_; ++i) target[i * stride_] = static_cast<double>(column[i]);
    }
}

void ResponseStore::append(const std::int8_t* column) { append_as(column, Kind::kInt8); }
void ResponseStore::append(const float* column) { append_as(column, Kind::kFloat); }
void ResponseStore::append(const double* column) { append_as(column, Kind::kDouble); }

double ResponseStore::dot(std::size_t row, const double* weights) const {
    const std::byte* data = row_data(row);
    const VectorOps& ops = vector_ops();
    const std::size_t n = padded_columns();
    if (kind_ == Kind::kInt8) return ops.dot_i8(reinterpret_cast<const std::int8_t*>(data), weights, n);
    if (kind_ == Kind::kFloat) return ops.dot_f32(reinterpret_cast<const float*>(data), weights, n);
    return ops.dot_f64(reinterpret_cast<const double*>(data), weights, n);
}

void ResponseStore::add(double step, std::size_t row, double* weights) const {
    const std::byte* data = row_data(row);
    const VectorOps& ops = vector_ops();
    const std::size_t n = padded_columns();
    if (kind_ == Kind::kInt8) {
        ops.add_i8(step, reinterpret_cast<const std::int8_t*>(data), weights, n);
    } else if (kind_ == Kind::kFloat) {
        ops.add_f32(step, reinterpret_cast<const float*>(data), weights, n);
    } else {
        ops.add_f64(step, reinterpret_cast<const double*>(data), weights, n);
    }
}

void ResponseStore::copy_row(std::size_t row, double* out) const {
    std::fill(out, out + padded_columns(), 0.0);
    add(1.0, row, out);
}

void ResponseStore::prefetch(std::size_t row) const {
    const std::byte* data = row_data(row);
    const std::size_t bytes = n_columns_ * width();
    for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(data + offset);
}

}  // namespace cgens
