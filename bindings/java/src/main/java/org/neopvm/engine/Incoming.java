// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.nio.ByteBuffer;
import org.neopvm.MessageInfo;

/**
 * A message being read. What it holds outside of Java is given back when it is forgotten, too. Closing it twice does nothing; every other call but {@link #info} on a closed one throws a
 * {@link org.neopvm.PvmException} with {@link org.neopvm.Code#NO_SUCH_BUF}. Calls of several threads on one take
 * turns.
 *
 * <p>Unpacking follows PVM: what was packed as one type may be read as another where PVM allows it, and a read of
 * more items than are left fails with {@link org.neopvm.Code#NO_DATA} and leaves the message at its end.
 */
public interface Incoming extends AutoCloseable {
    /** Its head; also of a closed one. */
    MessageInfo info();

    /** Bytes that are unread. */
    long left();

    /**
     * Unpacks {@code count} items into an array, {@code stride} elements apart.
     *
     * @param items as in {@link Outgoing#pack}; the caller has checked that all places are in it
     */
    void unpack(Kind kind, Object items, int from, int count, int stride);

    /** Unpacks one byte, short, char or int of that kind. */
    int unpackInt(Kind kind);

    /** Unpacks one long. */
    long unpackLong();

    /** Unpacks a text: its bytes, without the 0 at the end. */
    byte[] unpackText();

    /**
     * The next {@code count} items where they lie, in the order of bytes of this computer, read-only.
     *
     * @return null where they would have to be converted or do not lie behind one another; then nothing is read.
     *     Where it is not Java's own memory, reading it after {@link #close} throws {@link IllegalStateException}.
     */
    ByteBuffer view(Kind kind, int count);

    /** True if it holds memory outside of Java's until it is closed. */
    default boolean holdsMemory() {
        return false;
    }

    /** Reads again from the first item. */
    void rewind();

    @Override
    void close();
}
