// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import org.neopvm.engine.Kind;

/** The kind of items of a run (doc/wire.md): kinds of equal size and equal portable form are one shape. */
enum Shape {
    BYTE(1, 1, 1),
    SHORT(2, 2, 4),
    WORD(3, 4, 4),
    DOUBLE(6, 8, 8),
    LONG(8, 8, 4),
    USHORT(9, 2, 4),
    NARROW_LONG(12, 4, 4),
    NARROW_ULONG(13, 4, 4);

    private static final Shape[] BY_NUMBER = new Shape[14];

    static {
        for (Shape shape : values()) {
            BY_NUMBER[shape.number] = shape;
        }
    }

    final int number;
    /** Bytes of one in memory. */
    final int size;
    /** Bytes of one in the XDR view; bytes are padded as a whole run. */
    final int xdrSize;

    Shape(int number, int size, int xdrSize) {
        this.number = number;
        this.size = size;
        this.xdrSize = xdrSize;
    }

    static Shape of(int number) {
        Shape shape = number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
        if (shape == null) {
            throw new BadBytes("unknown shape " + number);
        }
        return shape;
    }

    static Shape of(Kind kind) {
        return switch (kind) {
            case BYTE -> BYTE;
            case SHORT -> SHORT;
            case CHAR -> USHORT;
            case INT, FLOAT -> WORD;
            case DOUBLE -> DOUBLE;
            case LONG -> LONG;
        };
    }

    boolean isNarrowLong() {
        return this == NARROW_LONG || this == NARROW_ULONG;
    }

    /** True where items of one can be copied as the other. */
    boolean sameBits(Shape other) {
        return this == other
                || this == SHORT && other == USHORT
                || this == USHORT && other == SHORT
                || isNarrowLong() && other.isNarrowLong();
    }

    /** Bytes of {@code count} items in the XDR view, padded as one call pads them. */
    long xdrSize(long count) {
        return count * xdrSize + 3 & ~3L;
    }
}
