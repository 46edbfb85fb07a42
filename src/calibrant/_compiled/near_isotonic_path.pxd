cimport cython

cdef double _INFINITE, TOUCHING

@cython.locals(i=Py_ssize_t, parent=Py_ssize_t)
cdef void _push(double[::1] keys, Py_ssize_t[::1] items, Py_ssize_t size, double key, Py_ssize_t item) noexcept nogil
@cython.locals(i=Py_ssize_t, child=Py_ssize_t, key=double, item=Py_ssize_t)
cdef void _drop_first(double[::1] keys, Py_ssize_t[::1] items, Py_ssize_t size) noexcept nogil
cdef double _meeting(
    Py_ssize_t j, const double[::1] falls, const double[::1] sums, const double[::1] mass,
    Py_ssize_t[::1] first, Py_ssize_t[::1] last
) noexcept nogil
@cython.locals(
    first=Py_ssize_t[::1], last=Py_ssize_t[::1], order=Py_ssize_t[::1], when=double[::1], due=double[::1],
    planned=Py_ssize_t[::1], times=double[::1], at=Py_ssize_t, keys=double[::1], items=Py_ssize_t[::1], size=Py_ssize_t,
    n_merged=Py_ssize_t, penalty=double, before=double, j=Py_ssize_t, a=Py_ssize_t, b=Py_ssize_t, outer=Py_ssize_t,
    key=double, m=Py_ssize_t,
)
cpdef tuple path(const double[::1] falls, const double[::1] sums, const double[::1] mass)
