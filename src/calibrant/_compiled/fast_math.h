/* exp, log and log-beta as branch-free arithmetic, so that a compiler can do many at a time.
 *
 * Calls into the system's mathematical library keep a loop scalar. These versions are polynomials and moves of bits
 * only, and bits move in ways that every processor has for whole vectors: no arithmetic shift and no conversion of
 * 64-bit integers, which come with AVX-512 only. They are right to a few units in the last place, and to 1e-13 where
 * the compiler may reorder sums. `fast_math.py` is what they are without a compiler.
 */
#ifndef CALIBRANT_FAST_MATH_H
#define CALIBRANT_FAST_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Loops over these functions become vectors only if the functions dissolve into them. */
#if defined(_MSC_VER)
#define INLINE static __forceinline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* A function with a second copy for AVX2 and FMA, where compiler and loader can choose between the two; setup.py says
 * which functions are worth it. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CLONED __attribute__((target_clones("default", "arch=x86-64-v3")))
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define CLONED __attribute__((target_clones("default", "avx2")))
#else
#define CLONED
#endif

#define LN2_HIGH 6.93147180369123816490e-01 /* ln 2 in two parts, so that k ln 2 has no rounding error in the first */
#define LN2_LOW 1.90821492927058770002e-10
#define TWO_52 4503599627370496.0 /* here the bits of a double's fraction count units */
#define TWO_52_BITS UINT64_C(0x4330000000000000)
#define ONE_BITS UINT64_C(0x3FF0000000000000)
#define SQRT_HALF_BITS UINT64_C(0x3FE6A09E667F3BCD)
#define HALF_LOG_2PI 0.91893853320467274178

INLINE uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The double of an integer below 2^52. */
INLINE double from_integer(uint64_t integer) { return double_of(TWO_52_BITS | integer) - TWO_52; }

/* e^x for x <= 700; everything below -700 counts as -700, that is 1e-304. */
INLINE double fast_exp(double x) {
    x = x > -700.0 ? x : -700.0;
    /* k + 1100 is positive, so that truncating the bits of 2^52 + k + 1100 rounds to the nearest integer. */
    uint64_t k_1100 = bits_of(x * 1.4426950408889634 + (TWO_52 + 1100.0)) - TWO_52_BITS;
    double k = from_integer(k_1100) - 1100.0;
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    /* Taylor's series to r^13 / 13!; |r| <= 0.35, so the rest is below 4e-18. Terms are paired: fewer wait. */
    double rr = r * r, r4 = rr * rr;
    double p0 = (1.0 + r) + rr * (0.5 + r * (1.0 / 6.0));
    double p1 = (1.0 / 24.0 + r * (1.0 / 120.0)) + rr * (1.0 / 720.0 + r * (1.0 / 5040.0));
    double p2 = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + rr * (1.0 / 3628800.0 + r * (1.0 / 39916800.0));
    double p3 = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    double p = p0 + r4 * (p1 + r4 * (p2 + r4 * p3));
    return p * double_of((k_1100 - 1100 + 1023) << 52);
}

/* The natural logarithm of a positive normal double. */
INLINE double fast_log(double x) {
    /* x = 2^e f with f in [sqrt(1/2), sqrt(2)): the difference of the patterns makes e round the right way. */
    uint64_t bits = bits_of(x);
    uint64_t e_1023 = (bits + (ONE_BITS - SQRT_HALF_BITS)) >> 52;
    double f = double_of(bits + ONE_BITS - (e_1023 << 52));
    double e = from_integer(e_1023) - 1023.0;
    double s = (f - 1.0) / (f + 1.0);
    double z = s * s, zz = z * z, z4 = zz * zz;
    /* 2 artanh(s); z <= 0.0295, so the rest after z^10 is below 1e-17. */
    double p0 = (2.0 / 3.0 + z * (2.0 / 5.0)) + zz * (2.0 / 7.0 + z * (2.0 / 9.0));
    double p1 = (2.0 / 11.0 + z * (2.0 / 13.0)) + zz * (2.0 / 15.0 + z * (2.0 / 17.0));
    double p = p0 + z4 * (p1 + z4 * (2.0 / 19.0 + z * (2.0 / 21.0)));
    return e * LN2_HIGH + (2.0 * s + (s * z * p + e * LN2_LOW));
}

/* What Stirling's formula adds to (x - 1/2) ln x - x + ln(2 pi)/2 at x = 1/y; wrong by less than 1e-14 for x >= 8. */
INLINE double stirling_rest(double y) {
    double z = y * y;
    double p = -691.0 / 360360.0 + z * (1.0 / 156.0);
    p = 1.0 / 1188.0 + z * p;
    p = -1.0 / 1680.0 + z * p;
    p = 1.0 / 1260.0 + z * p;
    p = -1.0 / 360.0 + z * p;
    return y * (1.0 / 12.0 + z * p);
}

/* Gamma(x + 8) / Gamma(x). */
INLINE double rise_by_eight(double x) {
    return x * (x + 7.0) * ((x + 1.0) * (x + 6.0)) * ((x + 2.0) * (x + 5.0) * ((x + 3.0) * (x + 4.0)));
}

/* The logarithm of B(a, b) in the entropy form, whose error grows with the answer and not with a ln a. */
INLINE double fast_log_beta(double a, double b) {
    /* B(a, b) = B(a + 8, b) Gamma(a + b + 8) Gamma(a) / (Gamma(a + b) Gamma(a + 8)) brings small arguments to
     * Stirling's range. */
    double above = a < 8.0 ? rise_by_eight(a + b) : 1.0;
    double below = a < 8.0 ? rise_by_eight(a) : 1.0;
    a = a < 8.0 ? a + 8.0 : a;
    above *= b < 8.0 ? rise_by_eight(a + b) : 1.0;
    below *= b < 8.0 ? rise_by_eight(b) : 1.0;
    b = b < 8.0 ? b + 8.0 : b;
    double c = a + b, per_c = 1.0 / c, per_ab = 1.0 / (a * b);
    double sum = (a - 0.5) * fast_log(a * per_c) + (b - 0.5) * fast_log(b * per_c);
    sum += fast_log(above / (below * sqrt(c)));
    return sum + (stirling_rest(b * per_ab) + stirling_rest(a * per_ab) - stirling_rest(per_c) + HALF_LOG_2PI);
}

#endif
