// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.neopvm.engine.Kind;

/**
 * The data of a message that has come, made readable here. Receiver makes right, once: items that a run list names are
 * turned to this computer's order of bytes; the width of a long stays as the runs say. Raw data of one kind ({@code
 * pvm_psend}) are made native entirely. Other raw data are bytes as they are.
 */
final class Body {
    static final boolean BIG = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
    /** The layout of this computer's Java: longs of 8 bytes. */
    static final int LAYOUT = BIG ? Envelope.BIG64 : Envelope.LITTLE64;

    private static final VarHandle SHORT = handle(short[].class);
    private static final VarHandle INT = handle(int[].class);
    private static final VarHandle LONG = handle(long[].class);

    final byte[] data;
    /** Bytes of data; behind them the run list may stand. */
    final int size;
    /** Null where the data are bytes without a description. */
    final Runs runs;

    private final boolean swapped;
    private final int longSize;

    private static VarHandle handle(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.nativeOrder());
    }

    /**
     * Takes a message out of its envelope; {@code body} is changed and kept.
     *
     * @param length bytes of the body; the array may be longer
     * @throws BadBytes if envelope and body do not fit
     */
    Body(Envelope envelope, byte[] body, int length) {
        Runs described = envelope.runs(body, length);
        boolean other = envelope.isBig() != BIG;
        boolean opaque = !envelope.hasRuns() && described.length() == 0;
        boolean narrow = !envelope.hasRuns() && !opaque && described.shape(0).isNarrowLong();
        // Before anything is changed: without memory for it this can be tried again.
        byte[] wide = narrow ? roomFor(described) : null;
        if (!opaque && other) {
            turn(described, body);
        }
        if (narrow) {
            widen(described, body, wide);
        }
        data = narrow ? wide : body;
        size = narrow ? wide.length : (int) envelope.dataSize();
        runs = envelope.hasRuns() ? described : null;
        swapped = opaque && other;
        longSize = opaque ? envelope.longSize() : 8;
    }

    /** True where items of a kind can be taken out of raw data as they lie. */
    boolean canRead(Kind kind) {
        return runs != null || kind == Kind.BYTE || !swapped && (kind != Kind.LONG || longSize == 8);
    }

    /** Bytes as {@code pvm_bufinfo} counts them. */
    long reportedSize() {
        return runs == null ? size : runs.xdrSize();
    }

    private static void turn(Runs runs, byte[] data) {
        int at = 0;
        for (int run = 0; run < runs.length(); run++) {
            int end = at + (int) (runs.count(run) * runs.shape(run).size);
            switch (runs.shape(run).size) {
                case 2 -> {
                    for (; at < end; at += 2) {
                        SHORT.set(data, at, Short.reverseBytes((short) SHORT.get(data, at)));
                    }
                }
                case 4 -> {
                    for (; at < end; at += 4) {
                        INT.set(data, at, Integer.reverseBytes((int) INT.get(data, at)));
                    }
                }
                case 8 -> {
                    for (; at < end; at += 8) {
                        LONG.set(data, at, Long.reverseBytes((long) LONG.get(data, at)));
                    }
                }
                default -> at = end;
            }
        }
    }

    private static byte[] roomFor(Runs longs) {
        if (longs.count(0) > Integer.MAX_VALUE / 8 - 1) {
            throw new BadBytes("more longs than an array can hold");
        }
        return new byte[(int) longs.count(0) * 8];
    }

    private static void widen(Runs runs, byte[] data, byte[] wide) {
        boolean signed = runs.shape(0) == Shape.NARROW_LONG;
        for (int i = 0; i < wide.length / 8; i++) {
            int item = (int) INT.get(data, i * 4);
            LONG.set(wide, i * 8, signed ? item : Integer.toUnsignedLong(item));
        }
    }

    /** The four bytes that the XDR view has for item {@code at} of a run that begins at {@code base}; high byte first. */
    int xdrWord(Shape shape, long count, int base, int at) {
        return switch (shape) {
            case BYTE -> {
                int word = 0;
                for (int i = 0; i < 4; i++) {
                    int place = at * 4 + i;
                    word = word << 8 | (place < count ? data[base + place] & 0xff : 0);
                }
                yield word;
            }
            case SHORT -> (short) SHORT.get(data, base + at * 2);
            case USHORT -> (short) SHORT.get(data, base + at * 2) & 0xffff;
            case WORD, NARROW_LONG, NARROW_ULONG -> (int) INT.get(data, base + at * 4);
            case LONG -> (int) (long) LONG.get(data, base + at * 8);
            case DOUBLE -> throw new IllegalArgumentException("a double has eight bytes");
        };
    }

    /** The eight bytes of item {@code at} of a run of doubles; high byte first. */
    long xdrLong(int base, int at) {
        return (long) LONG.get(data, base + at * 8);
    }

    /** Puts a number of an item's size, lowest bytes first, as this computer has it. */
    static void put(byte[] out, int at, int size, long value) {
        switch (size) {
            case 2 -> SHORT.set(out, at, (short) value);
            case 4 -> INT.set(out, at, (int) value);
            default -> LONG.set(out, at, value);
        }
    }
}
