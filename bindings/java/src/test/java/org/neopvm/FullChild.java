// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Holds as many open messages as its process may, while others wait ({@link FullTest}). */
final class FullChild {
    private FullChild() {}

    public static void main(String[] arguments) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            Team team = pvm.spawn("/bin/sleep", List.of("600"), Place.ANYWHERE, 2).orThrow();
            CountDownLatch first = new CountDownLatch(1);
            CountDownLatch second = new CountDownLatch(1);
            pvm.onExit(team.tasks().subList(0, 1), exit -> first.countDown());
            pvm.onExit(team.tasks().subList(1, 2), exit -> second.countDown());
            List<CompletableFuture<Message>> waiting = new ArrayList<>();
            for (int tag = 100; tag < 140; tag++) {
                waiting.add(pvm.receiveAsync(TaskId.ANY, tag));
            }
            List<Message> held = fill(pvm);
            pvm.kill(team.tasks().get(0));
            check(first.await(120, TimeUnit.SECONDS), "a notice while messages hold all");
            pvm.message().put(1).to(pvm.self(), 139);
            try (Message small = waiting.remove(39).get(120, TimeUnit.SECONDS)) {
                check(small.getInt() == 1, "a small message comes");
            }
            check(pvm.receive(TaskId.ANY, 99, Duration.ofMillis(10)).isEmpty(), "nothing is there");
            check(waiting.stream().noneMatch(CompletableFuture::isDone), "for them nothing has come");
            pvm.message().put(new byte[100]).to(pvm.self(), 100);
            try {
                waiting.remove(0).get(120, TimeUnit.SECONDS);
                check(false, "more than it may hold");
            } catch (java.util.concurrent.ExecutionException e) {
                check(e.getCause() instanceof PvmException p && p.code() == Code.NO_MEM, e.toString());
            }
            held.forEach(Message::close);
            check(pvm.receive(pvm.self(), 100).getBytes(100).length == 100, "it was not taken");
            pvm.kill(team.tasks().get(1));
            check(second.await(120, TimeUnit.SECONDS), "a notice behind that");
            waiting.forEach(wait -> check(wait.cancel(false), "for nobody else anything came"));
            System.out.println("all is well");
        }
    }

    private static List<Message> fill(Pvm pvm) throws InterruptedException {
        List<Message> held = new ArrayList<>();
        try {
            for (;;) {
                pvm.message().put(new byte[1_000_000]).to(pvm.self(), 5);
                held.add(pvm.receive(pvm.self(), 5));
            }
        } catch (PvmException e) {
            check(e.code() == Code.NO_MEM && held.size() >= 4, e.toString());
            return held;
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
