// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Keeps the handles of all messages alive, so that Java tells of those whose message was forgotten. A handle's place is
 * its buffer's number, which nobody else has meanwhile, so that threads do not meet here. The library gives out small
 * numbers first; those beyond a million buffers at once are in a map.
 */
final class Kept {
    private static final int CHUNK_BITS = 10;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int CHUNKS = 1024;
    private static final AtomicReferenceArray<AtomicReferenceArray<Handle>> PLACES = new AtomicReferenceArray<>(CHUNKS);
    private static final Map<Integer, Handle> BEYOND = new ConcurrentHashMap<>();

    private Kept() {}

    static void put(int number, Handle handle) {
        AtomicReferenceArray<Handle> chunk = chunk(number);
        if (chunk != null) {
            chunk.setPlain(number % CHUNK, handle);
        } else {
            BEYOND.put(number, handle);
        }
    }

    static void remove(int number) {
        AtomicReferenceArray<Handle> chunk = chunk(number);
        if (chunk != null) {
            chunk.setPlain(number % CHUNK, null);
        } else {
            BEYOND.remove(number);
        }
    }

    private static AtomicReferenceArray<Handle> chunk(int number) {
        int index = number >> CHUNK_BITS;
        if (index >= CHUNKS) {
            return null;
        }
        AtomicReferenceArray<Handle> chunk = PLACES.get(index);
        if (chunk == null) {
            PLACES.compareAndSet(index, null, new AtomicReferenceArray<>(CHUNK));
            chunk = PLACES.get(index);
        }
        return chunk;
    }
}
