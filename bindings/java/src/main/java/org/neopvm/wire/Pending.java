// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.neopvm.Code;
import org.neopvm.PvmException;

/** An ask that waits for its answer. Only the thread that reads tells it what came. */
final class Pending {
    /** Arrays of Java are not longer. */
    static final int ARRAY_BYTES_MAX = Integer.MAX_VALUE - 64;
    /** Between two tries of what found no memory. */
    static final long PAUSE_NS = 10_000_000;

    private final int id;
    /** What it is answered with is taken: it must find memory. */
    private final boolean takes;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();
    /** Room for the body that was announced, and how much of it has come. */
    private byte[] body;
    private int bodySize;
    private boolean fetched;
    /** Why what was announced shall not come. */
    private Refused refusal;

    Pending(int id, boolean takes) {
        this.id = id;
        this.takes = takes;
    }

    /** The number of its frame. */
    int id() {
        return id;
    }

    /** True where a message that it is answered with is taken. */
    boolean takes() {
        return takes;
    }

    /** A failure of this question alone. */
    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1;
        final Code code;

        Refused(Code code, String what, Throwable cause) {
            super(what, cause, false, false);
            this.code = code;
        }
    }

    /**
     * A message is there whose body would come in parts. Nothing of it is taken before there is room for it. This can be
     * called again where there was no memory for what follows.
     *
     * @return true if it shall come; if not, {@link #refuse()} is to be called once the host knows it
     */
    boolean announce(Reader told) {
        if (body != null || refusal != null) {
            return body != null;
        }
        Envelope envelope = Envelope.read(told);
        long size = told.i64();
        String what = "a message of " + size + " bytes of t" + Integer.toHexString(envelope.source()) + " with tag "
                + envelope.tag() + ", which stays where it is";
        if (size < 0 || size > ARRAY_BYTES_MAX) {
            leave(Code.OVERFLOW, what, null);
            return false;
        }
        try {
            body = new byte[(int) size];
            return true;
        } catch (OutOfMemoryError e) {
            leave(Code.NO_MEM, what, e);
            return false;
        }
    }

    /** What was announced shall not come: its room is free. */
    void leave(Code code, String what, Throwable cause) {
        body = null;
        refusal = new Refused(code, what, cause);
    }

    /** Fails it for the reason that {@link #leave} was told. */
    void refuse() {
        answer.completeExceptionally(refusal);
    }

    /** Fails it; what still comes for it is passed over. */
    void refuse(Code code, String what, Throwable cause) {
        body = null;
        answer.completeExceptionally(new Refused(code, what, cause));
    }

    /** True while bytes of a body are expected. */
    boolean isComing() {
        return body != null;
    }

    /** The host was told to send what it has announced. */
    void fetched() {
        fetched = true;
    }

    boolean isFetched() {
        return fetched;
    }

    /** Bytes of a body that come ahead of it; nobody wants them where it was refused meanwhile. */
    void add(Reader part) {
        if (body == null && fetched) {
            return;
        }
        if (body == null) {
            throw new BadBytes("part of a message that was not announced");
        }
        bodySize = part.blob(body, bodySize);
    }

    void answer(int kind, Reader content) {
        if (body != null && bodySize != body.length) {
            refuse(Code.D_SYS_ERR, "a body that is shorter than it was said to be", null);
        }
        answer.complete(new Answer(kind, content, body));
    }

    void fail(PvmException why) {
        answer.completeExceptionally(why);
    }

    /** To be completed by the thread that reads: what depends on it must not wait for an answer. */
    CompletableFuture<Answer> future() {
        return answer;
    }

    /** Waits for the answer, whatever interrupts, and also where memory for waiting is short: it may be a message. */
    Answer await() {
        for (;;) {
            try {
                return answer.join();
            } catch (CompletionException e) {
                throw failure(e.getCause());
            } catch (OutOfMemoryError e) {
                // Again: a collection of garbage has gone before, which takes its time.
            }
        }
    }

    /** Waits for the answer until it comes or the thread is interrupted. */
    Answer awaitInterruptibly() throws InterruptedException {
        for (;;) {
            try {
                return answer.get();
            } catch (ExecutionException e) {
                throw failure(e.getCause());
            } catch (OutOfMemoryError e) {
                // Again: a collection of garbage has gone before, which takes its time.
            }
        }
    }

    /** With the place in the program that waited. */
    static PvmException failure(Throwable cause) {
        if (cause instanceof Refused refused) {
            return new PvmException(refused.code, refused.getMessage(), refused.getCause());
        }
        if (cause instanceof PvmException known) {
            return new PvmException(known.code(), "waiting for the host", known);
        }
        throw new IllegalStateException(cause);
    }
}
