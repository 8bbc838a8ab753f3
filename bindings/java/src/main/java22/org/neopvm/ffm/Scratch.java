// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A few bytes of native memory for the answer of a call that waits. Kept for the next call, as asking the C library
 * for them costs more than the call.
 */
final class Scratch {
    private static final int BYTES = 64;
    private static final int KEPT = 16;
    private static final AtomicReferenceArray<Scratch> FREE = new AtomicReferenceArray<>(KEPT);

    private final MemorySegment segment = Arena.ofAuto().allocate(BYTES, 8);

    private Scratch() {}

    MemorySegment segment() {
        return segment;
    }

    static Scratch take() {
        int place = place();
        Scratch kept = FREE.getPlain(place) == null ? null : FREE.getAndSet(place, null);
        return kept == null ? new Scratch() : kept;
    }

    void give() {
        FREE.set(place(), this);
    }

    private static int place() {
        return (int) (Thread.currentThread().threadId() % KEPT);
    }
}
