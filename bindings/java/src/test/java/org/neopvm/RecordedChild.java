// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/** Sends numbers to itself, and says of itself what it does ({@link RecordedTest}). */
final class RecordedChild {
    static final int ROUNDS = 5;

    private RecordedChild() {}

    public static void main(String[] arguments) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            pvm.state("asking");
            for (int i = 0; i < ROUNDS; i++) {
                pvm.message().put(i).to(pvm.self(), 1);
                try (Message message = pvm.receive(pvm.self(), 1)) {
                    if (message.getInt() != i) {
                        throw new AssertionError(i);
                    }
                }
                pvm.progress("rounds", i + 1, ROUNDS);
            }
            pvm.state(null);
            pvm.mark("done", -7);
        }
    }
}
