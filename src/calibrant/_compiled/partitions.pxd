from libc cimport math

cimport cython

from calibrant._compiled cimport partition_sweep

cdef int _ONE, _PER_POSITIVE

cpdef tuple forward(
    const double[::1] x, const double[::1] k, const double[::1] n, const double[::1] lam,
    double alpha, double beta, bint best
)
cdef double _limit(Py_ssize_t m) except *
cdef void _sweep_forward(partition_sweep.Sweep sweep, double limit, Py_ssize_t[:, ::1] backpointers) noexcept
cdef Py_ssize_t _position(partition_sweep.Sweep sweep, Py_ssize_t g) noexcept nogil
cdef void _sweep_backward(
    partition_sweep.Sweep sweep, double limit, const double[:, ::1] log_f, double[:, ::1] starts, int what
) noexcept
@cython.locals(total=double, value=double, least=double)
cdef double _hold(partition_sweep.Sweep sweep, Py_ssize_t g, double weight, int what) noexcept nogil
