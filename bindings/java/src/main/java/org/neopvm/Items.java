// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Objects;
import org.neopvm.engine.Kind;

/** Parts of arrays. */
final class Items {
    private Items() {}

    /** Throws unless the array is of the kind and holds all the places. */
    static void check(Kind kind, Object items, int from, int count, int stride) {
        int length = switch (kind) {
            case BYTE -> ((byte[]) items).length;
            case SHORT -> ((short[]) items).length;
            case CHAR -> ((char[]) items).length;
            case INT -> ((int[]) items).length;
            case LONG -> ((long[]) items).length;
            case FLOAT -> ((float[]) items).length;
            case DOUBLE -> ((double[]) items).length;
        };
        if (stride < 1) {
            throw new PvmException(Code.BAD_PARAM, "a stride of " + stride);
        }
        Objects.checkFromIndexSize(from, 0, length);
        if (count < 0 || count > 0 && from + (count - 1L) * stride >= length) {
            throw new IndexOutOfBoundsException(
                    count + " items from " + from + " with stride " + stride + " of an array of " + length);
        }
    }

    /** An array of the kind. */
    static Object array(Kind kind, int length) {
        return switch (kind) {
            case BYTE -> new byte[length];
            case SHORT -> new short[length];
            case CHAR -> new char[length];
            case INT -> new int[length];
            case LONG -> new long[length];
            case FLOAT -> new float[length];
            case DOUBLE -> new double[length];
        };
    }
}
