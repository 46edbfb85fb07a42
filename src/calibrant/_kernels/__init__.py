"""Bare arrays in, arrays out: the mathematics, without checks and without classes."""

from calibrant._kernels import native

if native.has_avx2():
    # Modules are looked for in the order of these folders. Only kernels that gain from it are in the first.
    __path__.insert(0, __path__[0] + "/avx2")
