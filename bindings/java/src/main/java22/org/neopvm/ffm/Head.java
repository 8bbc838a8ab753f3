// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.neopvm.Encoding;
import org.neopvm.MessageInfo;

/**
 * Reads {@code struct neopvm_info}: int source, destination, tag, context, encoding, wait_id; then 64-bit bytes and
 * left at offsets 24 and 32.
 */
final class Head {
    static final int BYTES = 40;

    private Head() {}

    static MessageInfo read(int buffer) {
        return read(fetch(buffer));
    }

    static long left(int buffer) {
        return fetch(buffer)[4];
    }

    static MessageInfo read(long[] words) {
        Encoding encoding = first(words[2]) == Encoding.RAW.number() ? Encoding.RAW : Encoding.DEFAULT;
        return new MessageInfo(first(words[0]), first(words[1]), second(words[1]), encoding, words[3]);
    }

    private static long[] fetch(int buffer) {
        long[] words = new long[BYTES / 8];
        try {
            Calls.check((int) Calls.INFO.invokeExact(buffer, MemorySegment.ofArray(words)), "the head of a message");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return words;
    }

    /** The int at the lower address of two that lie in a word. */
    private static int first(long word) {
        return (int) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? word : word >>> 32);
    }

    private static int second(long word) {
        return (int) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? word >>> 32 : word);
    }

    /** The same from memory of the library. */
    static MessageInfo read(MemorySegment struct) {
        return read(struct.asSlice(0, BYTES).toArray(ValueLayout.JAVA_LONG));
    }
}
