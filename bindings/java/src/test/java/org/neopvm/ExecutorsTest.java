// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An executor of the program's own may fail, run what it gets in its caller, or make its caller wait. */
class ExecutorsTest extends Connected {
    private static <T> T of(CompletableFuture<T> future) throws Exception {
        return future.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private static int read(Message message) {
        try (message) {
            return message.getInt();
        }
    }

    @Test
    void anExecutorThatThrowsAnErrorLosesNoMessageOfAnybody() throws Exception {
        Executor bad = task -> {
            throw new OutOfMemoryError("unable to create native thread (made up)");
        };
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int tag = 300; tag < 320; tag++) {
            CompletableFuture<Message> future =
                    tag % 10 == 0 ? pvm.receiveAsync(TaskId.ANY, tag, bad) : pvm.receiveAsync(TaskId.ANY, tag);
            futures.add(future.thenApply(ExecutorsTest::read));
        }
        for (int tag = 300; tag < 320; tag++) {
            pvm.message().put(tag).to(pvm.self(), tag);
        }
        for (int i = 0; i < futures.size(); i++) {
            assertEquals(300 + i, of(futures.get(i)));
        }
        // One that is here already.
        pvm.message().put(9).to(pvm.self(), 320);
        assertEquals(9, of(pvm.receiveAsync(TaskId.ANY, 320, bad).thenApply(ExecutorsTest::read)));
    }

    /** A dependent that sends, and then waits for the answer; others receive meanwhile. */
    private void sendsAndWaits(Executor executor) throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        CompletableFuture<Integer> sum = pvm.receiveAsync(TaskId.ANY, 330, executor).thenApply(message -> {
            pvm.message().put(read(message) + 1).to(pvm.self(), 331);
            CompletableFuture<Message> second = pvm.receiveAsync(TaskId.ANY, 332, executor);
            waits.countDown();
            return read(second.join());
        });
        CompletableFuture<Integer> other = pvm.receiveAsync(TaskId.ANY, 333).thenApply(ExecutorsTest::read);
        pvm.message().put(1).to(pvm.self(), 330);
        assertEquals(2, read(Machine.receive(pvm, pvm.self(), 331)));
        assertTrue(waits.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        pvm.message().put(3).to(pvm.self(), 333);
        assertEquals(3, of(other));
        assertFalse(sum.isDone());
        pvm.message().put(4).to(pvm.self(), 332);
        assertEquals(4, of(sum));
    }

    @Test
    void anExecutorThatRunsInItsCallerStopsNobody() throws Exception {
        sendsAndWaits(Runnable::run);
    }

    @Test
    void aPoolThatIsFullAndRunsInItsCallerStopsNobody() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1),
                new ThreadPoolExecutor.CallerRunsPolicy());
        CountDownLatch free = new CountDownLatch(1);
        try {
            pool.execute(() -> {
                try {
                    free.await();
                } catch (InterruptedException e) {
                    // the end
                }
            });
            pool.execute(() -> {});
            sendsAndWaits(pool);
        } finally {
            free.countDown();
            pool.shutdown();
        }
    }

    @Test
    void anExecutorThatMakesItsCallerWaitStopsNobodyElse() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        Semaphore slots = new Semaphore(1);
        Executor bounded = task -> {
            slots.acquireUninterruptibly();
            threads.execute(() -> {
                try {
                    task.run();
                } finally {
                    slots.release();
                }
            });
        };
        try {
            CountDownLatch begun = new CountDownLatch(1);
            CompletableFuture<Integer> first = pvm.receiveAsync(TaskId.ANY, 340, bounded).thenApply(message -> {
                CompletableFuture<Integer> inner = pvm.receiveAsync(TaskId.ANY, 341).thenApply(ExecutorsTest::read);
                begun.countDown();
                return read(message) + inner.join();
            });
            CompletableFuture<Integer> third = pvm.receiveAsync(TaskId.ANY, 342, bounded).thenApply(ExecutorsTest::read);
            pvm.message().put(1).to(pvm.self(), 340);
            assertTrue(begun.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
            pvm.message().put(3).to(pvm.self(), 342);
            pvm.message().put(2).to(pvm.self(), 341);
            assertEquals(3, of(first));
            assertEquals(3, of(third));
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void whatDependsOnMessagesRunsInTheirOrderOnAnExecutorOfOneThread() throws Exception {
        ExecutorService one = Executors.newSingleThreadExecutor();
        try {
            List<Integer> order = new ArrayList<>();
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                all.add(pvm.receiveAsync(pvm.self(), 350, one).thenAccept(message -> order.add(read(message))));
            }
            for (int i = 0; i < 200; i++) {
                pvm.message().put(i).to(pvm.self(), 350);
            }
            for (CompletableFuture<Void> each : all) {
                of(each);
            }
            assertEquals(IntStream.range(0, 200).boxed().toList(), order);
        } finally {
            one.shutdown();
        }
    }
}
