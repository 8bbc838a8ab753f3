// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;

/** What the tests need of the machine that {@code check.sh} has started for them. */
final class Machine {
    /** Nothing here takes this long, however busy the computer is. */
    static final Duration LONG = Duration.ofSeconds(120);
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

    /** A name that no other test has, nor the same test on the other engine. */
    static String name(String what) {
        return what + "-" + ProcessHandle.current().pid() + "-" + NAMES.incrementAndGet();
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
