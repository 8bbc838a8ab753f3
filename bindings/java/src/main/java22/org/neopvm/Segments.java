// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.lang.foreign.MemorySegment;
import org.neopvm.engine.Kind;
import org.neopvm.ffm.Lying;
import org.neopvm.ffm.NativeExposure;
import org.neopvm.ffm.NativeOutgoing;

/**
 * Returns memory of messages as segments of any size, for Java 22 and newer. With the wire engine
 * the segments are made from buffers, which end at 2 GiB.
 */
public final class Segments {
    private Segments() {}

    /** Does what {@link Message#view} does, and returns a segment. */
    public static MemorySegment view(Message message, Kind kind, long count) {
        if (count >= 0 && message.incoming() instanceof Lying incoming) {
            MemorySegment items = incoming.segment(kind, count);
            if (items != null) {
                return items;
            }
            throw new PvmException(Code.NOT_IMPL, "a view of " + count + " " + kind + " of the " + message.info());
        }
        return MemorySegment.ofBuffer(message.view(kind, number(count)));
    }

    /** Does what {@link Draft#allocate} does, and returns a segment. */
    public static MemorySegment allocate(Draft draft, Kind kind, long count) {
        if (count >= 0 && draft.outgoing() instanceof NativeOutgoing outgoing) {
            MemorySegment items = outgoing.segment(kind, count);
            if (items != null) {
                return items;
            }
        }
        return MemorySegment.ofBuffer(draft.allocate(kind, number(count)));
    }

    /**
     * Returns all of the exposed memory. Using it throws {@link IllegalStateException} once it has
     * been withdrawn.
     */
    public static MemorySegment of(Exposed exposed) {
        return exposed.exposure() instanceof NativeExposure exposure
                ? exposure.segment()
                : MemorySegment.ofBuffer(exposed.buffer());
    }

    private static int number(long count) {
        if (count < 0 || count > Integer.MAX_VALUE) {
            throw new PvmException(Code.BAD_PARAM, count + " items");
        }
        return (int) count;
    }
}
