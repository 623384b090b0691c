"""Sixteen float32 lanes at a time: the inner loops of the tree, written as LLVM vector code.

Numba's own vectoriser keeps the sixteen running sums in memory because its arrays may alias; spelling
the vectors out keeps them in registers (one AVX-512 register, two AVX, four SSE or NEON: LLVM splits
them as the machine needs). Every function takes C-ordered arrays whose last axis is the 16 lanes,
walks the attributes of one block, leaves the lanes' values in `out` and returns a bit mask of the lanes that
pass the limit. NaN never passes, which is how dead records and empty boxes drop out.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
VECTOR = ir.VectorType(ir.FloatType(), LANES)
FUSE = ("contract",)  # float32 bounds only: the error margin covers both roundings


def data_pointer(context, builder, array_type, array):
    """Where the numbers of an array begin."""
    return context.make_array(array_type)(context, builder, array).data


def load_lanes(builder, base, offset):
    """Sixteen numbers from memory."""
    pointer = builder.gep(base, [offset])
    return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=4)


def store_lanes(builder, base, value):
    """Sixteen numbers to memory."""
    builder.store(value, builder.bitcast(base, VECTOR.as_pointer()), align=4)


def spread(builder, scalar):
    """One number in all sixteen lanes."""
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        one, ir.Constant(VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    )


def larger(builder, a, b):
    """The larger of two numbers, lane by lane."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def fused(builder, a, b, c):
    """a * b + c, in one instruction where the machine has it."""
    return builder.fadd(builder.fmul(a, b, flags=FUSE), c, flags=FUSE)


def bit_mask(builder, relation, values, limit):
    """A bit for each lane that stands in the relation to the limit."""
    passing = builder.fcmp_ordered(relation, values, spread(builder, limit))
    return builder.zext(builder.bitcast(passing, ir.IntType(LANES)), ir.IntType(64))


def add_terms(builder, total, first, last, query, term):
    """total = term(j, query[j], total) for first <= j < last."""
    with cgutils.for_range(builder, last, first) as loop:
        q = builder.load(builder.gep(query, [loop.index]))
        builder.store(term(loop.index, q, builder.load(total)), total)


def squared_gap(builder, points, start):
    """A term of the squared distance from sixteen points."""

    def term(j, q, total):
        x = load_lanes(builder, points, builder.add(start, builder.mul(j, j.type(LANES))))
        gap = builder.fsub(x, spread(builder, q))
        return fused(builder, gap, gap, total)

    return term


def squared_gap_to_box(builder, boxes, start):
    """A term of the squared distance from sixteen boxes, 0 inside."""

    def term(j, q, total):
        at = builder.add(start, builder.mul(j, j.type(2 * LANES)))
        low = load_lanes(builder, boxes, at)
        high = load_lanes(builder, boxes, builder.add(at, j.type(LANES)))
        q = spread(builder, q)
        gap = larger(builder, builder.fsub(low, q), builder.fsub(q, high))
        gap = larger(builder, gap, ir.Constant(VECTOR, [0.0] * LANES))
        return fused(builder, gap, gap, total)

    return term


def largest_product(builder, boxes, start):
    """The largest q * x over low <= x <= high: q's sign says which end it is."""

    def term(j, q, total):
        positive = builder.fcmp_ordered(">", q, q.type(0.0))
        end = builder.select(positive, j.type(LANES), j.type(0))
        at = builder.add(start, builder.add(end, builder.mul(j, j.type(2 * LANES))))
        return fused(builder, spread(builder, q), load_lanes(builder, boxes, at), total)

    return term


def near_lanes(make_term, floats_per_attribute):
    """Lanes whose sum stays <= limit; the first `head` attributes alone usually rule out all sixteen."""

    @intrinsic
    def lanes_within(typing_context, blocks, block, query, head, limit, out):
        signature = types.int64(blocks, types.int64, query, types.int64, types.float32, out)

        def codegen(context, builder, sig, args):
            base, q, result = (data_pointer(context, builder, sig.args[i], args[i]) for i in (0, 2, 5))
            i64 = args[1].type
            attributes = cgutils.unpack_tuple(
                builder, context.make_array(sig.args[2])(context, builder, args[2]).shape, 1
            )[0]
            start = builder.mul(args[1], builder.mul(attributes, i64(floats_per_attribute)))
            term = make_term(builder, base, start)
            total = cgutils.alloca_once_value(builder, ir.Constant(VECTOR, [0.0] * LANES))
            mask = cgutils.alloca_once(builder, i64)
            add_terms(builder, total, i64(0), args[3], q, term)
            builder.store(bit_mask(builder, "<=", builder.load(total), args[4]), mask)
            with builder.if_then(builder.icmp_signed("!=", builder.load(mask), i64(0))):
                add_terms(builder, total, args[3], attributes, q, term)
                builder.store(bit_mask(builder, "<=", builder.load(total), args[4]), mask)
                store_lanes(builder, result, builder.load(total))
            return builder.load(mask)

        return signature, codegen

    return lanes_within


near_points: Any = near_lanes(squared_gap, LANES)
near_boxes: Any = near_lanes(squared_gap_to_box, 2 * LANES)


def far_lanes(make_term, floats_per_attribute):
    """Lanes whose sum, begun at offset + start_values[block], reaches the limit."""

    @intrinsic
    def lanes_beyond(typing_context, blocks, block, query, starts, offset, limit, out):
        signature = types.int64(blocks, types.int64, query, starts, types.float32, types.float32, out)

        def codegen(context, builder, sig, args):
            base, q, begin, result = (data_pointer(context, builder, sig.args[i], args[i]) for i in (0, 2, 3, 6))
            i64 = args[1].type
            attributes = cgutils.unpack_tuple(
                builder, context.make_array(sig.args[2])(context, builder, args[2]).shape, 1
            )[0]
            start = builder.mul(args[1], builder.mul(attributes, i64(floats_per_attribute)))
            first = load_lanes(builder, begin, builder.mul(args[1], i64(LANES)))
            total = cgutils.alloca_once_value(builder, builder.fadd(first, spread(builder, args[4])))
            add_terms(builder, total, i64(0), attributes, q, make_term(builder, base, start))
            store_lanes(builder, result, builder.load(total))
            return bit_mask(builder, ">=", builder.load(total), args[5])

        return signature, codegen

    return lanes_beyond


def product(builder, points, start):
    """A term of the dot product with sixteen points."""

    def term(j, q, total):
        x = load_lanes(builder, points, builder.add(start, builder.mul(j, j.type(LANES))))
        return fused(builder, spread(builder, q), x, total)

    return term


far_points: Any = far_lanes(product, LANES)
far_boxes: Any = far_lanes(largest_product, 2 * LANES)


def lowest_bit_code(typing_context, mask):
    """The number of the lowest bit that is set."""

    def codegen(context, builder, sig, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


def prefetch_code(typing_context, blocks, offset):
    """Asks for the cache line at flat position `offset`; says nothing about when it comes."""

    def codegen(context, builder, sig, args):
        base = data_pointer(context, builder, sig.args[0], args[0])
        byte = ir.IntType(8).as_pointer()
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        pointer = builder.bitcast(builder.gep(base, [args[1]]), byte)
        builder.call(function, [pointer, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(blocks, types.int64), codegen


lowest_bit: Any = intrinsic(lowest_bit_code)
prefetch: Any = intrinsic(prefetch_code)
