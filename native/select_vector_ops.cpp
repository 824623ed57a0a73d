#include <stdexcept>

#include "vector_ops.hpp"

namespace cgens {
namespace {

std::vector<const VectorOps*> available_levels() {
    std::vector<const VectorOps*> levels{&kBaselineOps};
#ifdef CGENS_WITH_AVX
    if (__builtin_cpu_supports("avx2")) levels.push_back(&kAvx2Ops);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
        levels.push_back(&kAvx512Ops);
#endif
    return levels;
}

const VectorOps*& chosen() {
    static const VectorOps* ops = available_levels().back();
    return ops;
}

}  // namespace

const VectorOps& vector_ops() { return *chosen(); }

std::vector<std::string> vector_ops_names() {
    std::vector<std::string> names;
    for (const VectorOps* level : available_levels()) names.emplace_back(level->name);
    return names;
}

void force_vector_ops(const std::string& name) {
    const VectorOps* found = nullptr;
    for (const VectorOps* level : available_levels())
        if (name.empty() || name == level->name) found = level;
    if (found == nullptr) throw std::invalid_argument("SIMD level '" + name + "' is not available on this processor");
    chosen() = found;
}

}  // namespace cgens
