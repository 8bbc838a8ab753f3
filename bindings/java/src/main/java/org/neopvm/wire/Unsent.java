// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.List;

/** The bytes that are to be sent and were not taken yet, in their order. One thread at a time. */
final class Unsent {
    /** The kernel takes so many pieces at once. */
    private static final int PIECES = 16;

    private final ArrayDeque<ByteBuffer> pieces = new ArrayDeque<>();

    boolean isEmpty() {
        return pieces.isEmpty();
    }

    void add(List<ByteBuffer> more) {
        pieces.addAll(more);
    }

    /** Writes what the channel takes now; true if that was all. */
    boolean write(GatheringByteChannel channel) throws IOException {
        while (!pieces.isEmpty()) {
            ByteBuffer[] next = pieces.stream().limit(PIECES).toArray(ByteBuffer[]::new);
            channel.write(next);
            for (ByteBuffer piece : next) {
                // Any may be empty, so the last one does not tell whether all were taken.
                if (piece.hasRemaining()) {
                    return false;
                }
                pieces.remove();
            }
        }
        return true;
    }
}
