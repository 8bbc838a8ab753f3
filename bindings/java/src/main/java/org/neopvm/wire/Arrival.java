// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Withdrawable;

/** A message that somebody waits for without a thread. A wait that is given up loses no message. */
final class Arrival extends Withdrawable<Incoming> {
    private final Connection connection;
    private final Pending question;
    private final CompletableFuture<WireIncoming> message;
    private final AtomicBoolean withdrawn = new AtomicBoolean();
    private WireIncoming found;
    private Throwable failure;

    /** Waits for the answer to a receive; what depends on it runs in {@code executor}. */
    Arrival(Connection connection, Pending question, String what, Executor executor) {
        super(executor);
        this.connection = connection;
        this.question = question;
        message = question.future().thenApply(answer -> answer.message(() -> what));
        message.whenComplete((some, none) -> {
            // Nothing came only where the wait was given up.
            if (some != null || none != null) {
                found = some;
                failure = none;
                tell();
            }
        });
    }

    @Override
    protected void tellNow() {
        if (found != null) {
            fulfil(found);
        } else {
            fail(Pending.failure(failure instanceof CompletionException ? failure.getCause() : failure));
        }
    }

    @Override
    protected boolean withdraw() {
        if (isDone()) {
            return false;
        }
        connection.tell(question.id(), new Writer().u16(Connection.CANCEL));
        try {
            return message.join() == null && withdrawn.compareAndSet(false, true);
        } catch (CompletionException e) {
            return false;
        }
    }
}
