"""Bare arrays in, arrays out: the mathematics, without checks and without classes.

Most files are numpy. A file with a .pxd file beside it is a kernel: loops in plain Python, which Cython compiles when
the package is built, with the types of C that the .pxd file gives to arguments and local names. So there is one text,
which runs uncompiled too; tests compare the two. In a kernel indices are never negative, `//` and `%` see no negative
numbers, functions called in loops come from `math` or `fast_math`, and constants that loops use are declared.
"""

from calibrant._compiled import native

if native.has_avx2():
    # Modules are looked for in the order of these folders. Only kernels that gain from it are in the first.
    __path__.insert(0, __path__[0] + "/avx2")
