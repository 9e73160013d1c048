"""The tensor functions that change their argument: paddle.tanh_(x) is x.tanh_()."""

from argosy.dynamic import elementwise, math, pairs, search, shape, special, trigonometry
from argosy.dynamic.in_place import becomes, changing, filling, retyped

abs_ = changing(elementwise.abs)
acos_ = changing(trigonometry.acos)
acosh_ = changing(trigonometry.acosh)
add_ = changing(pairs.add)
asin_ = changing(trigonometry.asin)
asinh_ = changing(trigonometry.asinh)
atan_ = changing(trigonometry.atan)
atanh_ = changing(trigonometry.atanh)
bitwise_and_ = changing(pairs.bitwise_and)
bitwise_not_ = changing(pairs.bitwise_not)
bitwise_or_ = changing(pairs.bitwise_or)
bitwise_xor_ = changing(pairs.bitwise_xor)
ceil_ = changing(elementwise.ceil)
cos_ = changing(trigonometry.cos)
cosh_ = changing(trigonometry.cosh)
digamma_ = changing(special.digamma)
erf_ = changing(elementwise.erf)
erfinv_ = changing(special.erfinv)
exp_ = changing(elementwise.exp)
expm1_ = changing(elementwise.expm1)
floor_ = changing(elementwise.floor)
floor_mod_ = changing(pairs.floor_mod)
frac_ = changing(elementwise.frac)
gcd_ = changing(special.gcd)
hypot_ = changing(trigonometry.hypot)
i0_ = changing(special.i0)
lcm_ = changing(special.lcm)
ldexp_ = changing(pairs.ldexp)
lgamma_ = changing(special.lgamma)
log_ = changing(elementwise.log)
log10_ = changing(elementwise.log10)
log1p_ = changing(elementwise.log1p)
log2_ = changing(elementwise.log2)
mod_ = changing(pairs.mod)
multiply_ = changing(pairs.multiply)
neg_ = changing(elementwise.neg)
reciprocal_ = changing(elementwise.reciprocal)
remainder_ = changing(pairs.remainder)
rsqrt_ = changing(elementwise.rsqrt)
sigmoid_ = changing(elementwise.sigmoid)
sin_ = changing(trigonometry.sin)
sinh_ = changing(trigonometry.sinh)
sqrt_ = changing(elementwise.sqrt)
square_ = changing(elementwise.square)
subtract_ = changing(pairs.subtract)
tan_ = changing(trigonometry.tan)
tanh_ = changing(trigonometry.tanh)
trunc_ = changing(elementwise.trunc, key="input")
equal_ = changing(pairs.equal, retyped)
greater_equal_ = changing(pairs.greater_equal, retyped)
greater_than_ = changing(pairs.greater_than, retyped)
less_equal_ = changing(pairs.less_equal, retyped)
less_than_ = changing(pairs.less_than, retyped)
not_equal_ = changing(pairs.not_equal, retyped)
clip_ = changing(math.clip)
divide_ = changing(math.divide)
floor_divide_ = changing(math.floor_divide)
lerp_ = changing(math.lerp)
logit_ = changing(math.logit)
nan_to_num_ = changing(math.nan_to_num)
pow_ = changing(math.pow)
round_ = changing(math.round)
scale_ = changing(math.scale)
cumprod_ = changing(math.cumprod, retyped)
cumsum_ = changing(math.cumsum, retyped)
logical_and_ = changing(math.logical_and, retyped)
logical_not_ = changing(math.logical_not, retyped)
logical_or_ = changing(math.logical_or, retyped)
logical_xor_ = changing(math.logical_xor, retyped)
addmm_ = changing(search.addmm, key="input")
index_add_ = changing(search.index_add)
index_fill_ = changing(search.index_fill)
index_put_ = changing(search.index_put)
masked_fill_ = changing(search.masked_fill)
put_along_axis_ = changing(search.put_along_axis)
scatter_ = changing(search.scatter)
tril_ = changing(shape.tril)
triu_ = changing(shape.triu)
cast_ = changing(shape.cast, retyped)
flatten_ = changing(shape.flatten, becomes)
reshape_ = changing(shape.reshape, becomes)
squeeze_ = changing(shape.squeeze, becomes)
t_ = changing(shape.t, becomes, key="input")
transpose_ = changing(shape.transpose, becomes)
unsqueeze_ = changing(shape.unsqueeze, becomes)
fill_diagonal_tensor_ = changing(special.fill_diagonal_tensor)
multigammaln_ = changing(special.multigammaln)
polygamma_ = changing(special.polygamma)
renorm_ = changing(special.renorm)
where_ = changing(search.where, position=1)

normal_ = filling(
    "normal_",
    """Fills x with numbers drawn from a normal distribution, and returns it.

    >>> paddle.normal_(paddle.zeros([2, 3]), mean=5.0, std=0.1).shape
    [2, 3]
    """,
)
cauchy_ = filling(
    "cauchy_",
    """Fills x with numbers drawn from a Cauchy distribution, and returns it.

    >>> paddle.cauchy_(paddle.zeros([2, 3]), loc=0, scale=1).shape
    [2, 3]
    """,
)
geometric_ = filling(
    "geometric_",
    """Fills x with waiting times of a geometric distribution, not rounded to whole trials, as in 2.6.2, and returns it.

    >>> paddle.geometric_(paddle.zeros([2, 3]), probs=0.5).shape
    [2, 3]
    """,
)
