"""Names for exported functions."""

import builtins
import keyword

from calibrant.errors import InvalidInputError

# Words of C up to C23 and of C++, so that the file compiles as both, and names of the standard library.
_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast constexpr
continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq main NULL errno assert printf fprintf sprintf scanf puts exit abort malloc calloc realloc free
memcpy memset strlen strcmp fopen fclose isnan isinf isfinite isnormal signbit fpclassify calibrant_search
"""
_MATH = """
acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p log2
logb modf scalbn scalbln cbrt abs labs fabs hypot pow sqrt erf erfc lgamma tgamma gamma ceil floor nearbyint rint lrint
llrint round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma j0 j1 jn y0
y1 yn
"""
C_TAKEN = frozenset(_WORDS.split()) | {word + suffix for word in _MATH.split() for suffix in ("", "f", "l")}
PYTHON_TAKEN = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"exp", "log", "nan", "bisect_left"}


def check_name(name: str, language: str) -> None:
    """Refuse what is no identifier, and what the language, its library or the file itself has taken."""
    if not (name.isidentifier() and name.isascii()):
        raise InvalidInputError(f"`name` must be an identifier of letters, digits and underscores; got {name!r}.")
    taken = C_TAKEN if language == "C" else PYTHON_TAKEN
    reserved = name.startswith("__") or (language == "C" and name[0] == "_") or name.isupper()  # as tables are
    if name in taken or reserved:
        raise InvalidInputError(f"`name` must not be a word that {language} has taken; got {name!r}. Choose another.")
