// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** What the tests need of the machine that {@code check.sh} has started for them. */
final class Machine {
    /** Nothing here takes this long, however busy the computer is. */
    static final Duration LONG = Duration.ofSeconds(Integer.getInteger("test.long", 120));
    private static final AtomicInteger NAMES = new AtomicInteger();

    private Machine() {}

    static Pvm connect() {
        if (System.getenv("PVM_TMP") == null) {
            throw new IllegalStateException("these tests need a machine of their own: run bindings/java/check.sh");
        }
        return Pvm.connect();
    }

    static String program(String name) {
        return System.getProperty("test.programs") + "/" + name;
    }

    static TaskId partner(Pvm pvm, String... arguments) throws InterruptedException {
        return pvm.spawn(program("partner"), List.of(arguments), Place.HERE, 1).orThrow().tasks().get(0);
    }

    static Message receive(Pvm pvm, TaskId from, int tag) throws InterruptedException {
        return pvm.receive(from, tag, LONG).orElseThrow(() -> new AssertionError("no message of " + from));
    }

    private static List<String> command(Class<?> program, List<String> options, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.add("-Dpvm.engine=" + System.getProperty("pvm.engine", ""));
        command.add("-Dtest.programs=" + System.getProperty("test.programs"));
        command.addAll(options);
        Path classes = Path.of(program.getProtectionDomain().getCodeSource().getLocation().toURI());
        command.addAll(List.of("-cp", System.getProperty("test.jar") + ":" + classes, program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Begins a Java program of the test classes in a process of its own, with the engine of this one. */
    static Process begin(Class<?> program, String... arguments) throws Exception {
        return new ProcessBuilder(command(program, List.of(), arguments)).inheritIO().start();
    }

    /** A Java program of the test classes in a process of its own, with the engine of this one; what it printed. */
    static String java(Class<?> program, List<String> options, Map<String, String> environment, String... arguments)
            throws Exception {
        List<String> command = command(program, options, arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        try {
            CompletableFuture<byte[]> told = new CompletableFuture<>();
            new Thread(() -> {
                try {
                    told.complete(process.getInputStream().readAllBytes());
                } catch (IOException e) {
                    told.completeExceptionally(e);
                }
            }).start();
            String text = new String(told.get(LONG.toSeconds(), TimeUnit.SECONDS), StandardCharsets.UTF_8);
            Assertions.assertTrue(process.waitFor(LONG.toSeconds(), TimeUnit.SECONDS));
            Assertions.assertEquals(0, process.exitValue(), text);
            return text;
        } finally {
            process.destroyForcibly();
        }
    }

    /** A name that no other test has, nor the same test on the other engine. */
    static String name(String what) {
        return what + "-" + ProcessHandle.current().pid() + "-" + NAMES.incrementAndGet();
    }

    /** Waits until it is so. */
    static void until(Callable<Boolean> isSo) throws Exception {
        long end = System.nanoTime() + LONG.toNanos();
        while (!isSo.call()) {
            Assertions.assertTrue(System.nanoTime() < end, "it never was");
            Thread.sleep(10);
        }
    }

    /** A virtual thread where this Java has them, else the test is skipped. */
    static Thread virtual(Runnable work) throws ReflectiveOperationException {
        Method start = null;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            if (Runtime.version().feature() < 21) {
                start = null;
            }
        } catch (NoSuchMethodException e) {
            // an older Java
        }
        Assumptions.assumeTrue(start != null, "this Java has no virtual threads");
        return (Thread) start.invoke(null, work);
    }
}
