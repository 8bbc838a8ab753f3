// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.neopvm.PvmException;

/** An ask that waits for its answer. */
final class Pending {
    private final int id;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();
    private List<byte[]> parts;
    private long partsSize;

    Pending(int id) {
        this.id = id;
    }

    /** The number of its frame. */
    int id() {
        return id;
    }

    /** Bytes of a body that come ahead of it. */
    void add(byte[] part, int limit) {
        if (parts == null) {
            parts = new ArrayList<>();
        }
        partsSize += part.length;
        if (partsSize > limit) {
            throw new BadBytes("a message of more than 2 GB");
        }
        parts.add(part);
    }

    void answer(int kind, Reader content) {
        answer.complete(new Answer(kind, content, parts == null ? List.of() : parts));
    }

    void fail(PvmException why) {
        answer.completeExceptionally(why);
    }

    /** To be completed by the thread that reads: what depends on it must not wait for an answer. */
    CompletableFuture<Answer> future() {
        return answer;
    }

    /** Waits for the answer, whatever interrupts. */
    Answer await() {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw failure(e.getCause());
        }
    }

    /** Waits for the answer until it comes or the thread is interrupted. */
    Answer awaitInterruptibly() throws InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        }
    }

    /** With the place in the program that waited. */
    private static PvmException failure(Throwable cause) {
        if (cause instanceof PvmException known) {
            return new PvmException(known.code(), "waiting for the host", known);
        }
        throw new IllegalStateException(cause);
    }
}
