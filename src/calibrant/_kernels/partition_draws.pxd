from libc cimport math

cimport cython

from calibrant._kernels cimport fast_math

cdef double _INFINITE

@cython.locals(total=double)
cdef double _log_bin(
    double positives, double negatives, double alpha, double beta, double log_prior, bint akaike
) noexcept nogil
@cython.locals(
    log_f=double[:, ::1], weight=double[::1], positives=double, negatives=double, largest=double, total=double, gap=double
)
cpdef akaike_forward(const double[::1] x, const double[::1] k, const double[::1] n, const double[::1] lam)
@cython.locals(
    offsets=Py_ssize_t[::1], found=Py_ssize_t[::1], one=Py_ssize_t[::1], larger=Py_ssize_t[::1], g=Py_ssize_t,
    u=Py_ssize_t, bins=Py_ssize_t, start=Py_ssize_t, gap=double, total=double,
)
cpdef tuple draw_binnings(
    const double[::1] x, const double[::1] k, const double[::1] n, const double[::1] lam, double alpha, double beta,
    const double[:, ::1] log_f, const Py_ssize_t[::1] which, object rng, bint akaike
)
@cython.locals(positives=double, negatives=double, last=Py_ssize_t, score=double, term=double)
cdef Py_ssize_t _draw_start(
    const double[::1] x, const double[::1] k, const double[::1] n, double lam, double alpha, double beta,
    double log_prior, const double[:, ::1] log_f, Py_ssize_t g, double log_total, Py_ssize_t u, double left, bint akaike
) noexcept nogil
