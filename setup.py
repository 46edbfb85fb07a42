"""Compile the kernels; all else about the package is in pyproject.toml."""

import os
import re
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/calibrant/_compiled")
PACKAGE = "calibrant._compiled"
BUILD = Path("build/cython")
SHARED = "_cyutility"  # what Cython needs for arrays, once for all kernels

# A kernel is a .py file with its C types in a .pxd file; fast_math.pxd only declares what is in fast_math.h.
NAMES = sorted(path.stem for path in KERNELS.glob("*.pxd") if path.stem != "fast_math")

# Kernels whose loops the compiler is to run many cells at a time. For that it may reorder their sums: these are sums of
# terms of one sign, or of rounded logarithms, that no order makes exact.
VECTOR = {
    "laplace",
    "logistic_normal",
    "monotone_draws",
    "partition_draws",
    "partition_sweep",
    "partitions",
}

# Functions that gain from wide vectors: over binnings 1.3 to 1.7 times the speed, for a spline a tenth. fast_math.h
# says where the compiler makes a second version of them for processors with AVX2; the loader then chooses.
CLONED = {
    "laplace": ("_add_likelihood", "_loss"),
    "logistic_normal": ("curve_moments", "mean_logit"),
    "partition_draws": ("akaike_forward", "_fill_terms"),
    "partition_sweep": (
        "_bin_over_best",
        "_exponentiate",
        "_few_row_ratios",
        "_log_betas",
        "_log_terms",
        "_many_row_ratios",
        "_multiply",
        "_row_ratios",
    ),
    "partitions": ("_hold",),
}

DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # annotations are Python's; C's types are in the .pxd files
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "freethreading_compatible": True,  # kernels write to their arguments and to what they return, nowhere else
}


def compiled_required() -> bool:
    """Whether a kernel that cannot be compiled is an error; otherwise the package works without, only slowly."""
    return os.environ.get("CALIBRANT_REQUIRE_COMPILED", "0") not in {"", "0"}


def flags(name: str) -> list[str]:
    """Options for the compiler; none of them depends on the machine that compiles."""
    if sys.platform == "win32":
        return ["/O2", *(["/fp:fast"] if name in VECTOR else [])]
    exact = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
    return exact + (["-fno-signed-zeros", "-fassociative-math", "-ffp-contract=fast"] if name in VECTOR else [])


def extension(name: str) -> Extension:
    """One kernel, or what all kernels share."""
    return Extension(
        f"{PACKAGE}.{name}",
        [str(KERNELS / f"{name}.py")] if name in NAMES else [str(BUILD / f"{name}.c")],
        include_dirs=[str(KERNELS)],
        depends=[str(KERNELS / f"{name}.pxd"), str(KERNELS / "fast_math.h")] if name in NAMES else [],
        extra_compile_args=flags(name),
        optional=not compiled_required(),
    )


def mark_clones(name: str, source: Path) -> None:
    """Put CLONED in front of the C functions of that kernel: Cython has no word for a function's attributes."""
    text = marked = source.read_text(encoding="utf-8")
    for function in CLONED.get(name, ()):
        if f"{name}_{function}(" not in text:
            raise ValueError(f"{source} has no function {function}; correct CLONED in setup.py.")
        pattern = rf"^static (?=\w+ \*?__pyx_f_\w*{name}_{function}\()"
        marked = re.sub(pattern, "static CLONED ", marked, flags=re.MULTILINE)
    if marked != text:
        source.write_text(marked, encoding="utf-8")


class BuildKernels(build_ext):
    """Translate to C only when it comes to building, on all processors."""

    def finalize_options(self) -> None:
        """Work in parallel unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        """Cython first."""
        BUILD.mkdir(parents=True, exist_ok=True)
        translated = cythonize(
            [extension(name) for name in (SHARED, *NAMES)],
            nthreads=self.parallel or 1,
            build_dir=str(BUILD),
            include_path=["src"],
            shared_utility_qualified_name=f"{PACKAGE}.{SHARED}",
            compiler_directives=DIRECTIVES,
        )
        sources = {each.name: each.sources for each in translated}
        for each in self.extensions:
            each.sources = sources[each.name]
            mark_clones(each.name.rsplit(".", 1)[1], Path(each.sources[0]))
        super().run()


setup(ext_modules=[extension(name) for name in (SHARED, *NAMES)], cmdclass={"build_ext": BuildKernels})
