from libc cimport math

cimport cython

from calibrant._compiled cimport fast_math

cdef double _INFINITE
cdef Py_ssize_t _BLOCK

@cython.final
cdef class Past:
    cdef const double[::1] x, lam
    cdef const double[:, ::1] log_f
    cdef double[::1] hits, misses, terms
    cdef double alpha, beta
    cdef bint akaike

cdef inline double _akaike(double positives, double negatives) noexcept nogil
@cython.locals(
    log_f=double[:, ::1], weight=double[::1], positives=double, negatives=double, largest=double, total=double, gap=double
)
cpdef akaike_forward(const double[::1] x, const double[::1] k, const double[::1] n, const double[::1] lam)
@cython.locals(
    is_start=cython.uchar[:, ::1], g=Py_ssize_t, u=Py_ssize_t, start=Py_ssize_t, gap=double, past=Past
)
cpdef tuple draw_binnings(
    const double[::1] x, const double[::1] k, const double[::1] n, const double[::1] lam, double alpha, double beta,
    const double[:, ::1] log_f, const Py_ssize_t[::1] which, object rng, bint akaike
)
@cython.locals(last=Py_ssize_t, begin=Py_ssize_t, end=Py_ssize_t)
cdef Py_ssize_t _draw_start(Past past, Py_ssize_t g, double log_total, Py_ssize_t u, double left) noexcept nogil
@cython.locals(lam=double, positives=double, negatives=double, here=double, a=double, b=double, score=double)
cdef void _fill_terms(
    Past past, Py_ssize_t g, double log_total, Py_ssize_t u, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil
