"""LLVM through llvmlite's Python, for versions and systems that ``library_door.py`` does not know, and to load code."""

from __future__ import annotations

from typing import Any


class BindingDoor:
    """LLVM by llvmlite.binding, which lets in one thread at a time."""

    def __init__(self) -> None:
        import llvmlite
        import llvmlite.binding as binding

        self._binding = binding
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self.version = f"llvmlite {llvmlite.__version__} LLVM {binding.llvm_version_info}"

    def describe(self) -> tuple[str, str, str]:
        """Triple, name and features of this processor; no features where LLVM cannot tell them."""
        try:
            features = self._binding.get_host_cpu_features().flatten()
        except RuntimeError:  # a host that LLVM cannot describe gets generic code
            features = ""
        return self._binding.get_default_triple(), self._binding.get_host_cpu_name(), features

    def compile(self, text: str, level: int, optimize: bool, host: tuple[str, str, str]) -> bytes:
        """Object code of LLVM text."""
        module = self._binding.parse_assembly(text)
        target = self.make_target(level, host)
        if optimize:
            self._optimize(module, target)
        return bytes(target.emit_object(module))

    def make_target(self, level: int, host: tuple[str, str, str]) -> Any:
        """What LLVM needs to know to make code of a level for the host."""
        triple, cpu, features = host
        target = self._binding.Target.from_triple(triple)
        return target.create_target_machine(cpu=cpu, features=features, opt=level, jit=True)

    def _optimize(self, module: Any, target: Any) -> None:
        """Run the passes for code with loops and calls (llvm_code.py)."""
        binding = self._binding
        passes = binding.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        passes.run(module, binding.create_pass_builder(target, binding.create_pipeline_tuning_options()))
