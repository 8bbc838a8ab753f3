// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.List;
import java.time.Duration;

/**
 * A claimed tuple. Closing it gives the tuple back unless {@link #done} was called. A claim that is
 * over throws {@link Code#NO_TASK}.
 */
public final class Claim implements AutoCloseable {
    private final Space space;
    private final Row row;
    private final long number;
    private boolean over;

    Claim(Space space, Row row, long number) {
        this.space = space;
        this.row = row;
        this.number = number;
    }

    /** Returns the tuple. */
    public Row row() {
        return row;
    }

    /**
     * Takes the tuple for good and puts others in the same step: others see all of this or nothing.
     *
     * @param rows tuples, each an array of values ({@link Space#row}) or of one record
     */
    public void done(Object[]... rows) throws InterruptedException {
        try {
            space.done(number, List.of(rows));
            over = true;
        } catch (PvmException e) {
            // What cannot be put is refused, and the claim goes on.
            over = e.code() == Code.NO_TASK;
            throw e;
        } catch (InterruptedException e) {
            over = true;
            throw e;
        }
    }

    /** Ends the claim: the tuple is in its old place, with one try more. */
    public void giveBack() throws InterruptedException {
        over = true;
        space.giveBack(number);
    }

    /** Lets the lease begin anew; zero has no end. */
    public void renew(Duration lease) throws InterruptedException {
        space.renew(number, lease);
    }

    /** Gives the tuple back unless the claim was done. */
    @Override
    public void close() {
        if (over) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        try {
            giveBack();
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
