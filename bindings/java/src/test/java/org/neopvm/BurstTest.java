// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Much at once for futures and callbacks, and dependents that wait: nothing is lost, nothing stands still. */
class BurstTest extends Connected {
    private static void await(CountDownLatch latch, String what) throws InterruptedException {
        assertTrue(latch.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS),
                () -> what + ": " + latch.getCount() + " are missing");
    }

    @Test
    void threeThousandExitsAtOnceAreToldAndLaterOnesToo() throws Exception {
        // They are gone when they are asked for: all notices come at once.
        List<TaskId> gone = new ArrayList<>();
        int host = pvm.self().number() & ~0x3ffff;
        for (int i = 0; i < 3000; i++) {
            gone.add(new TaskId(host | 0x30000 | i));
        }
        CountDownLatch told = new CountDownLatch(gone.size());
        pvm.onExit(gone, exit -> told.countDown());
        await(told, "exits");
        CountDownLatch later = new CountDownLatch(1);
        pvm.onExit(List.of(gone.get(7)), exit -> later.countDown());
        await(later, "a later exit");
    }

    @Test
    void aLoopOfFuturesTakesTwentyThousandMessagesThatWait() throws Exception {
        int messages = 20_000;
        for (int i = 0; i < messages; i++) {
            pvm.message().put(i).to(pvm.self(), 61);
        }
        CountDownLatch taken = new CountDownLatch(messages);
        AtomicInteger deepest = new AtomicInteger();
        next(taken, deepest);
        await(taken, "messages");
        assertTrue(deepest.get() < 500, deepest + " frames deep");
        assertTrue(pvm.poll(TaskId.ANY, 61).isEmpty());
    }

    private void next(CountDownLatch taken, AtomicInteger deepest) {
        pvm.receiveAsync(TaskId.ANY, 61).thenAccept(message -> {
            try (message) {
                deepest.accumulateAndGet(Thread.currentThread().getStackTrace().length, Math::max);
            }
            taken.countDown();
            if (taken.getCount() > 0) {
                next(taken, deepest);
            }
        }).whenComplete((done, failure) -> {
            if (failure != null) {
                failure.printStackTrace();
            }
        });
    }

    @Test
    void aDependentThatWaitsForAMessageStopsNobody() throws Exception {
        CompletableFuture<Integer> sum = pvm.receiveAsync(TaskId.ANY, 62)
                .thenApply(first -> read(first) + read(pvm.receiveAsync(TaskId.ANY, 63).join()));
        CompletableFuture<Message> other = pvm.receiveAsync(TaskId.ANY, 64);
        pvm.message().put(1).to(pvm.self(), 62);
        pvm.message().put(5).to(pvm.self(), 64);
        assertEquals(5, read(other.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS)));
        assertFalse(sum.isDone());
        pvm.message().put(2).to(pvm.self(), 63);
        assertEquals(3, sum.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
    }

    @Test
    void dependentsThatWaitForEachOtherAllRun() throws Exception {
        int many = 40;
        CountDownLatch inside = new CountDownLatch(many);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            all.add(pvm.receiveAsync(TaskId.ANY, 65).thenAccept(message -> {
                message.close();
                inside.countDown();
                try {
                    await(inside, "dependents");
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
        }
        for (int i = 0; i < many; i++) {
            pvm.message().to(pvm.self(), 65);
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .get(Machine.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void dependentsRunOnTheExecutorOfTheProgram() throws Exception {
        ExecutorService own = Executors.newSingleThreadExecutor(run -> new Thread(run, "own"));
        try {
            CompletableFuture<String> where = pvm.receiveAsync(TaskId.ANY, 66, own).thenApply(message -> {
                message.close();
                return Thread.currentThread().getName();
            });
            pvm.message().to(pvm.self(), 66);
            assertEquals("own", where.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        } finally {
            own.shutdown();
        }
        assertTrue(own.awaitTermination(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        // It refuses: the message is not lost.
        CompletableFuture<Message> after = pvm.receiveAsync(TaskId.ANY, 66, own);
        CompletableFuture<Message> never = pvm.receiveAsync(TaskId.ANY, 66, task -> {
            throw new RejectedExecutionException("on purpose");
        });
        pvm.message().put(1).to(pvm.self(), 66);
        pvm.message().put(2).to(pvm.self(), 66);
        assertEquals(1, read(after.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS)));
        assertEquals(2, read(never.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS)));
    }

    @Test
    void aFutureThatIsCompletedElsewhereTakesNoMessage() throws Exception {
        CompletableFuture<Message> future = pvm.receiveAsync(TaskId.ANY, 67);
        future.completeAsync(() -> null).get(Machine.LONG.toSeconds(), TimeUnit.SECONDS);
        CompletableFuture<Message> obtruded = pvm.receiveAsync(TaskId.ANY, 67);
        obtruded.obtrudeException(new IllegalStateException("on purpose"));
        pvm.message().put(7).to(pvm.self(), 67);
        assertEquals(7, read(Machine.receive(pvm, TaskId.ANY, 67)));
    }

    @Test
    void aCallbackThatThrowsAnErrorKeepsOthersFromNothing() throws Exception {
        TaskId gone = new TaskId(pvm.self().number() & ~0x3ffff | 0x3abcd);
        pvm.onExit(List.of(gone), exit -> {
            throw new StackOverflowError("on purpose");
        });
        CountDownLatch told = new CountDownLatch(1);
        pvm.onExit(List.of(gone), exit -> told.countDown());
        await(told, "exits");
        assertNotEquals(0, gone.number());
    }

    private static int read(Message message) {
        try (message) {
            return message.getInt();
        }
    }
}
