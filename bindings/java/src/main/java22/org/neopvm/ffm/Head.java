// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.neopvm.Encoding;
import org.neopvm.MessageInfo;

/**
 * Reads {@code struct neopvm_info}: int source, destination, tag, context, encoding, wait_id; then 64-bit bytes and
 * left at offsets 24 and 32.
 */
final class Head {
    static final int BYTES = 40;

    private Head() {}

    /** Of a buffer, through {@link #BYTES} bytes of room. */
    static MessageInfo read(int buffer, MemorySegment room) {
        fetch(buffer, room);
        return read(room);
    }

    static long left(int buffer, MemorySegment room) {
        fetch(buffer, room);
        return room.get(JAVA_LONG, 32);
    }

    static MessageInfo read(MemorySegment struct) {
        Encoding encoding = struct.get(JAVA_INT, 16) == Encoding.RAW.number() ? Encoding.RAW : Encoding.DEFAULT;
        return new MessageInfo(struct.get(JAVA_INT, 0), struct.get(JAVA_INT, 8), struct.get(JAVA_INT, 12), encoding,
                struct.get(JAVA_LONG, 24));
    }

    private static void fetch(int buffer, MemorySegment room) {
        try {
            Calls.check((int) Calls.INFO.invokeExact(buffer, room), "the head of a message");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }
}
