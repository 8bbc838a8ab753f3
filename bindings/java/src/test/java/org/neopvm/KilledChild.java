// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.List;

/** Works in a space until it is killed ({@link SpaceTest}): puts two tuples in one step, and claims jobs. */
final class KilledChild {
    private KilledChild() {}

    public static void main(String[] arguments) throws Exception {
        Pvm pvm = Pvm.connect();
        Space space = pvm.openSpace(arguments[0]);
        Thread waits = new Thread(() -> takeWhatNeverComes(space));
        waits.setDaemon(true);
        waits.start();
        while (true) {
            space.outAll(List.of(Space.row("left", 1), Space.row("right", 1)));
            Claim job = space.claim("job", int.class);
            job.done(Space.row("job", job.row().getInt(1) + 1));
        }
    }

    private static void takeWhatNeverComes(Space space) {
        try {
            space.take("never", int.class);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
