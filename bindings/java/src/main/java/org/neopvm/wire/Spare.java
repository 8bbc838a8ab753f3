// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Room for one message that comes in one piece. Such a message is taken when it comes, so where no other memory can be
 * had for it, it comes here; before the next one is asked for there is a spare again.
 */
final class Spare {
    /** A message that is not cut, with all that is around it. */
    private static final int BYTES = Connection.PART_BYTES_MAX + 4096;

    /**
     * For the small things that are wanted around a message, down to the one that the program gets: so large that G1 keeps
     * it in a region of its own, which is what small things need.
     */
    private static final int BALLAST_BYTES = 600 << 10;
    /** From this size on a message may have taken the last region. */
    private static final int LARGE_BYTES = 256 << 10;

    private final AtomicReference<byte[]> room = new AtomicReference<>();
    private volatile byte[] ballast;
    /** Memory was short: what is free now is for small things. */
    private volatile boolean tight;

    /** Has what is needed for one more message; OutOfMemoryError where that cannot be had. */
    void makeSure() {
        if (ballast == null) {
            ballast = new byte[BALLAST_BYTES];
        }
        if (room.get() == null) {
            room.compareAndSet(null, new byte[BYTES]);
        }
        if (tight) {
            // These two must not have been the last that could be had.
            tight = new byte[BALLAST_BYTES].length == 0;
        }
    }

    /** The spare, which is the caller's then; null where there is none, or it is too small. */
    byte[] take(int bytes) {
        drop(false);
        return bytes > BYTES ? null : room.getAndSet(null);
    }

    /** True where a message had better come to the spare at once. */
    boolean isTight() {
        return tight;
    }

    /** A message has come: if it has filled what memory there was, what follows it finds some. */
    void came(int bytes) {
        if (bytes >= LARGE_BYTES) {
            ballast = null;
        }
    }

    /** Not even small things find memory: they find that of the ballast, or of the room as well. */
    void drop(boolean roomToo) {
        ballast = null;
        tight = true;
        if (roomToo) {
            room.set(null);
        }
    }
}
