// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Takes values from the front of a byte string: little-endian numbers, bytes and lists with a length in front. A length
 * is compared with the bytes that are there before memory is reserved for it.
 */
final class Reader {
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final byte[] bytes;
    private final int end;
    private int at;

    /** Reads {@code bytes} from {@code from} up to {@code end}. */
    Reader(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.at = from;
        this.end = end;
    }

    Reader(byte[] bytes) {
        this(bytes, 0, bytes.length);
    }

    int remaining() {
        return end - at;
    }

    /** The offset of the next value. */
    int position() {
        return at;
    }

    /** The bytes that were read since a place. */
    byte[] since(int begin) {
        return Arrays.copyOfRange(bytes, begin, at);
    }

    /** Passes over {@code size} bytes and tells where they begin. */
    int take(long size) {
        if (size < 0 || size > end - at) {
            throw new BadBytes("the message ends too early");
        }
        int from = at;
        at += (int) size;
        return from;
    }

    int u8() {
        return bytes[take(1)] & 0xff;
    }

    int u16() {
        int from = take(2);
        return bytes[from] & 0xff | (bytes[from + 1] & 0xff) << 8;
    }

    int i32() {
        return (int) INT.get(bytes, take(4));
    }

    long i64() {
        return (long) LONG.get(bytes, take(8));
    }

    boolean flag() {
        int value = u8();
        if (value > 1) {
            throw new BadBytes("value out of range");
        }
        return value == 1;
    }

    /** A length in front of a list; every element takes at least one byte. */
    private int length() {
        long length = Integer.toUnsignedLong(i32());
        if (length > remaining()) {
            throw new BadBytes("the message ends too early");
        }
        return (int) length;
    }

    byte[] blob() {
        int size = length();
        int from = take(size);
        return Arrays.copyOfRange(bytes, from, from + size);
    }

    /** Moves bytes to the front of the array, which is the reader's no more; tells how many. */
    int blobToFront() {
        int size = length();
        System.arraycopy(bytes, take(size), bytes, 0, size);
        return size;
    }

    /** The array that is read. */
    byte[] array() {
        return bytes;
    }

    /** Copies bytes into a place in an array; tells where they end. */
    int blob(byte[] into, int to) {
        int size = length();
        if (size > into.length - to) {
            throw new BadBytes("a part that is longer than what was announced");
        }
        System.arraycopy(bytes, take(size), into, to, size);
        return to + size;
    }

    String text() {
        int size = length();
        return new String(bytes, take(size), size, StandardCharsets.UTF_8);
    }

    <T> List<T> list(Function<Reader, T> element) {
        int count = length();
        List<T> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            list.add(element.apply(this));
        }
        return list;
    }

    int[] ints() {
        int count = length();
        if (count > remaining() / 4) {
            throw new BadBytes("the message ends too early");
        }
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            values[i] = i32();
        }
        return values;
    }

    /** Nothing may be left. */
    void finish() {
        if (remaining() != 0) {
            throw new BadBytes("the message is longer than its content");
        }
    }
}
