"""Two ways to LLVM: through the functions of llvmlite's library, and through llvmlite's Python."""
