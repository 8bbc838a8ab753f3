// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.time.Duration;
import java.util.List;

/** Gets a message that does not fit into the memory of its process, which {@link LimitsTest} starts with little. */
final class LargeChild {
    private static final String SIZE = "100000000";

    private LargeChild() {}

    public static void main(String[] arguments) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            TaskId partner = pvm.spawn(System.getProperty("test.programs") + "/partner", List.of("large", SIZE),
                    Place.HERE, 1).orThrow().tasks().get(0);
            pvm.message().to(partner, 1);
            String first = refusal(() -> pvm.receive(TaskId.ANY, Pvm.ANY_TAG));
            String second = refusal(() -> pvm.receiveAsync(partner, 3).get());
            if (first.contains(SIZE) && second.contains(SIZE) && pvm.isOpen()) {
                System.out.println("refused twice, " + SIZE + " bytes");
            }
            check(pvm.probe(partner, 3).orElseThrow().bytes() == Long.parseLong(SIZE), "it is still there");
            // What is behind it comes by its tag; and by any once the large one is gone.
            try (Message small = pvm.receive(partner, 4)) {
                check(small.getInt() == 1, "the small one");
            }
            check(pvm.discard(partner, 3), "it can be forgotten");
            pvm.message().put(2).to(pvm.self(), 5);
            try (Message own = pvm.receive(TaskId.ANY, Pvm.ANY_TAG, Duration.ofSeconds(60)).orElseThrow()) {
                check(own.getInt() == 2, "what comes then");
            }
            pvm.message().to(partner, 99);
            System.out.println("all is well");
        }
    }

    private static String refusal(java.util.concurrent.Callable<?> receive) throws Exception {
        try {
            receive.call();
            return "it came";
        } catch (PvmException e) {
            check(e.code() == Code.NO_MEM, e.toString());
            return e.getMessage();
        } catch (java.util.concurrent.ExecutionException e) {
            return e.getCause().getMessage();
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
