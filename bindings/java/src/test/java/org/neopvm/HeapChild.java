// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Arrays;
import java.util.Optional;

/** Holds messages until its heap is full, again and again, and counts those that came ({@link FullTest}). */
final class HeapChild {
    private HeapChild() {}

    public static void main(String[] arguments) throws Exception {
        int kilobytes = Integer.parseInt(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        try (Pvm pvm = Pvm.connect()) {
            send(pvm, kilobytes * 1000, count);
            Message[] held = new Message[count];
            int got = 0;
            int refusals = 0;
            while (got < count && pvm.isOpen() && refusals <= count) {
                try {
                    Optional<Message> message = pvm.poll(TaskId.ANY, Pvm.ANY_TAG);
                    if (message.isEmpty()) {
                        break;
                    }
                    held[got] = message.get();
                    check(held[got].tag() == got++, "in their order");
                } catch (PvmException | OutOfMemoryError e) {
                    Arrays.fill(held, null);
                    refusals++;
                }
            }
            check(got == count && refusals > 0 && pvm.isOpen(), got + " of " + count + ", " + refusals + " refusals");
            System.out.println("all is well");
        }
    }

    private static void send(Pvm pvm, int bytes, int count) {
        try (Draft draft = pvm.message().put(new byte[bytes])) {
            for (int i = 0; i < count; i++) {
                draft.send(pvm.self(), i);
            }
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
