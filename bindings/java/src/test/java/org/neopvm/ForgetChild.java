// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.ArrayList;
import java.util.List;

/** Forgets messages, and keeps others, in a process that may hold 32 MiB of them ({@link LimitsTest}). */
final class ForgetChild {
    private static final int MIB = 1 << 20;

    private ForgetChild() {}

    public static void main(String[] arguments) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            for (int i = 0; i < 300; i++) {
                pvm.message().put(new byte[MIB]).to(pvm.self(), 1);
                // Forgotten: never closed, and nobody holds it.
                pvm.receive(pvm.self(), 1).getByte();
            }
            List<Message> kept = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                try (Draft draft = pvm.message().put(new byte[MIB / 2])) {
                    draft.send(pvm.self(), 2).send(pvm.self(), 2);
                }
                if (kept.size() < 60) {
                    kept.add(pvm.receive(pvm.self(), 2));
                }
            }
            int before = kept.size();
            try {
                for (;;) {
                    kept.add(pvm.receive(pvm.self(), 2));
                }
            } catch (PvmException e) {
                if (e.code() != Code.NO_MEM || kept.size() < before + 10) {
                    throw new AssertionError("after " + kept.size(), e);
                }
            }
            int taken = kept.size();
            kept.forEach(Message::close);
            for (; pvm.poll(pvm.self(), 2).map(ForgetChild::close).isPresent(); taken++) {
                // nothing was lost by the refusal
            }
            if (taken != 80) {
                throw new AssertionError(taken + " of 80");
            }
            System.out.println("all is well");
        }
    }

    private static boolean close(Message message) {
        message.close();
        return true;
    }
}
