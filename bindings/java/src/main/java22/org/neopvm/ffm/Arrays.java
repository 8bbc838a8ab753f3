// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

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
}
