// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.nio.ByteBuffer;

/**
 * A message being packed. What it holds outside of Java is given back when it is forgotten, too. It can be sent several times. Closing it twice does nothing; every other call on a
 * closed one throws a {@link org.neopvm.PvmException} with {@link org.neopvm.Code#NO_SUCH_BUF}. Calls of several
 * threads on one take turns.
 */
public interface Outgoing extends AutoCloseable {
    /**
     * Packs {@code count} items of an array, which lie {@code stride} elements apart.
     *
     * @param items an array of the kind's Java type: {@code byte[]}, {@code short[]}, {@code char[]},
     *     {@code int[]}, {@code long[]}, {@code float[]} or {@code double[]}. The caller has checked that
     *     {@code from} and {@code from + (count - 1) * stride} are in it, and that {@code stride} is at least 1.
     */
    void pack(Kind kind, Object items, int from, int count, int stride);

    /** Packs one byte, short, char or int of that kind. */
    void packInt(Kind kind, int item);

    /** Packs one long. */
    void packLong(long item);

    /** Packs bytes as a text, as {@code pvm_pkstr} does. They hold no 0. */
    void packText(byte[] utf8);

    /**
     * Packs {@code count} items that the caller writes later, before it sends.
     *
     * @return memory in the order of bytes of this computer, which the engine sends without a copy where it can;
     *     null where the engine has none such. Reading or writing it after {@link #close} throws
     *     {@link IllegalStateException}.
     */
    ByteBuffer allocate(Kind kind, int count);

    @Override
    void close();
}
