// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Native memory through which answers and small items go. A small array is copied here first: to hand a call the array
 * itself costs some 300 ns more (JDK 25), which is only little beside a large one. Each platform thread has one; virtual
 * threads, of which there may be a million, share a few.
 */
final class Scratch {
    /** Bytes for items. */
    static final int ITEMS = 4096;
    /** Bytes for answers. */
    static final int ANSWER = 128;
    private static final int SHARED = 16;
    private static final AtomicReferenceArray<Scratch> FREE = new AtomicReferenceArray<>(SHARED);
    private static final ThreadLocal<Scratch> OWN = ThreadLocal.withInitial(() -> new Scratch(false));

    private final boolean shared;
    private final MemorySegment answer;
    private final MemorySegment items;

    private Scratch(boolean shared) {
        this.shared = shared;
        MemorySegment all = Arena.ofAuto().allocate(ANSWER + ITEMS, ANSWER);
        answer = all.asSlice(0, ANSWER);
        items = all.asSlice(ANSWER);
    }

    /** For the answers of a call: {@link #ANSWER} bytes. */
    MemorySegment answer() {
        return answer;
    }

    /** For items: {@link #ITEMS} bytes. */
    MemorySegment items() {
        return items;
    }

    /** One that nobody else uses until it is given back. A thread takes one at a time. */
    static Scratch take() {
        if (!Thread.currentThread().isVirtual()) {
            return OWN.get();
        }
        Scratch kept = FREE.getAndSet(place(), null);
        return kept == null ? new Scratch(true) : kept;
    }

    void give() {
        if (shared) {
            FREE.set(place(), this);
        }
    }

    private static int place() {
        return (int) (Thread.currentThread().threadId() % SHARED);
    }
}
