"""Kernels compiled once more, for processors with AVX2 and FMA; `calibrant._compiled` looks here first on those."""
