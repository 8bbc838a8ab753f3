// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.neopvm.engine.Incoming;

/**
 * Reads {@code struct neopvm_received}: int buffer and type, long count, the {@link Head} at offset 16, and up to 64 bytes
 * of items at offset 56.
 */
final class Received {
    private static final int HEAD = 16;
    private static final int ITEMS = HEAD + Head.BYTES;

    private Received() {}

    /** The message; null where none came. */
    static Incoming read(MemorySegment struct) {
        int type = struct.get(JAVA_INT, 4);
        if (type == 0) {
            int buffer = struct.get(JAVA_INT, 0);
            return buffer == 0 ? null : new NativeIncoming(buffer, Head.read(struct.asSlice(HEAD)));
        }
        byte[] items = new byte[(int) struct.get(JAVA_LONG, 8) * SmallIncoming.sizeOf(type)];
        MemorySegment.copy(struct, JAVA_BYTE, ITEMS, items, 0, items.length);
        boolean raw = struct.get(JAVA_INT, HEAD + 16) == org.neopvm.Encoding.RAW.number();
        return new SmallIncoming(struct.get(JAVA_INT, HEAD), struct.get(JAVA_INT, HEAD + 8),
                struct.get(JAVA_INT, HEAD + 12), raw, type, items, (int) struct.get(JAVA_LONG, HEAD + 24));
    }
}
