// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

/** The types of items in a message, with the numbers of {@code pvm3.h} and their sizes in Java. */
public enum Kind {
    /** Bytes, and booleans as 0 and 1. */
    BYTE(1, 1),
    /** 16-bit integers. */
    SHORT(2, 2),
    /** 32-bit integers. */
    INT(3, 4),
    /** 32-bit floating point. */
    FLOAT(4, 4),
    /** 64-bit floating point. */
    DOUBLE(6, 8),
    /** 64-bit integers: C's {@code long}. */
    LONG(8, 8),
    /** Java's {@code char}: {@code PVM_USHORT}. */
    CHAR(9, 2);

    private final int number;
    private final int size;

    Kind(int number, int size) {
        this.number = number;
        this.size = size;
    }

    /** The number in {@code pvm3.h}. */
    public int number() {
        return number;
    }

    /** Bytes of one item in Java. */
    public int size() {
        return size;
    }
}
