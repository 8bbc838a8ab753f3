// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A future of something that is taken once, as a message is. Whoever cancels it or completes it in another way gives the
 * wait up first; that fails, and changes nothing, where the thing was taken already: it must not be lost.
 *
 * <p>What is made dependent on it when it is complete already is run by its executor, too, and not by the caller: a loop
 * of futures over things that are here would go one level deeper with each of them.
 */
public abstract class Withdrawable<T> extends CompletableFuture<T> {
    private final Executor executor;
    private final Lane.Item telling;

    /**
     * One that waits.
     *
     * @param executor runs what depends on it; null where nothing does
     */
    protected Withdrawable(Executor executor) {
        this.executor = executor == null ? null : task -> Dependents.run(executor, task);
        telling = executor == null ? null : new Lane.Item(executor);
    }

    /** Has {@link #tellNow} run where the dependents run, once. */
    protected final void tell() {
        if (telling == null) {
            tellNow();
        } else {
            telling.tell(this);
        }
    }

    /** Tells what was taken, by {@link #fulfil} or {@link #fail}. */
    protected abstract void tellNow();

    /** Gives the wait up: true if nothing was taken for it, and nothing will be. At most one call gets true. */
    protected abstract boolean withdraw();

    /** Completes it with what was taken. */
    protected final void fulfil(T value) {
        super.complete(value);
    }

    /** Completes it with the failure of the wait itself. */
    protected final void fail(Throwable reason) {
        super.completeExceptionally(reason);
    }

    @Override
    public boolean cancel(boolean interrupt) {
        return withdraw() && super.cancel(interrupt);
    }

    @Override
    public boolean complete(T value) {
        return withdraw() && super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable reason) {
        return withdraw() && super.completeExceptionally(reason);
    }

    /** By {@link #complete}, which the inherited one passes by. */
    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        executor.execute(() -> {
            try {
                if (!isDone()) {
                    complete(supplier.get());
                }
            } catch (Throwable e) {
                completeExceptionally(e);
            }
        });
        return this;
    }

    @Override
    public void obtrudeValue(T value) {
        withdraw();
        super.obtrudeValue(value);
    }

    @Override
    public void obtrudeException(Throwable reason) {
        withdraw();
        super.obtrudeException(reason);
    }

    /** What depends on it is a plain future. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }

    /** True where a dependent would be run at once, by the caller. */
    private boolean isAtOnce() {
        return executor != null && isDone();
    }

    @Override
    public <U> CompletableFuture<U> thenApply(Function<? super T, ? extends U> f) {
        return isAtOnce() ? thenApplyAsync(f, executor) : super.thenApply(f);
    }

    @Override
    public CompletableFuture<Void> thenAccept(Consumer<? super T> f) {
        return isAtOnce() ? thenAcceptAsync(f, executor) : super.thenAccept(f);
    }

    @Override
    public CompletableFuture<Void> thenRun(Runnable f) {
        return isAtOnce() ? thenRunAsync(f, executor) : super.thenRun(f);
    }

    @Override
    public <U, V> CompletableFuture<V> thenCombine(
            CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends V> f) {
        return isAtOnce() ? thenCombineAsync(other, f, executor) : super.thenCombine(other, f);
    }

    @Override
    public <U> CompletableFuture<Void> thenAcceptBoth(
            CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f) {
        return isAtOnce() ? thenAcceptBothAsync(other, f, executor) : super.thenAcceptBoth(other, f);
    }

    @Override
    public CompletableFuture<Void> runAfterBoth(CompletionStage<?> other, Runnable f) {
        return isAtOnce() ? runAfterBothAsync(other, f, executor) : super.runAfterBoth(other, f);
    }

    @Override
    public <U> CompletableFuture<U> applyToEither(CompletionStage<? extends T> other, Function<? super T, U> f) {
        return isAtOnce() ? applyToEitherAsync(other, f, executor) : super.applyToEither(other, f);
    }

    @Override
    public CompletableFuture<Void> acceptEither(CompletionStage<? extends T> other, Consumer<? super T> f) {
        return isAtOnce() ? acceptEitherAsync(other, f, executor) : super.acceptEither(other, f);
    }

    @Override
    public CompletableFuture<Void> runAfterEither(CompletionStage<?> other, Runnable f) {
        return isAtOnce() ? runAfterEitherAsync(other, f, executor) : super.runAfterEither(other, f);
    }

    @Override
    public <U> CompletableFuture<U> thenCompose(Function<? super T, ? extends CompletionStage<U>> f) {
        return isAtOnce() ? thenComposeAsync(f, executor) : super.thenCompose(f);
    }

    @Override
    public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> f) {
        return isAtOnce() ? whenCompleteAsync(f, executor) : super.whenComplete(f);
    }

    @Override
    public <U> CompletableFuture<U> handle(BiFunction<? super T, Throwable, ? extends U> f) {
        return isAtOnce() ? handleAsync(f, executor) : super.handle(f);
    }

    @Override
    public CompletableFuture<T> exceptionally(Function<Throwable, ? extends T> f) {
        return isAtOnce() ? exceptionallyAsync(f, executor) : super.exceptionally(f);
    }

    @Override
    public CompletableFuture<T> exceptionallyCompose(Function<Throwable, ? extends CompletionStage<T>> f) {
        return isAtOnce() ? exceptionallyComposeAsync(f, executor) : super.exceptionallyCompose(f);
    }
}
