cimport cython

cdef double _INFINITE

@cython.locals(
    kept=Py_ssize_t[::1], count=Py_ssize_t, start=Py_ssize_t, reached=Py_ssize_t, lowest=double, highest=double
)
cpdef simplify(const double[::1] x, const double[::1] y, const double[::1] tolerance)
