// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.neopvm.engine.Incoming;

/** A message that somebody waits for without a thread. A wait that is given up loses no message. */
final class Arrival extends CompletableFuture<Incoming> {
    private final Connection connection;
    private final Pending question;
    private final CompletableFuture<WireIncoming> message;

    /** Waits for the answer to a receive; what depends on it runs in {@code executor}. */
    Arrival(Connection connection, Pending question, String what, Executor executor) {
        this.connection = connection;
        this.question = question;
        message = question.future().thenApply(answer -> answer.message(() -> what));
        message.whenCompleteAsync(this::finish, executor);
    }

    /** Nothing came only where the wait was given up. */
    private void finish(WireIncoming found, Throwable failure) {
        if (failure != null) {
            super.completeExceptionally(failure instanceof CompletionException ? failure.getCause() : failure);
        } else if (found != null) {
            super.complete(found);
        }
    }

    /** True if no message was taken for it, and none will be. */
    private boolean withdraw() {
        if (isDone()) {
            return false;
        }
        connection.tell(question.id(), new Writer().u16(WireEngine.CANCEL));
        try {
            WireIncoming found = message.join();
            finish(found, null);
            return found == null;
        } catch (CompletionException e) {
            finish(null, e);
            return false;
        }
    }

    @Override
    public boolean cancel(boolean interrupt) {
        return withdraw() && super.cancel(interrupt);
    }

    @Override
    public boolean complete(Incoming value) {
        return withdraw() && super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable reason) {
        return withdraw() && super.completeExceptionally(reason);
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
