// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** One frame being written: a length and a number in front, then little-endian values as {@link Reader} takes them. */
final class Writer {
    /** Bytes in front of the payload. */
    static final int HEADER = 8;

    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] bytes = new byte[128];
    private int size = HEADER;

    private int grow(int more) {
        int from = size;
        size = Math.addExact(size, more);
        if (size > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(size, bytes.length * 2));
        }
        return from;
    }

    Writer u8(int value) {
        int at = grow(1);
        bytes[at] = (byte) value;
        return this;
    }

    Writer u16(int value) {
        return u8(value).u8(value >> 8);
    }

    Writer i32(int value) {
        int at = grow(4);
        INT.set(bytes, at, value);
        return this;
    }

    Writer i64(long value) {
        int at = grow(8);
        LONG.set(bytes, at, value);
        return this;
    }

    Writer flag(boolean value) {
        return u8(value ? 1 : 0);
    }

    /** The bytes without a length. */
    Writer plain(byte[] value, int from, int count) {
        int at = grow(count);
        System.arraycopy(value, from, bytes, at, count);
        return this;
    }

    Writer blob(byte[] value) {
        return i32(value.length).plain(value, 0, value.length);
    }

    Writer text(String value) {
        return blob(value.getBytes(StandardCharsets.UTF_8));
    }

    Writer texts(List<String> values) {
        i32(values.size());
        values.forEach(this::text);
        return this;
    }

    Writer ints(int[] values) {
        i32(values.length);
        for (int value : values) {
            i32(value);
        }
        return this;
    }

    /**
     * The whole frame.
     *
     * @param id its number
     * @param behind bytes of the payload that will follow from elsewhere
     */
    ByteBuffer frame(int id, int behind) {
        INT.set(bytes, 0, size - HEADER + behind);
        INT.set(bytes, 4, id);
        return ByteBuffer.wrap(bytes, 0, size);
    }
}
