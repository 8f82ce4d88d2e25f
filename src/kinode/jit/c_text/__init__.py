"""Programs and integrator loops as C99, beside LLVM text: the same tapes and the same syntax trees."""
