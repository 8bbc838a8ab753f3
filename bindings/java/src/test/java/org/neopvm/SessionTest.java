// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The beginning and the end of being a task: nothing is left behind, and nobody is thrown out by another one. */
class SessionTest {
    /** Threads of this library's by their names. */
    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.startsWith("pvm-") || name.startsWith("neopvm-")).toList();
    }

    private static void eventually(String what, java.util.function.BooleanSupplier holds) throws InterruptedException {
        long end = System.nanoTime() + Machine.LONG.toNanos();
        while (!holds.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, what);
            Thread.sleep(20);
        }
    }

    @Test
    void whoLeavesTakesItsThreadsAlong() throws Exception {
        for (int i = 0; i < 40; i++) {
            try (Pvm pvm = Machine.connect()) {
                pvm.onHostsAdded(hosts -> {});
                pvm.receiveAsync(TaskId.ANY, 1);
                pvm.message().put(i).to(pvm.self(), 2);
                pvm.receiveAsync(TaskId.ANY, 2).get(Machine.LONG.toSeconds(), TimeUnit.SECONDS).close();
            }
        }
        eventually("threads are left: " + threads(), () -> threads().isEmpty());
    }

    @Test
    void requestsForNoticesEndWithTheirLastNotice() throws Exception {
        try (Pvm pvm = Machine.connect(); Watch watch = new Watch(pvm.transport())) {
            List<TaskId> gone = List.of(new TaskId(pvm.self().number() & ~0x3ffff | 0x3aaaa),
                    new TaskId(pvm.self().number() & ~0x3ffff | 0x3aaab));
            CountDownLatch told = new CountDownLatch(200);
            for (int i = 0; i < 100; i++) {
                watch.exits(gone, exit -> told.countDown());
            }
            assertTrue(told.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
            assertEquals(0, watch.open());
        }
    }

    private static Object call(Object on, String method) throws Exception {
        return on.getClass().getMethod(method).invoke(on);
    }

    /** Connects, sends to itself, receives, closes, with the classes of a loader of its own. */
    private static WeakReference<ClassLoader> loadAndLeave() throws Exception {
        URL jar = Path.of(System.getProperty("test.jar")).toUri().toURL();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader())) {
            Object other = loader.loadClass("org.neopvm.Pvm").getMethod("connect").invoke(null);
            Object self = call(other, "self");
            Object draft = call(other, "message");
            draft.getClass().getMethod("to", self.getClass(), int.class).invoke(draft, self, 4);
            Object future = other.getClass().getMethod("receiveAsync", self.getClass(), int.class).invoke(other, self, 4);
            call(((CompletableFuture<?>) future).get(Machine.LONG.toSeconds(), TimeUnit.SECONDS), "close");
            call(other, "close");
            return new WeakReference<>(loader);
        }
    }

    @Test
    void theClassesOfALoaderThatHasLeftAreUnloaded() throws Exception {
        WeakReference<ClassLoader> loader = loadAndLeave();
        eventually("its classes are still there", () -> {
            System.gc();
            return loader.get() == null;
        });
    }

    @Test
    void aLostDaemonIsSeenAndTheNextConnectionIsToTheNextMachine() throws Exception {
        Path folder = Files.createTempDirectory("neopvm-lost");
        try {
            String told = Machine.java(LostChild.class, List.of(), Map.of("PVM_TMP", folder.toString()));
            assertTrue(told.contains("all is well"), told);
        } finally {
            try (Stream<Path> all = Files.walk(folder)) {
                all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
            }
        }
    }

    @Test
    void aMessageOfAClosedConnectionIsNotBegun() {
        Pvm pvm = Machine.connect();
        pvm.close();
        assertEquals(Code.SYS_ERR, assertThrows(PvmException.class, pvm::message).code());
        assertTrue(!pvm.isOpen());
    }
}
