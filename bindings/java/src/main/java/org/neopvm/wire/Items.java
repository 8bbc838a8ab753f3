// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.neopvm.engine.Kind;

/** Copies items between Java's arrays and bytes as this computer has them in memory. */
final class Items {
    private Items() {}

    /** {@code count} items of an array, {@code stride} elements apart, to {@code bytes} from {@code at} on. */
    static void toBytes(Kind kind, Object items, int from, int count, int stride, byte[] bytes, int at) {
        ByteBuffer to = buffer(bytes, at, count * kind.size());
        if (stride == 1) {
            switch (kind) {
                case BYTE -> to.put((byte[]) items, from, count);
                case SHORT -> to.asShortBuffer().put((short[]) items, from, count);
                case CHAR -> to.asCharBuffer().put((char[]) items, from, count);
                case INT -> to.asIntBuffer().put((int[]) items, from, count);
                case LONG -> to.asLongBuffer().put((long[]) items, from, count);
                case FLOAT -> to.asFloatBuffer().put((float[]) items, from, count);
                case DOUBLE -> to.asDoubleBuffer().put((double[]) items, from, count);
            }
            return;
        }
        for (int i = 0, place = from; i < count; i++, place += stride) {
            switch (kind) {
                case BYTE -> to.put(((byte[]) items)[place]);
                case SHORT -> to.putShort(((short[]) items)[place]);
                case CHAR -> to.putChar(((char[]) items)[place]);
                case INT -> to.putInt(((int[]) items)[place]);
                case LONG -> to.putLong(((long[]) items)[place]);
                case FLOAT -> to.putFloat(((float[]) items)[place]);
                case DOUBLE -> to.putDouble(((double[]) items)[place]);
            }
        }
    }

    /** The other way. */
    static void fromBytes(Kind kind, byte[] bytes, int at, Object items, int from, int count, int stride) {
        ByteBuffer source = buffer(bytes, at, count * kind.size());
        if (stride == 1) {
            switch (kind) {
                case BYTE -> source.get((byte[]) items, from, count);
                case SHORT -> source.asShortBuffer().get((short[]) items, from, count);
                case CHAR -> source.asCharBuffer().get((char[]) items, from, count);
                case INT -> source.asIntBuffer().get((int[]) items, from, count);
                case LONG -> source.asLongBuffer().get((long[]) items, from, count);
                case FLOAT -> source.asFloatBuffer().get((float[]) items, from, count);
                case DOUBLE -> source.asDoubleBuffer().get((double[]) items, from, count);
            }
            return;
        }
        for (int i = 0, place = from; i < count; i++, place += stride) {
            switch (kind) {
                case BYTE -> ((byte[]) items)[place] = source.get();
                case SHORT -> ((short[]) items)[place] = source.getShort();
                case CHAR -> ((char[]) items)[place] = source.getChar();
                case INT -> ((int[]) items)[place] = source.getInt();
                case LONG -> ((long[]) items)[place] = source.getLong();
                case FLOAT -> ((float[]) items)[place] = source.getFloat();
                case DOUBLE -> ((double[]) items)[place] = source.getDouble();
            }
        }
    }

    private static ByteBuffer buffer(byte[] bytes, int at, int size) {
        return ByteBuffer.wrap(bytes, at, size).order(ByteOrder.nativeOrder());
    }
}
