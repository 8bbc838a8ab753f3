// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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

    private static long descriptors() throws Exception {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    @Test
    void aConnectionThatIsClosedLeavesNoDescriptorOpen() throws Exception {
        try (Pvm first = Machine.connect()) {
            assertTrue(first.isOpen());
        }
        long before = descriptors();
        for (int i = 0; i < 100; i++) {
            Machine.connect().close();
        }
        long after = descriptors();
        assertTrue(after < before + 50, before + " descriptors before, " + after + " after 100 connections");
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
    void anotherClassLoaderThatClosesEndsNobodyElse() throws Exception {
        try (Pvm pvm = Machine.connect()) {
            for (int i = 0; i < 3; i++) {
                URL jar = Path.of(System.getProperty("test.jar")).toUri().toURL();
                try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader())) {
                    Object other = loader.loadClass("org.neopvm.Pvm").getMethod("connect").invoke(null);
                    int self = (int) call(call(other, "self"), "number");
                    assertEquals(pvm.engine().equals("native"), self == pvm.self().number());
                    call(other, "close");
                }
                assertTrue(pvm.isOpen());
                pvm.message().put(i).to(pvm.self(), 3);
                try (Message message = Machine.receive(pvm, pvm.self(), 3)) {
                    assertEquals(i, message.getInt());
                }
                assertTrue(pvm.isAlive(pvm.self()));
            }
        }
    }

    /** The lines of {@code pvm ps} that show this process: tasks that it is, as the machine sees it. */
    private static Set<String> own() throws Exception {
        Process process = new ProcessBuilder(System.getenv("PVM_ROOT") + "/bin/pvm", "ps", "--json")
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), told);
        return Arrays.stream(told.split("[{}]"))
                .filter(task -> task.matches("(?s).*\"pid\": ?" + ProcessHandle.current().pid() + "\\b.*"))
                .collect(Collectors.toSet());
    }

    @Test
    void whoLeavesWhileOthersWorkIsNoTaskAnyMore() throws Exception {
        for (int round = 0; round < 30; round++) {
            Pvm pvm = Machine.connect();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                int kind = i;
                Thread thread = new Thread(() -> work(pvm, kind));
                thread.start();
                threads.add(thread);
            }
            Thread.sleep(5 + round % 7);
            pvm.leave();
            for (Thread thread : threads) {
                thread.join(Machine.LONG.toMillis());
                assertTrue(!thread.isAlive(), "somebody waits for ever");
            }
            assertEquals(Set.of(), own(), "a task that nobody holds, in round " + round);
        }
    }

    private static void work(Pvm pvm, int kind) {
        try {
            for (;;) {
                switch (kind % 3) {
                    case 0 -> pvm.message().put(kind).to(pvm.self(), 10 + kind);
                    case 1 -> pvm.poll(TaskId.ANY, 10 + kind - 1).ifPresent(Message::close);
                    default -> pvm.receive(TaskId.ANY, 99, java.time.Duration.ofMillis(1)).ifPresent(Message::close);
                }
            }
        } catch (PvmException | InterruptedException e) {
            // It has left.
        }
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

    @Test
    void aThreadThatIsInterruptedFindsTheMachine() {
        Thread.currentThread().interrupt();
        try (Pvm pvm = Machine.connect()) {
            assertTrue(Thread.interrupted(), "it is still interrupted");
            assertTrue(pvm.isOpen());
        } finally {
            Thread.interrupted();
        }
    }

    @Test
    void aThreadThatIsInterruptedStartsNoMachine() throws Exception {
        Set<ProcessHandle> before = ProcessHandle.current().children().collect(Collectors.toSet());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, Starter::start);
        assertTrue(before.containsAll(ProcessHandle.current().children().toList()), "pvm up runs");
    }

    @Test
    void toAskWhetherAConnectionIsOpenDoesNotWaitForMessages() throws Exception {
        try (Pvm pvm = Machine.connect()) {
            long begin = System.nanoTime();
            for (int i = 0; i < 20_000; i++) {
                assertTrue(pvm.isOpen());
            }
            // A wait of a millisecond each makes more than 20 s.
            assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(15));
        }
    }

    @Test
    void aProgramOfModulesConnects() throws Exception {
        List<String> options = new ArrayList<>(List.of("-p", System.getProperty("test.jar"), "--add-modules", "org.neopvm",
                "--limit-modules", "java.base,org.neopvm"));
        if (Runtime.version().feature() >= 22) {
            options.add("--enable-native-access=org.neopvm");
        }
        String told = Machine.java(modular.ModuleChild.class, options, Map.of());
        assertTrue(told.contains("all is well"), told);
    }
}
