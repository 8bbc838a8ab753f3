// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.Code;
import org.neopvm.Pvm;
import org.neopvm.PvmException;

/**
 * What the other classes have in common: the numbers of {@code pvm3.h}, and the one connection to the machine, which is
 * made when it is first needed.
 */
public class PVMObject implements PVMConstants {
    private static Pvm machine;
    /** A call has failed as one does whose machine is gone. */
    private static boolean doubtful;

    /** Only for classes that extend it. */
    protected PVMObject() {}

    /** Something that may fail. */
    @FunctionalInterface
    interface Work<T> {
        T run(Pvm machine) throws InterruptedException;
    }

    /** Runs it as a task of the machine. A process that has left is enrolled again, as in PVM. */
    static <T> T call(Work<T> work) throws PVMException {
        try {
            return work.run(machine());
        } catch (PvmException e) {
            doubt(e.code());
            throw new PVMException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PVMException(Code.SYS_ERR, "interrupted", e);
        } catch (IndexOutOfBoundsException | IllegalStateException | NullPointerException e) {
            throw new PVMException(Code.BAD_PARAM, String.valueOf(e.getMessage()), e);
        }
    }

    private static synchronized Pvm machine() {
        if (machine == null || doubtful || !machine.isOpen()) {
            Pvm old = machine;
            machine = Pvm.connect();
            doubtful = false;
            if (old != null) {
                old.close();
            }
        }
        return machine;
    }

    /** The next call looks itself: what is known of the connection may be a little old. */
    private static synchronized void doubt(Code failure) {
        doubtful |= failure == Code.SYS_ERR;
    }

    /** Leaves the machine if this process is in it. */
    static synchronized void leaveMachine() {
        if (machine != null) {
            machine.leave();
            machine = null;
        }
    }
}
