// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_CHAR_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import org.neopvm.engine.Kind;

/** Java's arrays as memory. */
final class Arrays {
    private Arrays() {}

    static MemorySegment segment(Kind kind, Object items) {
        return switch (kind) {
            case BYTE -> MemorySegment.ofArray((byte[]) items);
            case SHORT -> MemorySegment.ofArray((short[]) items);
            case CHAR -> MemorySegment.ofArray((char[]) items);
            case INT -> MemorySegment.ofArray((int[]) items);
            case LONG -> MemorySegment.ofArray((long[]) items);
            case FLOAT -> MemorySegment.ofArray((float[]) items);
            case DOUBLE -> MemorySegment.ofArray((double[]) items);
        };
    }

    /** Copies items of an array to memory, aligned or not. */
    static void read(Kind kind, Object items, int from, MemorySegment to, int count) {
        switch (kind) {
            case BYTE -> MemorySegment.copy((byte[]) items, from, to, JAVA_BYTE, 0, count);
            case SHORT -> MemorySegment.copy((short[]) items, from, to, JAVA_SHORT_UNALIGNED, 0, count);
            case CHAR -> MemorySegment.copy((char[]) items, from, to, JAVA_CHAR_UNALIGNED, 0, count);
            case INT -> MemorySegment.copy((int[]) items, from, to, JAVA_INT_UNALIGNED, 0, count);
            case LONG -> MemorySegment.copy((long[]) items, from, to, JAVA_LONG_UNALIGNED, 0, count);
            case FLOAT -> MemorySegment.copy((float[]) items, from, to, JAVA_FLOAT_UNALIGNED, 0, count);
            case DOUBLE -> MemorySegment.copy((double[]) items, from, to, JAVA_DOUBLE_UNALIGNED, 0, count);
        }
    }

    /** Copies memory, aligned or not, to items of an array. */
    static void write(Kind kind, MemorySegment from, Object items, int to, int count) {
        switch (kind) {
            case BYTE -> MemorySegment.copy(from, JAVA_BYTE, 0, (byte[]) items, to, count);
            case SHORT -> MemorySegment.copy(from, JAVA_SHORT_UNALIGNED, 0, (short[]) items, to, count);
            case CHAR -> MemorySegment.copy(from, JAVA_CHAR_UNALIGNED, 0, (char[]) items, to, count);
            case INT -> MemorySegment.copy(from, JAVA_INT_UNALIGNED, 0, (int[]) items, to, count);
            case LONG -> MemorySegment.copy(from, JAVA_LONG_UNALIGNED, 0, (long[]) items, to, count);
            case FLOAT -> MemorySegment.copy(from, JAVA_FLOAT_UNALIGNED, 0, (float[]) items, to, count);
            case DOUBLE -> MemorySegment.copy(from, JAVA_DOUBLE_UNALIGNED, 0, (double[]) items, to, count);
        }
    }
}
