"""Compile the kernels; all else about the package is in pyproject.toml."""

import os
import platform
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/calibrant/_compiled")
PACKAGE = "calibrant._compiled"
BUILD = Path("build/cython")
SHARED = f"{PACKAGE}._cyutility"  # what Cython needs for arrays, once for all kernels

# A kernel is a .py file with its C types in a .pxd file; fast_math.pxd only declares what is in fast_math.h.
NAMES = sorted(path.stem for path in KERNELS.glob("*.pxd") if path.stem != "fast_math")

# Kernels whose loops the compiler is to run many cells at a time. For that it may reorder their sums: these are sums of
# terms of one sign, or of rounded logarithms, that no order makes exact. They are compiled a second time for AVX2.
VECTOR = {
    "laplace",
    "logistic_normal",
    "monotone_draws",
    "monotone_level_draws",
    "partition_draws",
    "partition_sweep",
    "partitions",
}

DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # annotations are Python's; C's types are in the .pxd files
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
}


def flags(name: str, avx2: bool) -> list[str]:
    """Options for the compiler; none of them depends on the machine that compiles."""
    if sys.platform == "win32":
        return ["/O2", *(["/fp:fast"] if name in VECTOR else []), *(["/arch:AVX2"] if avx2 else [])]
    exact = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
    reorder = ["-fno-signed-zeros", "-fassociative-math", "-ffp-contract=fast"] if name in VECTOR else []
    return exact + reorder + (["-mavx2", "-mfma"] if avx2 else [])


def extension(name: str, avx2: bool = False) -> Extension:
    """One kernel. Where it cannot be compiled the package works without, only slowly."""
    return Extension(
        f"{PACKAGE}.{'avx2.' if avx2 else ''}{name}",
        [str(KERNELS / f"{name}.py")],
        include_dirs=[str(KERNELS)],
        depends=[str(KERNELS / f"{name}.pxd"), str(KERNELS / "fast_math.h")],
        extra_compile_args=flags(name, avx2),
        optional=True,
    )


def extensions() -> list[Extension]:
    """All kernels, and those worth it once more for processors with AVX2."""
    x86 = platform.machine().lower() in {"x86_64", "amd64"}
    twice = [extension(name, avx2=True) for name in sorted(VECTOR & set(NAMES))] if x86 else []
    return [extension(name) for name in NAMES] + twice


class BuildKernels(build_ext):
    """Translate to C only when it comes to building, on all processors."""

    def finalize_options(self) -> None:
        """Work in parallel unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        """Cython first; a kernel that is compiled twice is translated once."""
        shared = BUILD / "_cyutility.c"
        (BUILD / "avx2").mkdir(parents=True, exist_ok=True)
        once = [Extension(SHARED, [str(shared)]), *(extension(name) for name in NAMES)]
        translated = cythonize(
            once,
            nthreads=self.parallel or 1,
            build_dir=str(BUILD),
            include_path=["src"],
            shared_utility_qualified_name=SHARED,
            compiler_directives=DIRECTIVES,
        )
        sources = {each.name.rsplit(".", 1)[1]: each.sources for each in translated}
        for each in self.extensions:
            each.sources = sources[each.name.rsplit(".", 1)[1]]
            if ".avx2." in each.name:  # a file of its own, lest both builds write the same object file
                each.sources = [self.copy_file(each.sources[0], str(BUILD / "avx2"), preserve_times=False)[0]]
        super().run()


utility = Extension(SHARED, [], extra_compile_args=flags("_cyutility", False), optional=True)
setup(ext_modules=[utility, *extensions()], cmdclass={"build_ext": BuildKernels})
