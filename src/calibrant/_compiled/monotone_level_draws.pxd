cimport cython

@cython.locals(steps=Py_ssize_t[:, ::1], waiting=Py_ssize_t[:, ::1])
cpdef object draw(
    const double[:, ::1] table, const double[:, ::1] transposed, const double[:, ::1] uniforms, Py_ssize_t size
)
@cython.locals(n_waiting=Py_ssize_t, used=Py_ssize_t, node=Py_ssize_t, cell=Py_ssize_t)
cdef void _draw_one(
    const double[:, ::1] table, const double[:, ::1] transposed, const double[::1] uniforms, Py_ssize_t size,
    Py_ssize_t[:, ::1] waiting, Py_ssize_t[::1] steps
) noexcept nogil
@cython.locals(total=double, missing=double, mass=double, node=Py_ssize_t, last=Py_ssize_t)
cdef Py_ssize_t _pick(
    const double[:, ::1] table, const double[:, ::1] transposed, Py_ssize_t x, Py_ssize_t y,
    Py_ssize_t first, Py_ssize_t end, double uniform
) noexcept nogil
