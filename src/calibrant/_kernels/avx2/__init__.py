"""Kernels compiled once more, for processors with AVX2 and FMA; `calibrant._kernels` looks here first on those."""
