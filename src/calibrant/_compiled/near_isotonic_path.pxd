cimport cython

cdef double _INFINITE

cdef double _meeting(
    Py_ssize_t j, const double[::1] falls, const double[::1] sums, const double[::1] mass,
    Py_ssize_t[::1] first, Py_ssize_t[::1] last
) noexcept nogil
@cython.locals(
    first=Py_ssize_t[::1], last=Py_ssize_t[::1], due=double[::1], penalty=double, j=Py_ssize_t, a=Py_ssize_t,
    b=Py_ssize_t, outer=Py_ssize_t, key=double, m=Py_ssize_t, order=list, when=list, heap=list,
)
cpdef tuple path(const double[::1] falls, const double[::1] sums, const double[::1] mass)
